/** The watchers and what each of them watches. */
import type { Name, StorageChange } from '../ports.js';

export class MemoryChanges {
  readonly #listeners = new Set<(name: Name) => void>();

  tell(name: Name): void {
    for (const listener of this.#listeners) listener(name);
  }

  watch(prefix: Name, onChange: (change: StorageChange) => void): () => Promise<void> {
    const listener = (name: Name) => {
      if (prefix.every((segment, index) => name[index] === segment)) {
        onChange({ path: name.slice(prefix.length).join('/') });
      }
    };
    this.#listeners.add(listener);
    return async () => void this.#listeners.delete(listener);
  }
}
