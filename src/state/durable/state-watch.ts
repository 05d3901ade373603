/**
 * Checks a document again when its file or journal changes: edits by people, and updates by other processes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Name, StorageBackend } from '../../storage/ports.js';

/** Editors write in several steps, so a half-written file is complete a moment later. */
const SETTLE_MS = 60;

export class StateWatch {
  readonly #backend: StorageBackend;
  readonly #folder: Name;
  readonly #name: string;
  readonly #look: () => Promise<void>;
  #ends = new Set<() => Promise<void>>();
  #looking: Promise<void> | null = null;
  #again = false;
  #closed = false;

  /** @param look must be harmless if nothing changed, because own writes also trigger it */
  constructor(backend: StorageBackend, folder: Name, name: string, look: () => Promise<void>) {
    this.#backend = backend;
    this.#folder = folder;
    this.#name = name;
    this.#look = look;
  }

  async start(): Promise<() => Promise<void>> {
    const stop = await this.#backend.watch(this.#folder, ({ path }) => {
      if (path === `${this.#name}.json` || path.startsWith(`${this.#name}.events`)) this.#wake();
    });
    if (this.#closed) await stop();
    const end = async () => {
      this.#ends.delete(end);
      await stop();
      await this.#looking;
    };
    this.#ends.add(end);
    this.#wake(); // for changes before the watch began
    return end;
  }

  #wake(): void {
    this.#again = true;
    this.#looking ??= this.#run().finally(() => (this.#looking = null));
  }

  /** A failed check is reported to the next caller that loads or changes the document. */
  async #run(): Promise<void> {
    while (this.#again && this.#ends.size > 0) {
      await sleep(SETTLE_MS);
      this.#again = false;
      await this.#look().catch(() => {});
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#ends].map((end) => end()));
  }
}
