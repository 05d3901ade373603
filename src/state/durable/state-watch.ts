/** Looks again when a file or the journal of a document changes: people's edits, and other processes' updates. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Name, StorageBackend } from '../../storage/ports.js';

/** Editors write in several steps: what is half written now is whole a moment later. */
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

  /** @param look must be harmless when nothing changed: our own writes wake it, too, and then it finds nothing */
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
    this.#wake(); // what changed before it was watched
    return end;
  }

  #wake(): void {
    this.#again = true;
    this.#looking ??= this.#run().finally(() => (this.#looking = null));
  }

  /** A look that fails is told to whoever loads or changes the document next. */
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
