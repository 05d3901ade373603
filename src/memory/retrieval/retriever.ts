/** What a rebuilt or compacted context remembers: by default the newest items, as the seed has it. */
import type { MemoryBundle } from '../models/memory-items.js';
import type { MemoryStore } from '../store/memory-store.js';

/** Contract: gives at most as many items as asked for, oldest first; changes nothing. */
export interface MemoryRetriever {
  retrieve(maxEpisodic: number, maxSemantic: number): Promise<MemoryBundle>;
}

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
