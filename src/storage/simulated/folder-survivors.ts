/**
 * The sets of names that a power cut may leave of one folder. Ordered: any prefix of the unsynced name operations.
 * Weak: any subset of them, in two ways. As operations that depend on each other: a rename needs its source, a create
 * needs a free name. And as independent writes: a create takes a name although the rename that freed it is lost.
 */
import { applyNameOp, type NameOp } from './name-op.js';
import { SeededRandom } from './seeded-random.js';

/** The relevant part of a folder's image. */
export interface UnsyncedFolder {
  readonly base: ReadonlyMap<string, number>;
  readonly ops: readonly NameOp[];
}

export interface FolderSurvivor {
  readonly entries: ReadonlyMap<string, number>;
  /** Ids of the unsynced operations that survived. */
  readonly kept: readonly number[];
  /** Target halves, in other folders, that must have survived too. */
  readonly needs: readonly { readonly folder: number; readonly id: number }[];
  readonly label: string;
}

/** Up to this many operations all subsets are tried; beyond it, a sample. */
const EXHAUSTIVE_OPS_MAX = 6;
const SAMPLE = 24;

export function folderSurvivors(image: UnsyncedFolder, weak: boolean): readonly FolderSurvivor[] {
  const optional = image.ops.filter((op) => op.status !== 'settled');
  /** The first keeps nothing and the last everything, even if both give the same names. */
  const found = new Map<string, FolderSurvivor>();
  const add = (kept: ReadonlySet<NameOp>, alone = false): void => {
    const survivor = survivorOf(image, optional, kept, alone);
    const key = keyOf(survivor);
    if (!found.has(key)) found.set(key, survivor);
  };
  for (let kept = 0; kept < optional.length; kept++) add(new Set(optional.slice(0, kept)));
  if (weak)
    for (const subset of subsets(optional)) {
      add(subset);
      add(subset, true);
    }
  const all = survivorOf(image, optional, new Set(optional));
  const list = [...found.values()];
  if (list.length === 0 || keyOf(list.at(-1)!) !== keyOf(all)) list.push(all);
  return list;
}

function survivorOf(
  image: UnsyncedFolder,
  optional: readonly NameOp[],
  kept: ReadonlySet<NameOp>,
  alone = false,
): FolderSurvivor {
  const entries = new Map(image.base);
  const done: NameOp[] = [];
  for (const op of image.ops) {
    if (op.status !== 'settled' && !kept.has(op)) continue;
    if (applyNameOp(entries, op, alone) && op.status !== 'settled') done.push(op);
  }
  const lost = optional.filter((op) => !done.includes(op));
  return {
    entries,
    kept: done.map((op) => op.id),
    needs: done.flatMap((op) =>
      op.change.kind === 'remove' && op.change.placedIn !== undefined
        ? [{ folder: op.change.placedIn, id: op.id }]
        : [],
    ),
    label: describe(done, lost),
  };
}

function describe(done: readonly NameOp[], lost: readonly NameOp[]): string {
  if (done.length + lost.length === 0) return 'unchanged';
  const list = (ops: readonly NameOp[]) =>
    ops.length === 0 ? 'nothing' : ops.map((op) => op.label).join(', ');
  return `kept ${list(done)}; lost ${list(lost)}`;
}

function keyOf(survivor: FolderSurvivor): string {
  const names = [...survivor.entries].map(([name, inode]) => `${name}:${inode}`).sort();
  return `${names.join('/')}|${survivor.needs.map((need) => need.id).join(',')}`;
}

function* subsets(ops: readonly NameOp[]): Generator<ReadonlySet<NameOp>> {
  if (ops.length <= EXHAUSTIVE_OPS_MAX) {
    for (let mask = 1; mask < 2 ** ops.length - 1; mask++)
      yield new Set(ops.filter((_, bit) => (mask >> bit) & 1));
    return;
  }
  for (const one of ops) {
    yield new Set([one]);
    yield new Set(ops.filter((op) => op !== one));
  }
  const random = new SeededRandom(ops.length * 7919 + ops[0]!.id);
  for (let i = 0; i < SAMPLE; i++) yield new Set(ops.filter(() => random.below(2) === 1));
}
