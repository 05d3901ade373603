import { classify } from '../../../src/checkpoints/classify/classify.js';
import {
  type ClassificationRules,
  checkRules,
  compileRules,
} from '../../../src/checkpoints/classify/rules.js';
import { excerpt, safeText } from '../../../src/cli/safe-text.js';
import { typedValue, wholeNumber } from '../../../src/cli/value-text.js';
import { canonicalJson } from '../../../src/core/canonical-json.js';
import { isJsonObject, type JsonValue, tryParseJson } from '../../../src/core/json.js';
import { tryParseJsonKeepingDigits } from '../../../src/core/json-digits.js';
import { parseJsonText } from '../../../src/core/json-source.js';
import { mergePatch } from '../../../src/core/merge-patch.js';
import { parseClientMessage } from '../../../src/server/websocket/client-message.js';
import { expectThat, type FuzzTarget } from '../fuzz-target.js';

const OBJECTS = [
  '{"a":1,"b":{"c":[1,2],"d":null},"e":"text"}',
  '{"__proto__":{"x":1},"a":{"b":{"c":{}}}}',
  '[1,"two",{"three":3.5}]',
  '{"n":9007199254740993,"m":-0.0,"k":1e400}',
];

export const jsonTexts: FuzzTarget = {
  name: 'json-texts',
  weight: 4,
  seeds: OBJECTS,
  words: [
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    '"',
    '-',
    '1e',
    '.5',
    'null',
    'true',
    '\\u',
    '\\ud800',
    '/*',
    '//',
    '9007199254740993',
  ],
  async take(input, random) {
    const value = tryParseJson(input);
    const digits = tryParseJsonKeepingDigits(input);
    expectThat(
      (digits === undefined) === (value === undefined),
      'two readers of JSON do not agree on what is JSON',
    );
    if (random.below(4) === 0) {
      const read = await parseJsonText(input);
      // A byte order mark and a key that is there twice make the difference.
      if (read.problem === null && !input.startsWith('\ufeff'))
        expectThat(value !== undefined, 'what is no JSON was read');
    }
    return value !== undefined;
  },
};

/** RFC 7396, said once more in another way. */
function oracle(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isJsonObject(patch)) return patch;
  const entries = new Map<string, JsonValue>(isJsonObject(target) ? Object.entries(target) : []);
  for (const [key, change] of Object.entries(patch)) {
    if (change === null) entries.delete(key);
    else entries.set(key, oracle(entries.get(key), change));
  }
  return Object.fromEntries(entries);
}

export const mergePatches: FuzzTarget = {
  name: 'merge-patches',
  weight: 20,
  seeds: OBJECTS.flatMap((a) => OBJECTS.map((b) => `[${a},${b}]`)),
  words: ['null', '"__proto__"', '"constructor"', '{}', '"a"', '"b"', '"prototype"'],
  take(input) {
    const pair = tryParseJson(input);
    if (!Array.isArray(pair) || pair.length < 2) return false;
    const before = canonicalJson(pair);
    const merged = mergePatch(pair[0], pair[1]!);
    expectThat(
      canonicalJson(merged) === canonicalJson(oracle(pair[0], pair[1]!)),
      'the merge is not what RFC 7396 says',
    );
    expectThat(canonicalJson(pair) === before, 'the merge changed what it was given');
    return true;
  },
};

export const frames: FuzzTarget = {
  name: 'frames',
  weight: 16,
  seeds: [
    '{"type":"authenticate","token":"abc"}',
    '{"type":"subscribe","to":"state","session":"root","since":3}',
    '{"type":"subscribe","to":"sessions"}',
    '{"type":"unsubscribe","session":"root"}',
  ],
  words: [
    '"type"',
    '"subscribe"',
    '"to"',
    '"state"',
    '"since"',
    '-1',
    '1e99',
    '"session"',
    '"agents"',
    '"token"',
  ],
  take(input) {
    const message = parseClientMessage(input);
    if (!message) return false;
    expectThat(
      ['authenticate', 'subscribe', 'unsubscribe'].includes(message.type),
      'a message of no kind was taken',
    );
    return true;
  },
};

const DANGEROUS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

/** What people and scripts write behind a command. */
export const commandArguments: FuzzTarget = {
  name: 'arguments',
  weight: 4,
  seeds: ['12', 'word', '{"a":[1]}', '"text"', '\u001b[31mred', '3.5', '-1', '0x10', '1e3'],
  words: ['\u001b]0;x\u0007', '\u202e', '\u0090', '9', '-', '.', '"', ' '],
  take(input) {
    expectThat(!DANGEROUS.test(safeText(input)), 'a terminal would obey it');
    expectThat(
      !DANGEROUS.test(excerpt(input, 40)) && excerpt(input, 40).length <= 250,
      'an excerpt is not one short line',
    );
    JSON.stringify(typedValue(input));
    expectThat(Number.isSafeInteger(wholeNumber(input, 'count')), 'a number that is none');
    return true;
  },
};

const CONTEXT = {
  userGoal: `${'a'.repeat(3_000)}!`,
  log: 'x '.repeat(1_000),
  plan: ['a', { b: 'the user asked' }],
  error: null,
};

export const rules: FuzzTarget = {
  name: 'rules',
  weight: 1,
  seeds: [
    '{"patterns":{"CRITICAL":[{"type":"key_regex","pattern":"goal|plan","priority":10}],"USEFUL":[{"type":"content_heuristic","pattern":"(a+)+$","priority":3}]},"budgets":{"CRITICAL":30}}',
    '{"patterns":{"EPHEMERAL":[{"type":"content_heuristic","pattern":"(?i)(?:x|x )*y","priority":1},{"type":"key_regex","pattern":"^[a-z_]{2,9}$","priority":1}]}}',
  ],
  words: [
    '(',
    ')',
    '*',
    '+',
    '?',
    '{2,1000}',
    '[',
    ']',
    '^',
    '$',
    '\\\\b',
    '(?:',
    '(?i)',
    '|',
    '.',
    '(a*)*',
    '(a|a)+',
    '\\\\p{L}',
    '(?=',
    '\\\\1',
    '"pattern"',
    '"priority"',
    '"key_regex"',
  ],
  async take(input) {
    const value = tryParseJson(input);
    if (value === undefined || !checkRules()(value)) return false;
    const compiled = await compileRules(value as unknown as ClassificationRules);
    expectThat(classify(CONTEXT, compiled).length === Object.keys(CONTEXT).length, 'a key has no layer');
    return true;
  },
};
