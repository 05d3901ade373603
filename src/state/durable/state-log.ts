/**
 * The journal of one document, `<name>.events.jsonl`, and its current value. Reads backward from the end,
 * which costs at most about twice the size of the value, however long the history is.
 */

import { RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { JOURNAL_START } from '../../storage/journal-position.js';
import type { Journal, JournalHead, JournalRecord, Name, StorageBackend } from '../../storage/ports.js';
import { type Decision, SharedJournal } from '../../storage/shared-journal.js';
import { decodeEvent, replayEvents, type StateAt, type StateEvent } from './state-event.js';

export interface StateLogOptions {
  readonly folder: Name;
  readonly name: string;
  readonly waitMs?: number;
  /** Called with each new version, by any process, in order. */
  readonly onVersion: (state: StateAt) => void;
  /** Finds the value with this digest elsewhere, for a damaged journal; null if there is none. */
  readonly rescue: (digest: string) => Promise<JsonObject | null>;
}

export class StateLog {
  readonly #journal: SharedJournal<JsonObject>;
  readonly #place: Name;
  readonly #options: StateLogOptions;
  #current: StateAt | null = null;
  #lostAtEnd = 0;

  constructor(backend: StorageBackend, options: StateLogOptions) {
    this.#place = [...options.folder, `${options.name}.events`];
    this.#options = options;
    this.#journal = new SharedJournal(backend, {
      journal: this.#place,
      lease: [...options.folder, `${options.name}.lease`],
      fold: { load: (journal) => this.#load(journal), apply: (entry) => this.#apply(entry) },
      ...(options.waitMs === undefined ? {} : { waitMs: options.waitMs }),
    });
  }

  /** The newest version known here; null if there is none. */
  get current(): StateAt | null {
    return this.#current;
  }

  /** Damaged records after the current version. Their changes are unknown. */
  get lostAtEnd(): number {
    return this.#lostAtEnd;
  }

  refresh(): Promise<void> {
    return this.#journal.refresh();
  }

  /** One change of the newest version: `current` is up to date when `decide` runs. */
  change<T>(decide: () => Promise<Decision<JsonObject, T>>): Promise<T> {
    return this.#journal.change(decide);
  }

  /** Newest first. Unreadable rows are left out. */
  async *backward(): AsyncGenerator<StateEvent> {
    for await (const entry of (await this.#journal.reader()).readBackward()) {
      const event = entry.kind === 'record' ? decodeEvent(entry.record) : null;
      if (event) yield event;
    }
  }

  /** The document at a version; null if there is no such version. @throws JOURNAL_DAMAGED */
  async at(version: number): Promise<StateAt | null> {
    const events: StateEvent[] = [];
    for await (const event of this.backward()) {
      if (event.version > version) continue;
      if (event.version < version && events.length === 0) break;
      events.unshift(event);
      if (event.value) return this.#replayed(events);
    }
    const exists = version >= 1 && version <= (this.#current?.version ?? 0);
    if (exists) throw this.#damaged(`version ${version} is missing, or what leads to it`);
    return null;
  }

  #replayed(events: readonly StateEvent[]): StateAt {
    const state = replayEvents(null, events);
    if (state) return state;
    throw this.#damaged(`no whole value leads to version ${events.at(-1)?.version ?? 0}`);
  }

  async #load(journal: Journal<JsonObject>): Promise<JournalHead> {
    const events: StateEvent[] = [];
    let lost = 0;
    let head = JOURNAL_START;
    for await (const entry of journal.readBackward()) {
      if (entry.kind !== 'record') {
        // A torn record was never acknowledged. A gap in between is detected by the digest.
        if (events.length === 0 && entry.reason !== 'torn' && entry.reason !== 'after-seal') lost += 1;
        continue;
      }
      if (head.seq === 0) head = { seq: entry.seq, cursor: entry.cursor, crc: entry.crc };
      const event = decodeEvent(entry.record);
      if (event) events.unshift(event);
      if (event?.value) break;
    }
    const before = this.#current;
    this.#current =
      events.length === 0 ? null : (replayEvents(null, events) ?? (await this.#rescued(events)));
    this.#lostAtEnd = lost;
    if (this.#current && this.#current.version !== before?.version) this.#options.onVersion(this.#current);
    return head;
  }

  async #rescued(events: readonly StateEvent[]): Promise<StateAt> {
    const { version, at, event, by, why, digest } = events.at(-1)!;
    const value = await this.#options.rescue(digest);
    if (value) return { version, value, digest, at, event, by, why, patchBytes: Number.POSITIVE_INFINITY };
    return this.#replayed(events);
  }

  #apply(entry: JournalRecord<JsonObject>): void {
    const event = decodeEvent(entry.record);
    const next = event && replayEvents(this.#current, [event]);
    if (!next) throw this.#damaged(`record ${entry.seq} does not follow the one before`);
    this.#current = next;
    this.#lostAtEnd = 0;
    this.#options.onVersion(next);
  }

  #damaged(why: string): RekindleError {
    const text = `${this.#place.join('/')} cannot be followed: ${why}.`;
    return new RekindleError('JOURNAL_DAMAGED', text, { details: { name: [...this.#place], why } });
  }

  close(): Promise<void> {
    return this.#journal.close();
  }
}
