/** Records that say something else, with a checksum that fits; and data that is made to fit them. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/core/json.js';
import type { SeededRandom } from '../../../src/storage/simulated/seeded-random.js';
import { type Line, linesOf, lineWith, withLines } from '../journal-files.js';
import type { StoredSession } from '../stores.js';
import { isPack, labelOf, type Mutation, pickOf } from './mutation.js';

type Edit = (record: JsonObject, random: SeededRandom, all: readonly Line[]) => JsonObject | null;

export const FIELDS: readonly Mutation[] = [
  edit('field changed', (record, random) => changedAt(record, pickField(record, random), random)),
  edit('field removed', (record, random) => {
    const name = random.pick(Object.keys(record));
    const { [name]: _, ...rest } = record;
    return rest;
  }),
  edit('field added', (record, random) => ({ ...record, ...random.pick(ADDED) })),
  edit('field changed, under a key that nobody has', (record, random) => ({
    ...changedAt(record, pickField(record, random), random),
    key: 'ffffffffffffffff',
    mac: record['mac'] ?? 'forged',
  })),
  edit('code and key taken away', ({ key: _, mac: __, ...rest }) => rest),
  edit('field of another record', (record, random, all) => {
    const other = random.pick(all).record ?? {};
    const name = random.pick(Object.keys(record));
    return other[name] === undefined ? null : { ...record, [name]: other[name] };
  }),
  edit('number that is far too large', (record, random) => {
    const field = pickField(record, random);
    return typeof valueAt(record, field) === 'number' ? withValue(record, field, random.pick(HUGE)) : null;
  }),
  exchange('numbers exchanged', ['number']),
  exchange('contents exchanged', ['context', 'pack', 'uses']),
  {
    kind: 'record that is put first',
    crafted: true,
    apply(session, _, random) {
      const all = linesOf(session.files);
      const { file, record } = all[0]!;
      const forged = random.pick([
        { type: 'mark', at: '2024-01-01T00:00:00.000Z', contextKey: 'forged', stored: 0 },
        { type: 'remove', at: '2024-01-01T00:00:00.000Z', numbers: [1], why: 'deleted', stored: 0 },
      ]);
      if (!record) return null;
      return {
        files: withLines(session.files, [lineWith(file, forged, 1), ...all.slice(1)]),
        what: `a ${forged.type} in place of the first record`,
      };
    },
  },
  {
    kind: 'data changed, its name and record made to fit',
    crafted: true,
    apply: refit,
  },
];

const ADDED: readonly JsonObject[] = [
  { name: 'forged' },
  { critical: true },
  { tags: ['forged'] },
  { removes: [1, 2] },
  { kind: 'agent' },
  { layers: { forged: { keys: 1, bytes: 1 } } },
  { key: 'ffffffffffffffff' },
];
const HUGE: readonly number[] = [1e6, 2 ** 31, 2 ** 32, 2 ** 40, Number.MAX_SAFE_INTEGER];

/** A record is edited, and its line checksummed anew. */
function edit(kind: string, change: Edit): Mutation {
  return {
    kind,
    crafted: true,
    apply({ files }, _, random) {
      const all = linesOf(files);
      const placed = all.flatMap(({ record }, index) => (record ? [index] : []));
      const at = random.pick(placed);
      const { file, record, seq } = all[at]!;
      const edited =
        record &&
        change(
          record,
          random,
          placed.map((index) => all[index]!),
        );
      if (!edited || seq === null || difference(record, edited) === '') return null;
      const lines = all.with(at, lineWith(file, edited, seq));
      return { files: withLines(files, lines), what: `record ${seq}: ${difference(record, edited)}` };
    },
  };
}

/** Two checkpoints say some of what the other said. */
function exchange(kind: string, names: readonly string[]): Mutation {
  return {
    kind,
    crafted: true,
    apply({ files }, _, random) {
      const all = linesOf(files);
      const saves = all.flatMap(({ record }, index) => (record?.['type'] === 'save' ? [index] : []));
      const [a, b] = [pickOf(random, saves), pickOf(random, saves)];
      if (a === null || b === null || a === b) return null;
      const given = (at: number, from: number) => {
        const { file, record, seq } = all[at]!;
        const theirs = names.map((name) => [name, all[from]!.record![name]!] as const);
        return lineWith(file, { ...record, ...Object.fromEntries(theirs) }, seq!);
      };
      const lines = all.with(a, given(a, b)).with(b, given(b, a));
      return { files: withLines(files, lines), what: `${all[a]!.seq} and ${all[b]!.seq}` };
    },
  };
}

function difference(before: JsonObject, after: JsonObject): string {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return changed.map((name) => `${name} is ${JSON.stringify(after[name])?.slice(0, 60)}`).join(', ');
}

/** A field, at most one level down. Ranges of numbers are left alone: see `forged-records.long.test.ts`. */
function pickField(record: JsonObject, random: SeededRandom): string[] {
  const name = random.pick(Object.keys(record).filter((key) => key !== 'uses'));
  const value = record[name];
  return isJsonObject(value) ? [name, random.pick(Object.keys(value))] : [name];
}

function valueAt(record: JsonObject, [name, inner]: readonly string[]): JsonValue | undefined {
  const value = record[name!];
  return inner !== undefined && isJsonObject(value) ? value[inner] : value;
}

function withValue(record: JsonObject, field: readonly string[], value: JsonValue): JsonObject {
  const [name, inner] = field as [string, string?];
  if (inner === undefined) return { ...record, [name]: value };
  return { ...record, [name]: { ...(record[name] as JsonObject), [inner]: value } };
}

function changedAt(record: JsonObject, field: readonly string[], random: SeededRandom): JsonObject {
  return withValue(record, field, changed(valueAt(record, field) ?? null, random));
}

function changed(value: JsonValue, random: SeededRandom): JsonValue {
  if (typeof value === 'number') return Math.max(0, value + 1 + random.below(3) - 4 * random.below(2));
  if (typeof value === 'boolean') return !value;
  if (typeof value !== 'string') return random.pick<JsonValue>([null, 'forged', [], [1], {}, ['forged']]);
  if (value === '' || random.below(4) === 0) return 'forged';
  const at = random.below(value.length);
  return `${value.slice(0, at)}${value[at] === '0' ? '1' : '0'}${value.slice(at + 1)}`;
}

/** A byte of the data is another one; the file has the name that its bytes ask for, and the record names it. */
function refit(session: StoredSession, _: readonly StoredSession[], random: SeededRandom) {
  const { files } = session;
  const name = pickOf(random, [...files.keys()].filter(isPack))!;
  const bytes = Buffer.from(files.get(name)!);
  const at = random.below(bytes.length);
  bytes[at]! ^= 1 << random.below(8);
  const before = path.basename(name);
  const digest = createHash('sha256').update(bytes).digest('hex');
  const all = linesOf(files).map((line) => {
    const { record, file, seq } = line;
    const pack = record?.['pack'];
    if (!record || seq === null || !isJsonObject(pack) || pack['digest'] !== before) return line;
    return lineWith(file, { ...record, pack: { ...pack, digest } }, seq);
  });
  const changedFiles = withLines(files, all);
  changedFiles.delete(name);
  changedFiles.set(path.join('packs', digest.slice(0, 2), digest), bytes);
  return { files: changedFiles, what: `${labelOf(files, name)}, byte ${at}` };
}
