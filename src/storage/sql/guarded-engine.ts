/** An engine that refuses a sealed store, unless the caller has its keys. */
import { keyOf } from '../name-key.js';
import { STORE_DOCUMENT, storeSealed } from '../sealing/sealed-names.js';
import type { SqlAnswer, SqlEngine, SqlOperation, SqlRequest } from './sql-engine.js';

export class GuardedEngine implements SqlEngine {
  readonly #engine: SqlEngine;
  readonly #place: () => string;
  #mayBeSealed = true;
  #looking: Promise<void> | null = null;

  constructor(engine: SqlEngine, place: () => string) {
    this.#engine = engine;
    this.#place = place;
  }

  /** See `StorageBackend.allowSealed`. */
  allow(): void {
    this.#mayBeSealed = false;
  }

  run<K extends SqlOperation>(operation: K, request: SqlRequest<K>): Promise<SqlAnswer<K>> {
    if (!this.#mayBeSealed) return this.#engine.run(operation, request);
    this.#looking ??= this.#look().finally(() => (this.#looking = null));
    return this.#looking.then(() => this.#engine.run(operation, request));
  }

  /** Once: a store that is in use without keys is not sealed later. */
  async #look(): Promise<void> {
    const document = await this.#engine.run('readDocument', { key: keyOf(STORE_DOCUMENT) });
    if (document) throw storeSealed(this.#place());
    this.#mayBeSealed = false;
  }

  watch(onHint: (keys: readonly string[] | null) => void): Promise<() => Promise<void>> {
    return this.#engine.watch(onHint);
  }

  scrub(quick: boolean): Promise<void> {
    return this.#engine.scrub(quick);
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}
