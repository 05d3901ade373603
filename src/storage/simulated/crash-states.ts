/**
 * Every state that a power cut may leave, at every point of a log.
 *
 * At each point it combines all that folders may have kept with all that the reachable files may have kept. If there
 * are too many combinations, it takes a sample with a fixed seed: nothing kept, everything kept, each file's and
 * folder's alternatives alone, then random ones.
 */
import type { DiskEvent } from './disk-event.js';
import { DiskImage, ROOT_INODE } from './disk-image.js';
import { FileImage } from './file-image.js';
import type { FileSurvivor } from './file-survivors.js';
import { FolderImage } from './folder-image.js';
import type { FolderSurvivor } from './folder-survivors.js';
import { SeededRandom } from './seeded-random.js';
import { choicesOf } from './state-choices.js';
import { StateHash } from './state-hash.js';

/** Limits and options of `SimulatedDisk.crashStates`. */
export interface CrashOptions {
  /** Include states that only a disk that reorders between syncs can leave. Default true. */
  readonly weak?: boolean;
  /** Crash points, as counts of logged operations. Default: from 0 to the end of the log. */
  readonly fromPoint?: number;
  readonly toPoint?: number;
  /** Points to leave out, because the caller knows that they add nothing new. */
  readonly skip?: (point: number) => boolean;
  /** Combinations per point: all if there are no more, else a sample. Default 512. */
  readonly perPoint?: number;
  /** Seed of the samples. Default 1. */
  readonly seed?: number;
  /** How a path counts in `hash`, to make random parts of names count as equal. Default: unchanged. */
  readonly pathForHash?: (path: string) => string;
}

interface ReachableFile {
  readonly path: string;
  readonly inode: number;
  readonly survivors: readonly FileSurvivor[];
  readonly modifiedMs: number;
}

/** What belongs together once the surviving names are chosen. */
interface Tree {
  readonly folders: ReadonlyMap<number, FolderSurvivor>;
  readonly changed: readonly string[];
  readonly files: readonly ReachableFile[];
  readonly namesHash: number;
  readonly nextInode: number;
}

/** A disk state that a power cut may leave. Pass it to `SimulatedDisk.reboot`. */
export class CrashState {
  /** Number of logged operations that had started; the last of them may be incomplete. */
  readonly point: number;
  readonly #tree: Tree;
  readonly #choice: readonly number[];

  constructor(point: number, tree: Tree, choice: readonly number[]) {
    this.point = point;
    this.#tree = tree;
    this.#choice = choice;
  }

