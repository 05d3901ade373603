/**
 * The watchers of a SQL store. An engine's hint names keys, which are reported at once. If a hint only says that
 * something may have changed (another process wrote, or a connection was lost for a while), what is stored is compared
 * with what was reported before.
 */
import { type KeyRange, nameOf, rangeBelow } from '../name-key.js';
import type { Name, StorageChange } from '../ports.js';
import type { SqlEngine } from './sql-engine.js';

interface Watcher {
  readonly range: KeyRange;
  readonly marks: Map<string, string>;
  readonly onChange: (change: StorageChange) => void;
  readonly depth: number;
}

export class SqlWatch {
  readonly #engine: SqlEngine;
  readonly #watchers = new Set<Watcher>();
  #ended: Promise<() => Promise<void>> | null = null;
  #comparing: Promise<void> | null = null;
  #again = false;

  constructor(engine: SqlEngine) {
    this.#engine = engine;
  }

  async watch(prefix: Name, onChange: (change: StorageChange) => void): Promise<() => Promise<void>> {
    const watcher = { range: rangeBelow(prefix), marks: new Map(), onChange, depth: prefix.length };
    this.#ended ??= this.#engine.watch((keys) => (keys ? this.#tellKeys(keys) : this.#compare()));
    try {
      await this.#ended;
      for (const [key, mark] of await this.#engine.run('readMarks', watcher.range))
        watcher.marks.set(key, mark);
    } catch (thrown) {
      if (this.#watchers.size === 0) await this.close();
      throw thrown;
    }
    this.#watchers.add(watcher);
    return async () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) await this.close();
    };
  }

  #tellKeys(keys: readonly string[]): void {
    for (const { range, onChange, depth } of this.#watchers) {
      for (const key of keys) if (key >= range.start && key < range.end) onChange(changeOf(key, depth));
    }
  }

  /** One comparison at a time; a hint during a comparison causes one more. */
  #compare(): void {
    this.#again = true;
    this.#comparing ??= this.#compareAll().finally(() => (this.#comparing = null));
  }

  async #compareAll(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      for (const watcher of this.#watchers) await this.#compareOne(watcher).catch(() => {}); // the next hint tries again
    }
  }

  async #compareOne(watcher: Watcher): Promise<void> {
    const now = new Map(await this.#engine.run('readMarks', watcher.range));
    const changed = [...now].filter(([key, mark]) => watcher.marks.get(key) !== mark).map(([key]) => key);
    const gone = [...watcher.marks.keys()].filter((key) => !now.has(key));
    for (const key of gone) watcher.marks.delete(key);
    for (const [key, mark] of now) watcher.marks.set(key, mark);
    if (!this.#watchers.has(watcher)) return;
    for (const key of [...changed, ...gone]) watcher.onChange(changeOf(key, watcher.depth));
  }

  async close(): Promise<void> {
    const ended = this.#ended;
    this.#ended = null;
    this.#watchers.clear();
    const end = await ended?.catch(() => null); // the failure was reported to its caller
    await end?.();
  }
}

function changeOf(key: string, depth: number): StorageChange {
  return { path: nameOf(key).slice(depth).join('/') };
}
