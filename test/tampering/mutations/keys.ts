/** `keys.json` that says something else; and a plain session in the place of one that is encrypted. */
import type { JsonValue } from '../../../src/core/json.js';
import type { SeededRandom } from '../../../src/storage/simulated/seeded-random.js';
import { linesOf, withLines } from '../journal-files.js';
import type { SessionFiles, StoredSession } from '../stores.js';
import { isPack, type Mutation, replaced } from './mutation.js';

const KEYS = 'keys.json';

type Key = { readonly [name: string]: JsonValue };

/** Changes the list of keys, and tells what it did. */
type Change = (keys: Key[], random: SeededRandom) => string;

const EDITS: readonly Change[] = [
  (keys, random) => given(keys, random, 'from', random.pick([1, 2, 3, 1_000])),
  (keys, random) => given(keys, random, 'id', 'ffffffffffffffff'),
  (keys, random) => given(keys, random, 'wrapped', Buffer.alloc(60, random.below(256)).toString('base64')),
  (keys, random) => {
    const at = random.below(keys.length);
    keys.splice(at, 1);
    return `key ${at} is gone`;
  },
  (keys) => {
    keys.reverse();
    return keys.length > 1 ? 'the other way round' : '';
  },
];

export const KEY_CHANGES: readonly Mutation[] = [
  {
    kind: 'keys.json edited',
    crafted: true,
    apply({ files }, _, random) {
      const keys = keysOf(files);
      const what = keys && random.pick(EDITS)(keys, random);
      return keys && what ? { files: withKeys(files, keys), what } : null;
    },
  },
  impostor('plain records in place of sealed ones', (files) => files),
  impostor('plain records in place of sealed ones, and keys.json permits them', (files) => {
    const keys = keysOf(files)!.map((key) => ({ ...key, from: 1_000 }));
    return withKeys(files, keys);
  }),
];

/** From a record on that is sealed, those of another session are there, with all their data. */
function impostor(kind: string, change: (files: SessionFiles) => SessionFiles): Mutation {
  return {
    kind,
    crafted: true,
    valid: true,
    apply(session: StoredSession, _, random) {
      const { files, impostor: theirs } = session;
      if (!theirs) return null;
      const from = Number(keysOf(files)![0]!['from']);
      const mine = linesOf(files);
      const at = from + random.below(mine.length - from + 1);
      const lines = [
        ...mine.filter(({ seq }) => (seq ?? 0) < at),
        ...linesOf(theirs).filter(({ seq }) => (seq ?? 0) >= at),
      ];
      const packs = [...theirs].filter(([name]) => isPack(name));
      return { files: change(new Map([...withLines(files, lines), ...packs])), what: `from record ${at} on` };
    },
  };
}

function given(keys: Key[], random: SeededRandom, name: string, value: JsonValue): string {
  const at = random.below(keys.length);
  if (keys[at]![name] === value) return '';
  keys[at] = { ...keys[at]!, [name]: value };
  return `${name} of key ${at} is ${JSON.stringify(value)}`;
}

/** Null where there is none. */
function keysOf(files: SessionFiles): Key[] | null {
  const bytes = files.get(KEYS);
  return bytes ? (JSON.parse(bytes.toString('utf8')) as { keys: Key[] }).keys : null;
}

function withKeys(files: SessionFiles, keys: readonly Key[]): Map<string, Buffer> {
  return replaced(files, KEYS, Buffer.from(`${JSON.stringify({ format: 1, keys })}\n`));
}
