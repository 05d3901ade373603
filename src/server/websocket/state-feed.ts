/**
 * The changes of one shared state as texts for WebSocket clients: serialized once, cached, sent to many.
 *
 * A subscriber asks for the changes after its version. Changes that left the cache are read from the journal.
 */
import type { SharedState } from '../../state/shared/shared-state.js';
import type { StateChange } from '../../state/shared/shared-table.js';
import { eventOf, type FeedEvent, isFull, StoredPages } from './stored-pages.js';

/** A feed without listeners is closed after this time (ms). */
const IDLE_MS = 60_000;
const KEPT_EVENTS = 2_000;
const KEPT_CHARS = 4 * 1024 * 1024;
export class StateFeed {
  readonly state: SharedState;
  /** Consecutive, oldest first. */
  readonly #kept: FeedEvent[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #stored: StoredPages;
  readonly #onIdle: () => void;
  #idle: NodeJS.Timeout | undefined;
  #chars = 0;
  /** Grows when the state was read again: a subscriber's version may no longer lead to it. */
  #generation = 0;
  #end: (() => Promise<void>) | null = null;
  #off: (() => void) | null = null;

  /** @param onIdle called when there were no listeners for a while */
  constructor(state: SharedState, onIdle: () => void = () => {}) {
    this.state = state;
    this.#onIdle = onIdle;
    this.#stored = new StoredPages(state);
  }

  async start(): Promise<void> {
    this.#off = this.state.events.on('reloaded', () => {
      this.#kept.length = 0;
      this.#chars = 0;
      this.#generation += 1;
      void this.#stored.clear();
      this.#wake();
    });
    this.#end = await this.state
      .watch('', (change) => this.#keep(change))
      .catch((thrown: unknown) => {
        this.#off?.();
        throw thrown;
      });
  }

  get generation(): number {
    return this.#generation;
  }

  #keep(change: StateChange): void {
    const event = eventOf(this.state.root, change);
    this.#kept.push(event);
    this.#chars += event.text.length;
    while (this.#kept.length > KEPT_EVENTS || this.#chars > KEPT_CHARS)
      this.#chars -= this.#kept.shift()?.text.length ?? 0;
    this.#wake();
  }

  #wake(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Calls `listener` when there may be more changes. The returned function stops it. */
  onMore(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.touch();
    return () => {
      this.#listeners.delete(listener);
      this.touch();
    };
  }

  /** Restarts the idle timer, because a listener comes or goes. */
  touch(): void {
    clearTimeout(this.#idle);
    if (this.#listeners.size === 0) this.#idle = setTimeout(this.#onIdle, IDLE_MS).unref();
  }

  /** Changes after a version, as far as cached; empty at the end. @throws HISTORY_GONE */
  async after(globalVersion: number): Promise<readonly FeedEvent[]> {
    const first = this.#kept[0]?.globalVersion;
    const last = this.#kept.at(-1)?.globalVersion;
    if (last === undefined || first === undefined || globalVersion < first - 1) {
      if (globalVersion >= (await this.state.globalVersion())) return [];
      return this.#stored.after(globalVersion);
    }
    if (globalVersion >= last) return [];
    const page: FeedEvent[] = [];
    let chars = 0;
    for (let at = globalVersion + 1 - first; at < this.#kept.length && !isFull(page, chars); at += 1) {
      page.push(this.#kept[at]!);
      chars += this.#kept[at]!.text.length;
    }
    return page;
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    this.#off?.();
    await this.#end?.();
    await this.#stored.clear();
  }
}
