/**
 * Chooses what to remove when several owners share a limit: from the largest owners, their oldest
 * checkpoints.
 */

export interface Removable<T> {
  readonly item: T;
  readonly owner: string;
  /** Bytes that it added to the store. */
  readonly bytes: number;
}

/** Owners with at least this share of the largest one count as equally large. */
const EQUAL = 0.9;

export class OwnerShares<T> {
  readonly #bytes = new Map<string, number>();
  readonly #queues = new Map<string, { readonly rank: number; readonly removable: Removable<T> }[]>();
  #offered = 0;

  /** Counts an owner's bytes, removable or not. */
  count(owner: string, bytes: number): void {
    this.#bytes.set(owner, this.#of(owner) + bytes);
  }

  /** Call it oldest first. */
  offer(removable: Removable<T>): void {
    const one = { rank: this.#offered, removable };
    this.#offered += 1;
    const queue = this.#queues.get(removable.owner);
    if (queue) queue.push(one);
    else this.#queues.set(removable.owner, [one]);
  }

  /** The next to remove; null if there is none. */
  next(): T | null {
    const waiting = [...this.#queues].filter(([, queue]) => queue.length > 0);
    const most = Math.max(...waiting.map(([owner]) => this.#of(owner)));
    const largest = waiting.filter(([owner]) => this.#of(owner) >= EQUAL * most);
    const [, queue] = largest.sort(([, [a]], [, [b]]) => a!.rank - b!.rank)[0] ?? [];
    const removable = queue?.shift()?.removable;
    if (!removable) return null;
    this.count(removable.owner, -removable.bytes);
    return removable.item;
  }

  #of(owner: string): number {
    return this.#bytes.get(owner) ?? 0;
  }
}
