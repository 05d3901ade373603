/**
 * One file as a crash sees it: the bytes that are certainly on the disk, and the ordered operations after them that may
 * or may not have reached it.
 */
import { applyChange, type Change, type DataOp } from './data-op.js';
import type { SyncEvent, TruncateEvent, WriteEvent } from './disk-event.js';
import { type FileSurvivor, fileSurvivors } from './file-survivors.js';

export class FileImage {
  base: Uint8Array;
  ops: DataOp[] = [];
  modifiedMs: number;
  #survivors: { readonly weak: boolean; readonly list: readonly FileSurvivor[] } | undefined;

  constructor(base: Uint8Array, modifiedMs: number) {
    this.base = base;
    this.modifiedMs = modifiedMs;
  }

  record(event: WriteEvent | TruncateEvent, id: number): void {
    const change: Change =
      event.kind === 'write'
        ? { kind: 'write', offset: event.offset, bytes: event.bytes }
        : { kind: 'truncate', size: event.size };
    this.ops.push({ id, change, status: 'pending' });
    this.modifiedMs = event.atMs;
    this.#survivors = undefined;
  }

  sync(event: SyncEvent): void {
    for (const op of this.ops) {
      if (op.status !== 'pending' || op.id >= event.before || event.except.includes(op.id)) continue;
      op.status = event.failed ? 'dropped' : 'settled';
    }
    while (this.ops[0]?.status === 'settled') this.base = applyChange(this.base, this.ops.shift()!.change);
    this.#survivors = undefined;
  }

  /** What a running process reads: everything, synced or not. */
  visible(): Uint8Array {
    return this.ops.reduce((bytes, op) => applyChange(bytes, op.change), this.base);
  }

  /** What is certainly on the disk. */
  durable(): Uint8Array {
    const settled = this.ops.filter((op) => op.status === 'settled');
    return settled.reduce((bytes, op) => applyChange(bytes, op.change), this.base);
  }

  /** Every content that a power cut may leave; the smallest first, the complete one last. */
  survivors(weak: boolean): readonly FileSurvivor[] {
    if (this.#survivors?.weak !== weak) this.#survivors = { weak, list: fileSurvivors(this, weak) };
    return this.#survivors.list;
  }

  /** A copy whose operation ids are lower by `shift`, so that a new log can count from 0. */
  clone(shift: number): FileImage {
    const copy = new FileImage(this.base, this.modifiedMs);
    copy.ops = this.ops.map((op) => ({ ...op, id: op.id - shift }));
    return copy;
  }
}
