/** Selects the memory of a rebuilt or compacted context: by default the newest items. */
import type { MemoryBundle } from '../models/memory-items.js';
import type { MemoryStore } from '../store/memory-store.js';

/** Contract: returns at most the requested number of items, oldest first; changes nothing. */
export interface MemoryRetriever {
  retrieve(maxEpisodic: number, maxSemantic: number): Promise<MemoryBundle>;
}

/** The default `MemoryRetriever`: the newest summaries, and the pinned and newest facts. */
export class Retriever implements MemoryRetriever {
  readonly #store: MemoryStore;

  constructor(store: MemoryStore) {
    this.#store = store;
  }

  async retrieve(maxEpisodic: number, maxSemantic: number): Promise<MemoryBundle> {
    const [episodic, semantic] = await Promise.all([
      this.#store.listEpisodic(maxEpisodic),
      this.#store.listSemantic(maxSemantic),
    ]);
    return { episodic, semantic };
  }
}
