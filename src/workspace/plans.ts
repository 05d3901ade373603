import { type Clock, systemClock } from '../core/clock.js';
import { RekindleError } from '../core/errors.js';
import type { Name, StorageBackend } from '../storage/ports.js';
import { SharedLease } from '../storage/shared-lease.js';

/** `2026-03-01T10-20-30_label.md`; further plans of the same second are `...-2_label.md`, and so on. */
const ARCHIVED = /^(\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2})(?:-(\d+))?_/;

/** Plans in Markdown: the current one in `plans/current_plan.md`, finished ones in `plans/archive/`. */
export class Plans {
  readonly #backend: StorageBackend;
  readonly #folder: Name;
  readonly #clock: Clock;
  /**
   * One process at a time moves and replaces a plan; otherwise one could remove what another has just
   * written.
   */
  readonly #turns: SharedLease;

  constructor(backend: StorageBackend, folder: Name, clock: Clock = systemClock) {
    this.#backend = backend;
    this.#folder = [...folder, 'plans'];
    this.#clock = clock;
    this.#turns = new SharedLease(backend.leases, [...folder, 'plans.lease']);
  }

  /** The text of the current plan; null if there is none. */
  current(): Promise<string | null> {
    return this.#read(this.#current);
  }

  /**
   * Replaces the current plan and archives the old one. Durable when it resolves. @returns the archived name,
   * or null
   */
  write(text: string): Promise<string | null> {
    const given = text.toWellFormed();
    const plan = this.#backend.redactor?.text(given) ?? given;
    return this.#turns.run(async () => {
      if ((await this.current()) === plan) return null;
      const archived = await this.#moveToArchive('plan');
      await this.#backend.documents.writeBytes(this.#current, Buffer.from(plan), { ifVersion: null });
      return archived;
    });
  }

  /**
   * Moves the current plan to the archive. @param label a short name for it @returns its name there; null if
   * there is no plan
   */
  async archive(label = 'plan'): Promise<string | null> {
    assertLabel(label);
    return this.#turns.run(() => this.#moveToArchive(label));
  }

  /** Copies the bytes, because a person may have written it in another encoding. */
  async #moveToArchive(label: string): Promise<string | null> {
    const bytes = await this.#backend.documents.readBytes(this.#current);
    if (!bytes) return null;
    const name = await this.#freeName(label);
    // Copy first, then remove: a crash in between leaves the plan twice, but never loses it.
    await this.#backend.documents.writeBytes([...this.#archive, name], bytes, { ifVersion: null });
    await this.#backend.documents.delete(this.#current);
    return name;
  }

  /** Names of archived plans, oldest first. */
  async archived(): Promise<string[]> {
    const names = await this.#backend.documents.list(this.#archive);
    return names.filter((name) => name.endsWith('.md')).sort(byAge);
  }

  /** An archived plan; null if there is none of this name. */
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
    const second = new Date(this.#clock.nowMs()).toISOString().slice(0, 19).replaceAll(':', '-');
    const last = (await this.archived()).map(placeOf).findLast((place) => place.second === second);
    return `${second}${last ? `-${last.number + 1}` : ''}_${label.replaceAll(' ', '_')}.md`;
  }

  /** Waits for writes in progress. */
  close(): Promise<void> {
    return this.#turns.close();
  }
}

function assertLabel(label: string): void {
  if (/^[\p{L}\p{N}_ -]{1,80}$/u.test(label)) return;
  throw new RekindleError(
    'INVALID_ARGUMENT',
    'A label may have at most 80 letters, digits, spaces, `_` and `-`.',
    { details: { label: label.toWellFormed().slice(0, 100) } },
  );
}

function placeOf(name: string): { readonly second: string; readonly number: number } {
  const [, second = name, number = '1'] = ARCHIVED.exec(name) ?? [];
  return { second, number: Number(number) };
}

function byAge(a: string, b: string): number {
  const [one, two] = [placeOf(a), placeOf(b)];
  if (one.second !== two.second) return one.second < two.second ? -1 : 1;
  return one.number - two.number;
}
