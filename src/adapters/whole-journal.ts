/**
 * A journal of several writers that detects every missing record, because otherwise an older state would pass
 * for the newest. A damaged record blocks reads and writes until it is repaired; records that a repair
 * dropped are skipped.
 */
import { type ErrorCode, isRekindleError, RekindleError } from '../core/errors.js';
import type { JsonObject } from '../core/json.js';
import { isHarmful } from '../storage/journal-check.js';
import { JOURNAL_START } from '../storage/journal-position.js';
import type {
  Cursor,
  Journal,
  JournalHead,
  JournalRecord,
  Lease,
  Name,
  StorageBackend,
} from '../storage/ports.js';
import { type Decision, SharedJournal } from '../storage/shared-journal.js';

/** The state after the records. */
export interface JournalState {
  /** Applies the next record. False if its kind is unknown. */
  apply(entry: JournalRecord<JsonObject>): boolean;
}

export interface WholeJournalOptions<S extends JournalState> {
  readonly journal: Name;
  readonly lease: Name;
  readonly newState: () => S;
  /** See `JournalOptions.segmentBytes`. */
  readonly segmentBytes?: number;
}

/** A state while it is being built. */
interface Folded<S> {
  readonly state: S;
  lastSeq: number;
  /** The number of a record written by a newer release. */
  unknown: number | null;
  /** A number is missing: reading everything again shows whether it was repaired. */
  hasGap: boolean;
}

export class WholeJournal<S extends JournalState> {
  readonly #options: WholeJournalOptions<S>;
  readonly #journal: SharedJournal<JsonObject>;
  #folded: Folded<S>;
  /** Damaged bytes after the last record. */
  #endDamage = 0;
  #isClosed = false;

  constructor(backend: StorageBackend, options: WholeJournalOptions<S>) {
    this.#options = options;
    this.#folded = beginning(options.newState());
    this.#journal = new SharedJournal(backend, {
      journal: options.journal,
      lease: options.lease,
      ...(options.segmentBytes === undefined ? {} : { segmentBytes: options.segmentBytes }),
      fold: {
        load: (journal) => this.#load(journal),
        apply: (entry) => apply(this.#folded, entry),
        endDamaged: (bytes) => {
          this.#endDamage = bytes;
        },
      },
    });
  }

  /** The newest state. @throws JOURNAL_DAMAGED, UNSUPPORTED_VERSION, STORAGE_FAILED, JOURNAL_CLOSED */
  async read(): Promise<S> {
    if (this.#isClosed) throw this.#error('JOURNAL_CLOSED', 'was closed');
    await this.#journal.refresh();
    return this.#checked();
  }

  /**
   * One change, decided on the newest state: a record, which gets the number `seq`, or none. Durable when it
   * resolves.
   * @throws JOURNAL_DAMAGED, UNSUPPORTED_VERSION, and as `SharedJournal.change`
   */
  change<T>(decide: (state: S, seq: number) => Promise<Decision<JsonObject, T>>): Promise<T> {
    return this.#journal.change(async (_, seq) => decide(await this.#whole(), seq));
  }

  /** See `SharedJournal.extend`. @throws as `change`, and LEASE_LOST */
  extend<T>(work: (state: S, journal: Journal<JsonObject>) => Promise<T>): Promise<T> {
    return this.#journal.extend(async (journal) => work(await this.#whole(), journal));
  }

  /** Maintenance on the newest state. `work` must not append. @throws as `extend` */
  maintain<T>(work: (state: S, journal: Journal<JsonObject>, lease: Lease) => Promise<T>): Promise<T> {
    return this.#journal.maintain(async (journal, lease) => work(await this.#whole(), journal, lease));
  }

  /** Removes records before one that contains their whole content. @throws as `change` */
  removeBefore(seq: number): Promise<void> {
    return this.#journal.maintain((journal) => journal.removeBefore(seq));
  }

  /**
   * The record with a number, and those before it from the cursor on. @throws JOURNAL_DAMAGED if it is
   * missing
   */
  async recordsTo(seq: number, first: number, cursor: Cursor): Promise<Map<number, JsonObject>> {
    const found = new Map<number, JsonObject>();
    const reader = await this.#journal.reader();
    try {
      for await (const entry of reader.read({ after: first - 1, cursor, limit: seq - first + 1 }))
        if (entry.kind === 'record' && entry.seq <= seq) found.set(entry.seq, entry.record);
    } catch (thrown) {
      if (!isRekindleError(thrown, 'INVALID_ARGUMENT')) throw thrown; // its segment was removed
    }
    if (!found.has(seq)) throw this.#damaged(`record ${seq} is missing`);
    return found;
  }

  async #whole(): Promise<S> {
    if (this.#endDamage > 0) throw this.#damaged(`${this.#endDamage} bytes at its end`);
    return this.#checked();
  }

  async #checked(): Promise<S> {
    if (this.#folded.hasGap) await this.#journal.reload();
    return this.#known(this.#folded);
  }

  #known<T>({ unknown, state }: Folded<T>): T {
    if (unknown === null) return state;
    throw this.#error(
      'UNSUPPORTED_VERSION',
      `has a record of an unknown kind, perhaps written by a newer release: ${unknown}`,
    );
  }

  /**
   * All records, read again from the start into another state, so that this one need not keep them.
   * @throws as `read`
   */
  async readInto<T extends JournalState>(state: T): Promise<T> {
    if (this.#isClosed) throw this.#error('JOURNAL_CLOSED', 'was closed');
    const folded = beginning(state);
    await this.#readAll(await this.#journal.reader(), folded);
    return this.#known(folded);
  }

  async #load(journal: Journal<JsonObject>): Promise<JournalHead> {
    const folded = beginning(this.#options.newState());
    const head = await this.#readAll(journal, folded);
    this.#folded = { ...folded, hasGap: false };
    return head;
  }

  async #readAll<T extends JournalState>(
    journal: Journal<JsonObject>,
    folded: Folded<T>,
  ): Promise<JournalHead> {
    let head = JOURNAL_START;
    for await (const entry of journal.read()) {
      if (entry.kind === 'record') {
        apply(folded, entry);
        head = { seq: entry.seq, cursor: entry.cursor, crc: entry.crc };
      } else if (isHarmful(entry)) {
        throw this.#damaged(`${entry.reason} in ${entry.place}, after record ${head.seq}`);
      }
    }
    return head;
  }

  #damaged(problem: string): RekindleError {
    return this.#error('JOURNAL_DAMAGED', `is damaged: ${problem}`);
  }

  #error(code: ErrorCode, problem: string): RekindleError {
    const name = [...this.#options.journal];
    return new RekindleError(code, `${name.join('/')} ${problem}.`, { details: { name, problem } });
  }

  /** Waits for changes in progress. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.#journal.close();
  }
}

function beginning<S>(state: S): Folded<S> {
  return { state, lastSeq: 0, unknown: null, hasGap: false };
}

function apply<S extends JournalState>(folded: Folded<S>, entry: JournalRecord<JsonObject>): void {
  if (entry.seq !== folded.lastSeq + 1) folded.hasGap = true;
  folded.lastSeq = entry.seq;
  if (!folded.state.apply(entry)) folded.unknown ??= entry.seq;
}
