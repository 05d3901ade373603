/** The journal of one session, and its history. */
import type { Clock } from '../../core/clock.js';
import { RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { erasePlaces } from '../../storage/erasure/erase-places.js';
import { isHarmful } from '../../storage/journal-check.js';
import { JOURNAL_START } from '../../storage/journal-position.js';
import type { Journal, JournalHead, JournalRecord, Name, StorageBackend } from '../../storage/ports.js';
import { SharedJournal } from '../../storage/shared-journal.js';
import { SessionHistory } from './session-history.js';
import { decodeChange, encodeChange, type SessionChange } from './session-record.js';

export interface SessionLogOptions {
  readonly folder: Name;
  readonly acceptDamage: boolean;
  readonly clock: Clock;
  readonly waitMs?: number;
}

interface SessionState {
  readonly history: SessionHistory;
  lastSeq: number;
  /** Records may be missing since the history began. */
  isDamaged: boolean;
}

export class SessionLog {
  readonly #journal: SharedJournal<JsonObject>;
  readonly #backend: StorageBackend;
  readonly #place: Name;
  readonly #options: SessionLogOptions;
  #state = emptyState();
  #isClosed = false;

  constructor(backend: StorageBackend, options: SessionLogOptions) {
    this.#backend = backend;
    this.#options = options;
    this.#place = [...options.folder, 'items'];
    this.#journal = new SharedJournal(backend, {
      journal: this.#place,
      lease: [...options.folder, 'lease'],
      fold: {
        load: (journal) => this.#load(journal),
        apply: (entry) => this.#apply(this.#state, entry),
        endDamaged: (bytes) => {
          if (bytes > 0) this.#state.isDamaged = true;
        },
      },
      ...(options.waitMs === undefined ? {} : { waitMs: options.waitMs }),
    });
  }

  async read(): Promise<SessionHistory> {
    this.#assertOpen();
    await this.#journal.refresh();
    this.#assertWhole();
    return this.#state.history;
  }

  /**
   * `decide` returns the change, or null if nothing changes. Resolves to the newest item before the change.
   */
  change(decide: (history: SessionHistory) => SessionChange | null): Promise<JsonObject | undefined> {
    return this.#change(() => {
      this.#assertWhole();
      return decide(this.#state.history);
    });
  }

  /** Erases everything. After a crash, the next call continues. */
  async clear(thread: string): Promise<void> {
    this.#assertOpen();
    const { folder } = this.#options;
    const plan = { target: { thread }, lease: [...folder, 'lease'], trees: [folder] };
    await this.#journal.refresh(); // refuses a journal of a newer release
    await this.#journal.replaced((held) => erasePlaces(this.#backend, plan, { quick: true, held }));
  }

  async #change(decide: () => SessionChange | null): Promise<JsonObject | undefined> {
    this.#assertOpen();
    return this.#journal.change(async () => {
      const change = decide();
      const newest = this.#state.history.items.at(-1);
      const done = () => newest;
      // Even without a change, the state must be durable: a retry must not report success for something that
      // may vanish.
      if (!change) return { secure: true, done };
      return { record: encodeChange(change, this.#options.clock.nowMs()), done };
    });
  }

  async #load(journal: Journal<JsonObject>): Promise<JournalHead> {
    const state = emptyState();
    let head = JOURNAL_START;
    for await (const entry of journal.read()) {
      if (entry.kind === 'damage') {
        if (isHarmful(entry)) state.isDamaged = true;
        continue;
      }
      this.#apply(state, entry);
      head = { seq: entry.seq, cursor: entry.cursor, crc: entry.crc };
    }
    this.#state = state;
    return head;
  }

  #apply(state: SessionState, { seq, record }: JournalRecord<JsonObject>): void {
    const change = decodeChange(record);
    if (!change)
      throw this.#error(
        'UNSUPPORTED_VERSION',
        `record ${seq} has an unknown kind, perhaps written by a newer release`,
      );
    if (seq !== state.lastSeq + 1) state.isDamaged = true;
    state.lastSeq = seq;
    if (change.op === 'clear') state.isDamaged = false;
    state.history.apply(change);
  }

  #assertWhole(): void {
    if (!this.#state.isDamaged || this.#options.acceptDamage) return;
    throw this.#error('JOURNAL_DAMAGED', 'records of it are damaged or missing');
  }

  #assertOpen(): void {
    if (this.#isClosed) throw this.#error('JOURNAL_CLOSED', 'the session was closed');
  }

  #error(code: 'UNSUPPORTED_VERSION' | 'JOURNAL_DAMAGED' | 'JOURNAL_CLOSED', why: string): RekindleError {
    const name = [...this.#place];
    return new RekindleError(code, `${name.join('/')} cannot be used: ${why}.`, { details: { name, why } });
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.#journal.close();
  }
}

function emptyState(): SessionState {
  return { history: new SessionHistory(), lastSeq: 0, isDamaged: false };
}
