/**
 * The artifacts that a context refers to, loaded before a request. Only new messages of the context are
 * examined.
 */
import type { MemoryManager } from '../../memory/memory-manager.js';
import { hasOnlyGrown, NOTHING_SEEN, seenOf, unseen } from '../../memory/seen-context.js';
import { artifactsOf } from '../model/artifacts.js';

export class ContextArtifacts {
  readonly #memory: MemoryManager;
  #loaded: ReadonlyMap<string, Uint8Array> = new Map();
  #seen = NOTHING_SEEN;
  #loading: Promise<void> = Promise.resolve();

  constructor(memory: MemoryManager) {
    this.#memory = memory;
  }

  /** By reference, such as `sha256:...`. */
  get loaded(): ReadonlyMap<string, Uint8Array> {
    return this.#loaded;
  }

  /** Leaves out an artifact that is missing or damaged. @throws STORAGE_FAILED */
  load(): Promise<void> {
    const loading = this.#loading.then(() => this.#load());
    this.#loading = loading.catch(() => {}); // the caller gets the error
    return loading;
  }

  async #load(): Promise<void> {
    const { context } = this.#memory;
    const [seen, isGrown] = [seenOf(context), hasOnlyGrown(this.#seen, context)];
    const found = await artifactsOf(unseen(this.#seen, context), (ref) => this.#memory.getArtifact(ref));
    // The context was replaced and may refer to fewer artifacts: drop those that it no longer needs.
    if (!isGrown) this.#loaded = found;
    else if (found.size > 0) this.#loaded = new Map([...this.#loaded, ...found]);
    this.#seen = seen;
  }
}
