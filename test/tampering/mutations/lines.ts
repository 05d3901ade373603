/** Lines of a journal that are moved about, by somebody who may know how to number and to checksum them. */
import { encodeHeader, LOST_MARK } from '../../../src/storage/file/journal-line.js';
import type { SeededRandom } from '../../../src/storage/simulated/seeded-random.js';
import { type Line, linesOf, lineWith, withLines } from '../journal-files.js';
import type { StoredSession } from '../stores.js';
import { isPack, type Mutation } from './mutation.js';

/** Changes the list of lines, and tells what it did; nothing for a change that is none. */
type Change = (lines: Line[], random: SeededRandom) => string;

const SWAP: Change = (lines, random) => {
  const [a, b] = [random.below(lines.length), random.below(lines.length)];
  if (a === b) return '';
  const { file } = lines[a]!;
  const kept = lines[a]!;
  lines[a] = { ...lines[b]!, file };
  lines[b] = { ...kept, file: lines[b]!.file };
  return `lines ${a} and ${b}`;
};
const DUPLICATE: Change = (lines, random) => {
  const [from, to] = [random.below(lines.length), random.below(lines.length)];
  lines.splice(to, 0, { ...lines[from]!, file: lines[to]!.file });
  return `line ${from} before line ${to}`;
};
const REMOVE: Change = (lines, random) => {
  const at = random.below(lines.length);
  const count = 1 + random.below(Math.min(3, lines.length - at));
  lines.splice(at, count);
  return `${count} from line ${at}`;
};

export const LINES: readonly Mutation[] = [
  ...variants('lines swapped', SWAP),
  ...variants('line duplicated', DUPLICATE),
  ...variants('lines removed', REMOVE),
  lines('lines removed, and said to be lost', true, (list, random) => {
    const before = list.flatMap(({ seq }) => seq ?? []);
    const what = REMOVE(list, random);
    const left = list.flatMap(({ seq }) => seq ?? []);
    const lost = before.filter((seq) => !left.includes(seq));
    const last = list.at(-1);
    if (lost.length === 0 || !last) return '';
    const ranges = [[lost[0]!, lost.at(-1)!]];
    const record = { type: 'lost', at: '2024-01-01T00:00:00.000Z', ranges, stored: 0 };
    list.push(lineWith(last.file, record, (left.at(-1) ?? 0) + 1));
    return what;
  }),
  lines('line replaced by the mark of a loss', true, (list, random) => {
    const at = random.below(list.length);
    list[at] = { ...list[at]!, text: LOST_MARK, record: null, seq: null };
    return `line ${at}`;
  }),
  lines('beginning hidden behind a header', true, (list, random) => {
    const at = random.below(list.length);
    const prevSeq = (list[at]?.seq ?? 1) - 1;
    const prevLength = random.below(2_000);
    const header = encodeHeader({ segment: 1 + random.below(3), prevLength, prevSeq, fence: 1 });
    const { file } = list[at]!;
    list.splice(0, at, { file, text: header.toString('latin1').trimEnd(), record: null, seq: null });
    return `all before line ${at}, prevLength ${prevLength}`;
  }),
  lines('header says less of the file before', true, (list, random) => {
    const headers = list.flatMap(({ text }, index) => (text.startsWith('{"_segment"') ? [index] : []));
    if (headers.length === 0) return '';
    const at = random.pick(headers);
    const said = JSON.parse(list[at]!.text) as Record<string, number>;
    const prevLength = random.below(said['_prev_length']!);
    const prevSeq = said['_prev_seq']! - random.below(2) * random.below(said['_prev_seq']! + 1);
    const { _segment: segment = 1, _fence: fence = 1 } = said;
    const text = encodeHeader({ segment, prevLength, prevSeq, fence }).toString('latin1').trimEnd();
    list[at] = { ...list[at]!, text };
    return `line ${at}: ${text}`;
  }),
  {
    kind: 'line of another session in place',
    crafted: true,
    apply: (session, others, random) => inPlace(session, random.pick(others), random),
  },
];

/** As they are; and with numbers and checksums that fit again. */
function variants(kind: string, change: Change): Mutation[] {
  return [
    lines(kind, true, change),
    lines(`${kind}, renumbered`, true, (list, random) => {
      const what = change(list, random);
      renumber(list);
      return what;
    }),
  ];
}

function lines(kind: string, crafted: boolean, change: Change): Mutation {
  return {
    kind,
    crafted,
    apply({ files }, _, random) {
      const list = linesOf(files);
      const what = change(list, random);
      return what === '' ? null : { files: withLines(files, list), what };
    },
  };
}

function renumber(list: Line[]): void {
  let seq = 0;
  for (const [index, { file, record }] of list.entries())
    if (record) list[index] = lineWith(file, record, (seq += 1));
}

/** A record of another session stands for one of this one, and the data that it names is there. */
function inPlace(session: StoredSession, other: StoredSession, random: SeededRandom) {
  const list = linesOf(session.files);
  const theirs = linesOf(other.files).filter(({ record }) => record !== null);
  const at = random.below(list.length);
  const { file, seq } = list[at]!;
  const chosen = random.below(theirs.length);
  const { record } = theirs[chosen]!;
  if (!record || seq === null || file === undefined) return null;
  list[at] = lineWith(file, record, seq);
  const packs = [...other.files].filter(([name]) => isPack(name));
  const files = new Map([...withLines(session.files, list), ...packs]);
  return { files, what: `record ${chosen + 1} of ${other.id} as record ${seq}` };
}