  /** Equal for equal names and bytes, whatever led to them. */
  hash(): number {
    const hash = new StateHash().number(this.#tree.namesHash);
    for (let i = 0; i < this.#choice.length; i++) hash.number(this.#file(i).hash);
    return hash.value();
  }

  /** The disk content after the reboot; all of it is durable. */
  toImage(): DiskImage {
    const image = new DiskImage();
    for (const [inode, folder] of this.#tree.folders)
      image.folders.set(inode, new FolderImage(folder.entries));
    for (const [index, file] of this.#tree.files.entries()) {
      image.files.set(file.inode, new FileImage(this.#file(index).bytes, file.modifiedMs));
    }
    image.nextInode = this.#tree.nextInode;
    return image;
  }

  /** Several lines for people: what survived of the unsynced changes. */
  describe(): string {
    const files = this.#tree.files.flatMap((file, index) =>
      file.survivors.length === 1 ? [] : [`${file.path}: ${this.#file(index).label}`],
    );
    return [`crash after operation ${this.point}`, ...this.#tree.changed, ...files].join('\n  ');
  }

  #file(index: number): FileSurvivor {
    return this.#tree.files[index]!.survivors[this.#choice[index]!]!;
  }
}

export function* crashStates(
  start: DiskImage,
  log: readonly DiskEvent[],
  options: CrashOptions = {},
): Generator<CrashState> {
  const { fromPoint = 0, toPoint = log.length } = options;
  const image = start.clone();
  for (let point = 0; point <= Math.min(toPoint, log.length); point++) {
    if (point > 0) image.apply(log[point - 1]!, point - 1);
    if (point >= fromPoint && !options.skip?.(point)) yield* statesAt(image, point, options);
  }
}

function* statesAt(image: DiskImage, point: number, options: CrashOptions): Generator<CrashState> {
  const { perPoint = 512, seed = 1 } = options;
  const random = new SeededRandom(seed * 1_000_003 + point);
  const trees = [...treesOf(image, options, perPoint, random)];
  const share = Math.max(8, Math.floor(perPoint / trees.length));
  for (const tree of trees) {
    const sizes = tree.files.map((file) => file.survivors.length);
    for (const choice of choicesOf(sizes, share, random)) yield new CrashState(point, tree, choice);
  }
}

function* treesOf(
  image: DiskImage,
  options: CrashOptions,
  most: number,
  random: SeededRandom,
): Generator<Tree> {
  const { weak = true } = options;
  const axes = [...image.folders].map(([inode, folder]) => ({ inode, survivors: folder.survivors(weak) }));
  const sizes = axes.map((axis) => axis.survivors.length);
  for (const choice of choicesOf(sizes, most, random)) {
    const chosen = new Map(axes.map((axis, index) => [axis.inode, axis.survivors[choice[index]!]!] as const));
    if (isLegal(image, chosen)) yield treeOf(image, chosen, options);
  }
}

/** The source half of a rename between folders cannot have happened if its target half is lost. */
function isLegal(image: DiskImage, chosen: ReadonlyMap<number, FolderSurvivor>): boolean {
  for (const survivor of chosen.values()) {
    for (const need of survivor.needs) {
      const open = image.folders
        .get(need.folder)!
        .ops.some((op) => op.id === need.id && op.status !== 'settled');
      if (open && !chosen.get(need.folder)!.kept.includes(need.id)) return false;
    }
  }
  return true;
}

function treeOf(image: DiskImage, chosen: ReadonlyMap<number, FolderSurvivor>, options: CrashOptions): Tree {
  const { weak = true, pathForHash = (path) => path } = options;
  const folders = new Map<number, FolderSurvivor>();
  const changed: string[] = [];
  const files = new Map<number, ReachableFile>();
  const names = new StateHash();
  const visit = (inode: number, path: string): void => {
    const folder = chosen.get(inode)!;
    folders.set(inode, folder);
    if (image.folders.get(inode)!.ops.length > 0)
      changed.push(`${path === '' ? '/' : path}: ${folder.label}`);
    const children = [...folder.entries].map(([name, child]) => {
      const childPath = `${path}/${name}`;
      return { path: childPath, sortKey: pathForHash(childPath), inode: child };
    });
    for (const child of children.sort(inStableOrder)) {
      names.text(child.sortKey);
      if (chosen.has(child.inode)) visit(child.inode, child.path);
      else addFile(image, files, child.inode, child.path, weak);
    }
  };
  visit(ROOT_INODE, '');
  return {
    folders,
    changed,
    files: [...files.values()],
    namesHash: names.value(),
    nextInode: image.nextInode,
  };
}

function addFile(
  image: DiskImage,
  files: Map<number, ReachableFile>,
  inode: number,
  path: string,
  weak: boolean,
): void {
  if (files.has(inode)) return;
  const file = image.files.get(inode)!;
  files.set(inode, { path, inode, survivors: file.survivors(weak), modifiedMs: file.modifiedMs });
}

/** Sorted by name. If random names count as equal, in the order of their creation. */
function inStableOrder(
  a: { readonly sortKey: string; readonly inode: number },
  b: { readonly sortKey: string; readonly inode: number },
): number {
  if (a.sortKey !== b.sortKey) return a.sortKey < b.sortKey ? -1 : 1;
  return a.inode - b.inode;
}
