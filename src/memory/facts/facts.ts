/**
 * The facts of an agent, for the host: `memory.facts`. With a scope, they include the facts of its subject, and new
 * facts are stored with the subject.
 */
import type { Clock } from '../../core/clock.js';
import { RekindleError } from '../../core/errors.js';
import { newId } from '../../core/ids.js';
import { type SemanticItem, semanticToJson } from '../models/memory-items.js';
import type { MemoryStore } from '../store/memory-store.js';
import { doesStand, type Fact, type FactEntry, factOf } from './fact.js';
import type { FactLog } from './fact-log.js';
import { type MarkKind, markToJson } from './fact-mark.js';
import { FACT_SOURCES, type FactSource, isFactSource } from './fact-source.js';
import { standingOf, withReplaced } from './fact-table.js';
import { lastTrace } from './fact-traces.js';

/** Details of a new fact. */
export interface RememberOptions {
  /** A word such as `user_preference`. At most 64 characters. */
  readonly category?: string;
  /** What the fact is about: the newest fact with a key replaces older ones. At most 128 characters. Default: its text. */
  readonly key?: string;
  /** Default `user`. */
  readonly source?: FactSource;
  /** What it was made from, as in `Fact`. Default: its source. */
  readonly origins?: readonly string[];
}

/** The operations on facts, for the host and for a model's tools. */
export interface FactKeeper {
  remember(text: string, options?: RememberOptions): Promise<Fact>;
  forget(id: string): Promise<Fact>;
  pin(id: string): Promise<Fact>;
  unpin(id: string): Promise<Fact>;
}

const TEXT_CHARS_MAX = 2_000;
const KEY_CHARS_MAX = 128;
const CATEGORY_CHARS_MAX = 64;
export const FACT_LIMITS = {
  text: TEXT_CHARS_MAX,
  key: KEY_CHARS_MAX,
  category: CATEGORY_CHARS_MAX,
} as const;

/**
 * Lists and changes the facts of one agent.
 * ```ts
 * const { id } = await memory.facts.remember('Prefers short answers', { key: 'style' });
 * await memory.facts.pin(id);
 * ```
 */
export class Facts implements FactKeeper {
  readonly #store: MemoryStore;
  readonly #clock: Clock;

  constructor(store: MemoryStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** The current facts, oldest first; with `all`, also replaced, forgotten and purged ones. Writes nothing. */
  async list({ all = false }: { readonly all?: boolean } = {}): Promise<Fact[]> {
    const entries: { readonly entry: FactEntry; readonly scope: string | null }[] = [];
    for (const { log, scope } of this.#logs())
      for (const entry of (await log.table()).all()) entries.push({ entry, scope });
    entries.sort((a, b) => a.entry.item.ts - b.entry.item.ts);
    const standing = entries.flatMap(({ entry }) => (doesStand(entry) ? [entry.item] : []));
    const shown = new Set(standingOf(standing).map(({ id }) => id));
    const wanted = all
      ? entries
      : entries.filter(({ entry }) => doesStand(entry) && shown.has(entry.item.id));
    return wanted.map(({ entry, scope }) => factOf(entry, scope));
  }

  /**
   * Stores a fact. Durable when it resolves. It replaces a fact with the same key or, without a key, with the same
   * text. A fact with the same text from a more trusted source is kept instead.
   * @throws INVALID_ARGUMENT, LIMIT_EXCEEDED, JOURNAL_CLOSED when opened for reading, and what `Journal.append` throws
   */
  async remember(text: string, options: RememberOptions = {}): Promise<Fact> {
    assertFact(text, options);
    this.#store.assertWritable();
    const { log, scope } = this.#logs().at(-1)!;
    const item = await this.#itemFor(text, options);
    return log.change((table) => ({
      rows: [withReplaced(table, item, semanticToJson(item))],
      done: (after) => factOf(after.get(item.id)!, scope),
    }));
  }

  async #itemFor(
    text: string,
    { category, key, source = 'user', origins = [source] }: RememberOptions,
  ): Promise<SemanticItem> {
    const nowMs = this.#clock.nowMs();
    const trace = await lastTrace(this.#store);
    return {
      id: newId('sem', nowMs),
      ts: nowMs / 1000,
      fact: text.toWellFormed(),
      ...(category === undefined ? {} : { category: category.toWellFormed() }),
      salience: 0,
      ...(key === undefined ? {} : { key: key.toWellFormed() }),
      source,
      origins,
      ...(trace ? { trace } : {}),
    };
  }

  /** Removes a fact from memory messages; its row stays in the journal. Durable when it resolves. @throws FACT_NOT_FOUND */
  forget(id: string): Promise<Fact> {
    return this.#mark(id, 'forget');
  }

  /** If there is no space for all facts, pinned ones come first. Durable when it resolves. @throws FACT_NOT_FOUND */
  pin(id: string): Promise<Fact> {
    return this.#mark(id, 'pin');
  }

  /** @throws FACT_NOT_FOUND */
  unpin(id: string): Promise<Fact> {
    return this.#mark(id, 'unpin');
  }

  async #mark(id: string, mark: Exclude<MarkKind, 'purge'>): Promise<Fact> {
    this.#store.assertWritable();
    for (const { log, scope } of this.#logs()) {
      if ((await log.table()).get(id) === null) continue;
      const nowMs = this.#clock.nowMs();
      const row = markToJson({ id: newId('mark', nowMs), ts: nowMs / 1000, mark, ids: [id] });
      return log.change((table) => ({
        rows: isDone(table.get(id), mark) ? [] : [row],
        done: (after) => factOf(after.get(id)!, scope),
      }));
    }
    throw notFound(id, 'There is no such fact');
  }

  /** New facts go to the last one. */
  #logs(): { readonly log: FactLog; readonly scope: string | null }[] {
    const { facts, subject } = this.#store;
    return [{ log: facts, scope: null }, ...(subject ? [{ log: subject, scope: subject.scope }] : [])];
  }
}

/** @throws FACT_NOT_FOUND if it is no longer possible */
function isDone(entry: FactEntry | null, mark: Exclude<MarkKind, 'purge'>): boolean {
  if (mark === 'forget') return entry?.gone !== null;
  if (!entry || !doesStand(entry))
    throw notFound(entry?.item.id ?? '', 'It was replaced, forgotten or purged: the fact');
  return (entry.item.pinned ?? false) === (mark === 'pin');
}

function notFound(id: string, problem: string): RekindleError {
  return new RekindleError('FACT_NOT_FOUND', `${problem} ${JSON.stringify(id.slice(0, 80))}.`, {
    details: { id },
  });
}

function assertFact(text: string, { category, key, source }: RememberOptions): void {
  assertText('text', text, TEXT_CHARS_MAX);
  if (category !== undefined) assertText('category', category, CATEGORY_CHARS_MAX);
  if (key !== undefined) assertText('key', key, KEY_CHARS_MAX);
  if (source !== undefined && !isFactSource(source))
    throw new RekindleError(
      'INVALID_ARGUMENT',
      `The source of a fact is one of ${FACT_SOURCES.join(', ')}.`,
      {
        details: { argument: 'source' },
      },
    );
}

function assertText(argument: string, text: unknown, max: number): void {
  if (typeof text !== 'string' || text.trim() === '')
    throw new RekindleError('INVALID_ARGUMENT', `The ${argument} of a fact must not be blank.`, {
      details: { argument },
    });
  if (text.length > max)
    throw new RekindleError('LIMIT_EXCEEDED', `The ${argument} of a fact has at most ${max} characters.`, {
      details: { limit: argument, allowed: max, actual: text.length },
    });
}
