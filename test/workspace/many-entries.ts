/** Workspaces with many small entries, and a store that takes its time to read them. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../../src/core/json.js';
import { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import type { Journal, JournalOptions, Name, StorageBackend } from '../../src/storage/ports.js';
import { Workspace } from '../../src/workspace/workspace.js';

/** Values of about 100 bytes. */
export async function writeEntries(backend: StorageBackend, count: number): Promise<string[]> {
  const workspace = new Workspace(backend);
  const keys = Array.from({ length: count }, (_, n) => `key_${n}`);
  for (const [n, key] of keys.entries())
    await workspace.write(key, { n, text: `value ${n} `.repeat(7) }, { agent: 'maker' });
  await workspace.close();
  return keys;
}

/** Records are read one by one, a few in a millisecond, and counted. Nothing else is slow. */
export class SlowStorage extends MemoryStorage {
  read = 0;
  reading = 0;
  isSlow = false;

  override async openJournal<R extends JsonObject>(
    name: Name,
    options?: JournalOptions,
  ): Promise<Journal<R>> {
    const journal = await super.openJournal<R>(name, options);
    const read = journal.read.bind(journal);
    journal.read = (readOptions) => this.#slowly(read(readOptions));
    return journal;
  }

  async *#slowly<T>(entries: AsyncIterable<T>): AsyncGenerator<T> {
    this.reading += 1;
    try {
      for await (const entry of entries) {
        if (this.isSlow) await sleep(2);
        this.read += 1;
        yield entry;
      }
    } finally {
      this.reading -= 1;
    }
  }
}

/** Fails after five seconds. */
export async function until(holds: () => boolean): Promise<void> {
  for (const end = performance.now() + 5_000; !holds(); await sleep(5))
    if (performance.now() > end) throw new Error('It did not come to pass in five seconds.');
}

/** The longest turn of the event loop while something runs, in milliseconds. */
export async function longestHold(run: () => Promise<unknown>): Promise<number> {
  let [longest, last, isOn] = [0, performance.now(), true];
  const turn = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (isOn) setImmediate(turn);
  };
  setImmediate(turn);
  await run();
  isOn = false;
  return Math.max(longest, performance.now() - last);
}
