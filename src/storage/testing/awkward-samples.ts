/** Names and values that have broken stores in the past. */
import type { JsonObject, JsonValue } from '../../core/json.js';
import { NAME_BYTES_MAX } from '../../core/limits.js';

/** Rejected before any I/O. */
export const REFUSED_NAMES: readonly string[] = [
  '',
  '.',
  '..',
  '../x',
  '../../etc/passwd',
  '/absolute',
  'a/b',
  'a/../b',
  'a\\b',
  'C:\\x',
  '\\\\server\\share',
  'nul\u0000byte',
  'line\nfeed',
  'tab\tbed',
  'delete\u007f',
  'CON',
  'nul',
  'com1.json',
  'LPT9',
  'dot.',
  'dots..',
  'space ',
  ' space',
  'lone\ud800surrogate',
  'lone\udc00',
  'x'.repeat(NAME_BYTES_MAX + 1),
  '\u65e5'.repeat(NAME_BYTES_MAX / 9 + 1),
];

/** Accepted, and all different: even names that differ only in letter case, or in the spelling of an accented letter. */
export const AWKWARD_NAMES: readonly string[] = [
  'agent-a',
  'Agent-A',
  'AGENT-A',
  'a:b',
  'a*b?',
  'a<b>|"c',
  '~',
  '-rf',
  '--',
  '%2e%2e%2fx',
  '%',
  '%41',
  'A',
  'a',
  '.hidden',
  '..hidden',
  '.tmp',
  'a.tmp',
  '.tmp-1-0',
  'caf\u00e9',
  'cafe\u0301',
  '\u00df',
  'ss',
  '\u0130',
  'i\u0307',
  '\u65e5\u672c\u8a9e',
  '\u{1f469}\u200d\u{1f4bb}',
  '\u202eevil',
  'a b',
  "it's",
  '$(id)',
  '`id`',
  '$HOME',
  '__proto__',
  'constructor',
  'toString',
  'console',
  'working_context_snapshot.json',
  'x.lease',
  'lease',
  'x.000001.jsonl',
  '0',
  '-0',
  'null',
  'undefined',
  'y'.repeat(180),
];

export const AWKWARD_VALUES: Readonly<Record<string, JsonValue>> = {
  'an empty object': {},
  'an empty text and an empty list': { text: '', list: [] },
  'all kinds of numbers': [0, -1, 1.5, 1e-7, 1e21, 5e-324, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER],
  'null, true and false': [null, true, false],
  'characters outside the basic plane': { text: '\u{1f469}\u200d\u{1f4bb} \u{10ffff}' },
  'both spellings of an accented letter': { '\u00e9': '\u00e9', 'e\u0301': 'e\u0301' },
  'line and paragraph separators': { text: 'a\u2028b\u2029c\u0085d' },
  'control characters, NUL among them': { text: '\u0000\u0001\b\t\n\v\f\r\u001f\u007f' },
  'lone surrogates': { text: 'high \ud800 low \udc00', '\udfff': 1 },
  'a byte order mark': { text: '\ufeffx\ufeff' },
  'quotes, backslashes and braces': { text: '"\\"}{"_seq":1,"_crc":"00000000"}\\' },
  'text that looks like a line of a journal': { text: '{"n":1,"_seq":1,"_crc":"00000000"}\n{"n":2}' },
  'keys with a meaning in JavaScript': JSON.parse('{"__proto__":{"x":1},"constructor":2,"toString":3}'),
  'keys that look like numbers': { '10': 'b', '9': 'a', '-1': 'c', '': 'd' },
  'deep nesting': nested(200),
  'a text of one million characters': { text: 'long \u00e9 '.repeat(142_858) },
};

/** As records: anything but an object is wrapped in one. */
export function awkwardRecords(): [string, JsonObject][] {
  return Object.entries(AWKWARD_VALUES).map(([title, value]) => {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return [title, isObject ? value : { value }];
  });
}

function nested(depth: number): JsonValue {
  let value: JsonValue = 'core';
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { down: value };
  return value;
}
