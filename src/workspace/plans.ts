/** Plans as people read them: `plans/current_plan.md`, and those that are done in `plans/archive/`. */
import { type Clock, systemClock } from '../core/clock.js';
import { RekindleError } from '../core/errors.js';
import type { Name, StorageBackend } from '../storage/ports.js';

export class Plans {
  readonly #backend: StorageBackend;
  readonly #folder: Name;
  readonly #clock: Clock;

  constructor(backend: StorageBackend, folder: Name, clock: Clock = systemClock) {
    this.#backend = backend;
    this.#folder = [...folder, 'plans'];
    this.#clock = clock;
  }

  /** Null when there is none. */
  current(): Promise<string | null> {
    return this.#read(this.#current);
  }

  /** Puts a plan in place of the current one, which goes to the archive. Durable when it resolves. @returns the archived name, or null */
  async write(text: string): Promise<string | null> {
    if ((await this.current()) === text) return null;
    const archived = await this.archive();
    await this.#backend.documents.writeBytes(this.#current, Buffer.from(text.toWellFormed()), {
      ifVersion: null,
    });
    return archived;
  }

  /** Moves the current plan to the archive. @param label what it was about. @returns its name there; null when there is no plan */
  async archive(label = 'plan'): Promise<string | null> {
    const text = await this.current();
    if (text === null) return null;
    const name = await this.#freeName(label);
    // First the copy, then the removal: a crash in between leaves the plan twice, never nowhere.
    await this.#backend.documents.writeBytes([...this.#archive, name], Buffer.from(text), {
      ifVersion: null,
    });
    await this.#backend.documents.delete(this.#current);
    return name;
  }

  /** Names, oldest first. */
  async archived(): Promise<string[]> {
    return (await this.#backend.documents.list(this.#archive)).filter((name) => name.endsWith('.md'));
  }

  /** Null when there is no such plan. */
  read(name: string): Promise<string | null> {
    return this.#read([...this.#archive, name]);
  }

  get #current(): Name {
    return [...this.#folder, 'current_plan.md'];
  }

  get #archive(): Name {
    return [...this.#folder, 'archive'];
  }

  async #read(name: Name): Promise<string | null> {
    const bytes = await this.#backend.documents.readBytes(name);
    return bytes && Buffer.from(bytes).toString('utf8');
  }

  async #freeName(label: string): Promise<string> {
    if (!/^[\p{L}\p{N}_ -]{1,80}$/u.test(label))
      throw new RekindleError(
        'INVALID_ARGUMENT',
        'A label has letters, digits, spaces, `_` and `-`, at most 80.',
        {
          details: { label: label.toWellFormed().slice(0, 100) },
        },
      );
    const start = new Date(this.#clock.nowMs()).toISOString().slice(0, 19).replaceAll(':', '-');
    const taken = new Set(await this.archived());
    for (let n = 1; ; n += 1) {
      const name = `${start}_${label.replaceAll(' ', '_')}${n === 1 ? '' : `-${n}`}.md`;
      if (!taken.has(name)) return name;
    }
  }
}
