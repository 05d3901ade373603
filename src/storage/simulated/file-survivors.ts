/**
 * The contents that a power cut may leave of one file.
 *
 * Ordered: any prefix of the unsynced operations; the next operation torn at some byte; the size grown with zeros if
 * the data was lost. Weak (pages are written in any order): also any single operation lost with all others present, and
 * the head of a write lost with its tail present, cut at a sector.
 */
import { applyChange, type Change, type DataOp } from './data-op.js';
import { StateHash } from './state-hash.js';

/** The relevant part of a file's image. */
export interface UnsyncedFile {
  readonly base: Uint8Array;
  readonly ops: readonly DataOp[];
}

export interface FileSurvivor {
  readonly bytes: Uint8Array;
  readonly hash: number;
  /** For people: what survived of the unsynced operations. */
  readonly label: string;
}

const SECTOR_BYTES = 512;
const SECTOR_CUTS_MAX = 6;

export function fileSurvivors(image: UnsyncedFile, weak: boolean): readonly FileSurvivor[] {
  const optional = image.ops.filter((op) => op.status !== 'settled');
  const found = new Survivors();
  const end = { kind: 'grow', size: content(image, keepAll).length } as const;
  for (const [kept, next] of optional.entries()) {
    const label = `first ${kept} of ${optional.length} kept`;
    const earlier = new Set(optional.slice(0, kept));
    const prefix = (op: DataOp): readonly Change[] => (earlier.has(op) ? [op.change] : []);
    found.add(content(image, prefix), label);
    for (const torn of tornForms(next)) {
      found.add(
        content(image, (op) => (op === next ? torn.changes : prefix(op))),
        `${label}, the next ${torn.label}`,
      );
    }
    const last = optional.at(-1);
    found.add(
      content(image, (op) => (op === last ? [...prefix(op), end] : prefix(op))),
      `${label}, zeros to ${end.size}`,
    );
  }
  if (weak) addReordered(found, image, optional);
  const all = optional.length === 0 ? 'unchanged' : `all ${optional.length} operations kept`;
  return found.listEndingWith(content(image, keepAll), all);
}

class Survivors {
  readonly #byHash = new Map<number, FileSurvivor>();

  add(bytes: Uint8Array, label: string): void {
    const hash = new StateHash().bytes(bytes).value();
    if (!this.#byHash.has(hash)) this.#byHash.set(hash, { bytes, hash, label });
  }

  /** Ends with `last` even if it is a duplicate: the operations may have changed nothing. */
  listEndingWith(last: Uint8Array, label: string): readonly FileSurvivor[] {
    this.add(last, label);
    const list = [...this.#byHash.values()];
    const hash = new StateHash().bytes(last).value();
    if (list.at(-1)!.hash !== hash) list.push({ bytes: last, hash, label });
    return list;
  }
}

/** The bytes if each unsynced operation left what `left` says; durable changes stay in place. */
function content(image: UnsyncedFile, left: (op: DataOp) => readonly Change[]): Uint8Array {
  let bytes = image.base;
  for (const op of image.ops) {
    for (const change of op.status === 'settled' ? [op.change] : left(op)) bytes = applyChange(bytes, change);
  }
  return bytes;
}

function keepAll(op: DataOp): readonly Change[] {
  return [op.change];
}

interface TornForm {
  readonly changes: readonly Change[];
  readonly label: string;
}

function tornForms(op: DataOp): readonly TornForm[] {
  if (op.change.kind !== 'write') return [];
  const { offset, bytes } = op.change;
  const grow = { kind: 'grow', size: offset + bytes.length } as const;
  return tearCuts(offset, bytes.length).flatMap((cut) => {
    const head: readonly Change[] =
      cut === 0 ? [] : [{ kind: 'write', offset, bytes: bytes.subarray(0, cut) }];
    const label = `torn at byte ${cut} of ${bytes.length}`;
    return [
      { changes: head, label },
      { changes: [...head, grow], label: `${label}, zeros after it` },
    ];
  });
}

/** 0, 1, half, n-1, and the sector boundaries of the file inside the write. */
function tearCuts(offset: number, length: number): number[] {
  const cuts = new Set([0, 1, length >> 1, length - 1]);
  for (const boundary of sectorCuts(offset, length)) cuts.add(boundary);
  return [...cuts].filter((cut) => cut >= 0 && cut < length).sort((a, b) => a - b);
}

function sectorCuts(offset: number, length: number): number[] {
  const all: number[] = [];
  for (let at = SECTOR_BYTES - (offset % SECTOR_BYTES); at < length; at += SECTOR_BYTES) all.push(at);
  const step = Math.max(1, Math.ceil(all.length / SECTOR_CUTS_MAX));
  return all.filter((_, index) => index % step === 0);
}

function addReordered(found: Survivors, image: UnsyncedFile, optional: readonly DataOp[]): void {
  for (const [index, lost] of optional.entries()) {
    const without = (op: DataOp): readonly Change[] => (op === lost ? [] : [op.change]);
    const label = `operation ${index + 1} of ${optional.length} lost, the others kept`;
    if (optional.length > 1) found.add(content(image, without), label);
    const early = new Set(optional.slice(0, index + 2));
    const upToNext = (op: DataOp): readonly Change[] => (early.has(op) ? without(op) : []);
    if (index + 2 < optional.length) found.add(content(image, upToNext), `${label} up to ${index + 2}`);
    addHeadLost(found, image, lost);
  }
}

/** The pages of one write reach the disk in any order: its end may be there without its start. */
function addHeadLost(found: Survivors, image: UnsyncedFile, torn: DataOp): void {
  if (torn.change.kind !== 'write') return;
  const { offset, bytes } = torn.change;
  for (const cut of sectorCuts(offset, bytes.length)) {
    const end = [{ kind: 'write', offset: offset + cut, bytes: bytes.subarray(cut) }] as const;
    found.add(
      content(image, (op) => (op === torn ? end : [op.change])),
      `first ${cut} bytes of a write of ${bytes.length} lost, its end kept`,
    );
  }
}
