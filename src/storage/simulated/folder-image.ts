/** One folder as a crash sees it: the names that are certainly on the disk, and the name operations after them. */
import type { SyncEvent } from './disk-event.js';
import { type FolderSurvivor, folderSurvivors } from './folder-survivors.js';
import { applyNameOp, type NameChange, type NameOp } from './name-op.js';

export class FolderImage {
  base: ReadonlyMap<string, number>;
  ops: NameOp[] = [];
  #survivors: { readonly weak: boolean; readonly list: readonly FolderSurvivor[] } | undefined;

  constructor(base: ReadonlyMap<string, number>) {
    this.base = base;
  }

  record(change: NameChange, id: number, label: string): void {
    this.ops.push({ id, change, label, status: 'pending' });
    this.#survivors = undefined;
  }

  /** Returns the folders that hold the target half of a rename that became durable here, with the rename's id. */
  sync(event: SyncEvent): { readonly folder: number; readonly id: number }[] {
    const halves: { folder: number; id: number }[] = [];
    for (const op of this.ops) {
      if (op.status !== 'pending' || op.id >= event.before || event.except.includes(op.id)) continue;
      op.status = event.failed ? 'dropped' : 'settled';
      if (op.status === 'settled' && op.change.kind === 'remove' && op.change.placedIn !== undefined) {
        halves.push({ folder: op.change.placedIn, id: op.id });
      }
    }
    this.#fold();
    return halves;
  }

  settle(id: number): void {
    for (const op of this.ops) if (op.id === id) op.status = 'settled';
    this.#fold();
  }

  visible(): Map<string, number> {
    const entries = new Map(this.base);
    for (const op of this.ops) applyNameOp(entries, op);
    return entries;
  }

  /** What is certainly on the disk. */
  durable(): ReadonlyMap<string, number> {
    const entries = new Map(this.base);
    for (const op of this.ops) if (op.status === 'settled') applyNameOp(entries, op);
    return entries;
  }

  /** Every set of names that a power cut may leave; the smallest first, the complete one last. */
  survivors(weak: boolean): readonly FolderSurvivor[] {
    if (this.#survivors?.weak !== weak) this.#survivors = { weak, list: folderSurvivors(this, weak) };
    return this.#survivors.list;
  }

  clone(shift: number): FolderImage {
    const copy = new FolderImage(this.base);
    copy.ops = this.ops.map((op) => ({ ...op, id: op.id - shift }));
    return copy;
  }

  #fold(): void {
    const entries = new Map(this.base);
    while (this.ops[0]?.status === 'settled') applyNameOp(entries, this.ops.shift()!);
    this.base = entries;
    this.#survivors = undefined;
  }
}
