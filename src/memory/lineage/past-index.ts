/**
 * The recall index over an agent's whole past: its own records, and for a fork also those of its sources up to the point where it left
 * them. Each agent keeps its own index; nothing is copied.
 */
import type { Passage } from '../recall/passage.js';
import { type RecallHit, RecallIndex, type RecallQuery } from '../recall/recall-index.js';
import type { MemoryStore } from '../store/memory-store.js';
import { type PastPart, readOrigin, sourcesOf } from './forked-from.js';

interface IndexedPart extends PastPart {
  readonly index: RecallIndex;
}

/** A header and a base begin the records of a fork. The base is a copy of what its sources have. */
const COPIED_RECORDS = 2;

export class PastIndex {
  /** Nearest first; the first is the agent's own. */
  readonly #parts: readonly IndexedPart[];

  /** @param own the index of the agent's own records @param sources closed by `close` */
  constructor(own: IndexedPart, sources: readonly PastPart[]) {
    this.#parts = [own, ...sources.map((part) => ({ ...part, index: new RecallIndex(part.store) }))];
  }

  /** @param index of the store. The caller closes the result, and the store. @throws DOCUMENT_DAMAGED */
  static async of(store: MemoryStore, index = new RecallIndex(store)): Promise<PastIndex> {
    const { backend, agentId } = store;
    const origin = await readOrigin(backend, agentId);
    const sources = await sourcesOf(backend, origin);
    const after = sources.length > 0 ? origin!.record + COPIED_RECORDS : 0;
    return new PastIndex({ store, index, after, upTo: Number.POSITIVE_INFINITY }, sources);
  }

  /** Number of passages that can be found, after a search. */
  get count(): number {
    return this.#parts.reduce((sum, { index, after, upTo }) => sum + index.countBetween(after + 1, upTo), 0);
  }

  /** Best first. The scores of two agents are comparable as far as their texts are alike. @param query as for `RecallIndex.hits` */
  async *hits(query: RecallQuery): AsyncGenerator<RecallHit> {
    const lists = this.#parts.map((part) => hitsOf(part, query));
    const heads = await Promise.all(lists.map((list) => list.next()));
    for (let left = query.limit; left > 0; left -= 1) {
      let best = -1;
      for (const [at, head] of heads.entries())
        if (!head.done && (best < 0 || head.value.score > heads[best]!.value!.score)) best = at;
      if (best < 0) return;
      yield heads[best]!.value!;
      heads[best] = await lists[best]!.next();
    }
  }

  /** All indexed passages in a range of records, in order. */
  async passagesBetween(first: number, last: number): Promise<Passage[]> {
    const passages: Passage[] = [];
    for (const { index, after, upTo } of this.#parts.toReversed())
      passages.push(...(await index.passagesBetween(Math.max(first, after + 1), Math.min(last, upTo))));
    return passages;
  }

  /** The first and the last record of some turns; null if there is none. */
  async recordsOfTurns(
    from: number,
    to: number,
  ): Promise<{ readonly first: number; readonly last: number } | null> {
    const ranges: { readonly first: number; readonly last: number }[] = [];
    for (const { index, after, upTo } of this.#parts.toReversed()) {
      const range = await index.recordsOfTurns(from, to, { after, upTo });
      if (range) ranges.push(range);
    }
    return ranges.length === 0 ? null : { first: ranges[0]!.first, last: ranges.at(-1)!.last };
  }

  /** Closes the stores of the sources. */
  async close(): Promise<void> {
    for (const { store } of this.#parts.slice(1)) await store.close();
  }
}

function hitsOf({ index, after, upTo }: IndexedPart, query: RecallQuery): AsyncGenerator<RecallHit> {
  const isWhole = after === 0 && upTo === Number.POSITIVE_INFINITY;
  if (isWhole) return index.hits(query);
  const { accepts, nearest, ...asked } = query;
  const isOwn = upTo === Number.POSITIVE_INFINITY;
  return index.hits({
    ...asked,
    ...(isOwn && nearest ? { nearest } : {}), // the vectors are those of the agent itself
    accepts: (info) => info.seq > after && info.seq <= upTo && (accepts?.(info) ?? true),
  });
}
