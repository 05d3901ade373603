/** The artifacts that a context refers to, loaded before a request is made. Only what is new in the context is looked at. */
import type { MemoryManager } from '../../memory/memory-manager.js';
import { artifactsOf } from '../model/artifacts.js';

export class ContextArtifacts {
  readonly #memory: MemoryManager;
  #loaded: ReadonlyMap<string, Uint8Array> = new Map();
  #seen = { count: 0, changes: -1 };
  #loading: Promise<void> = Promise.resolve();

  constructor(memory: MemoryManager) {
    this.#memory = memory;
  }

  /** By reference, such as `sha256:...`. */
  get loaded(): ReadonlyMap<string, Uint8Array> {
    return this.#loaded;
  }

  /** An artifact that is missing or damaged is left out. @throws STORAGE_FAILED */
  load(): Promise<void> {
    const loading = this.#loading.then(() => this.#load());
    this.#loading = loading.catch(() => {}); // told to those who wait for it
    return loading;
  }

  async #load(): Promise<void> {
    const { messages, changes } = this.#memory.context;
    const count = messages.length;
    const hasGrown = changes === this.#seen.changes;
    const added = messages.slice(hasGrown ? this.#seen.count : 0);
    const found = await artifactsOf(added, (ref) => this.#memory.getArtifact(ref));
    // What did not only grow may refer to less than before: the rest is let go.
    if (!hasGrown) this.#loaded = found;
    else if (found.size > 0) this.#loaded = new Map([...this.#loaded, ...found]);
    this.#seen = { count, changes };
  }
}
