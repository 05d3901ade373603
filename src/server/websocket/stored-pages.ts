/**
 * Pages of older changes for returning clients, read from the journal. Clients at the same version share
 * them, and a reading continues after the last page, so that the journal is not read from the start for each
 * client.
 */
import type { SharedState } from '../../state/shared/shared-state.js';
import type { StateChange } from '../../state/shared/shared-table.js';
import { changeToWire } from '../http/wire.js';

/** A serialized event. */
export interface FeedEvent {
  readonly globalVersion: number;
  readonly text: string;
}

type Page = readonly FeedEvent[];

/** Size of a page: events, and approximate characters. */
const PAGE_EVENTS = 200;
const PAGE_CHARS = 512 * 1024;
/** Pages kept for other clients. */
const KEPT_PAGES = 4;
/** An unused reading is closed after this time (ms). */
const IDLE_MS = 2_000;

export function isFull(page: Page, chars: number): boolean {
  return page.length >= PAGE_EVENTS || chars >= PAGE_CHARS;
}

export function eventOf(root: string, change: StateChange): FeedEvent {
  return { globalVersion: change.globalVersion, text: JSON.stringify(changeToWire(root, change)) };
}

export class StoredPages {
  readonly #state: SharedState;
  readonly #kept = new Map<number, Page>();
  #reading: { at: number; readonly changes: AsyncGenerator<StateChange> } | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #idle: NodeJS.Timeout | undefined;

  constructor(state: SharedState) {
    this.#state = state;
  }

  /** @throws HISTORY_GONE */
  after(globalVersion: number): Promise<Page> {
    const page = this.#last.then(async () => {
      try {
        return this.#kept.get(globalVersion) ?? (await this.#read(globalVersion));
      } catch (thrown) {
        this.#reading = null; // it ended with the error
        throw thrown;
      }
    });
    this.#last = page.catch(() => {}); // reported to the caller
    return page;
  }

  async #read(globalVersion: number): Promise<Page> {
    if (this.#reading?.at !== globalVersion) {
      await this.#end();
      this.#reading = { at: globalVersion, changes: this.#state.changesAfter(globalVersion) };
    }
    const { changes } = this.#reading;
    const page: FeedEvent[] = [];
    let chars = 0;
    while (!isFull(page, chars)) {
      const next = await changes.next();
      if (next.done) break;
      const event = eventOf(this.#state.root, next.value);
      page.push(event);
      chars += event.text.length;
    }
    if (isFull(page, chars)) this.#keep(globalVersion, page);
    else await this.#end(); // at the end; there may be more soon
    return page;
  }

  #keep(globalVersion: number, page: Page): void {
    this.#kept.set(globalVersion, page);
    if (this.#kept.size > KEPT_PAGES) this.#kept.delete(this.#kept.keys().next().value ?? 0);
    if (this.#reading) this.#reading.at = page.at(-1)!.globalVersion;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => void this.clear(), IDLE_MS).unref();
  }

  async #end(): Promise<void> {
    const reading = this.#reading;
    this.#reading = null;
    await reading?.changes.return(undefined);
  }

  /** Drops cached pages. */
  async clear(): Promise<void> {
    clearTimeout(this.#idle);
    this.#kept.clear();
    this.#last = this.#last.then(() => this.#end()).catch(() => {});
    await this.#last;
  }
}
