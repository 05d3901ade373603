/**
 * A journal that several processes write, and the state that each of them derives from it.
 *
 * A change waits for its turn (`SharedLease`), applies what others appended, decides on the newest state, appends one
 * record, and applies it. So no change is lost, and no decision is based on old state. Reading needs no turn: it checks
 * whether the journal grew, and applies the new records. A change appends exactly one record, so it is atomic.
 */
import PQueue from 'p-queue';
import { canonicalJson } from '../core/canonical-json.js';
import { isRekindleError, RekindleError } from '../core/errors.js';
import type { JsonObject } from '../core/json.js';
import { assertNotErasing } from './erasure/erasure-marker.js';
import { damagedAtEnd } from './journal-check.js';
import { followFrom, JOURNAL_START } from './journal-position.js';
import type { Journal, JournalHead, JournalRecord, Lease, Name, StorageBackend } from './ports.js';
import { SharedLease } from './shared-lease.js';

/** Derives a state from the records. */
export interface JournalFold<R extends JsonObject> {
  /** Loads the stored state again and returns the last record that it includes. Called first, and if the journal was replaced. */
  load(journal: Journal<R>): Promise<JournalHead>;
  /** Applies the next record, in order. The fold owns the object. */
  apply(entry: JournalRecord<R>): void;
  /** Called before a decision if this many bytes after the last record are damaged: they may have been records. */
  endDamaged?(bytes: number): void;
}

/** The result of a change: a record to append, or none, and what to do once it is durable and applied, in the same turn. */
export interface Decision<R, T> {
  readonly record?: R;
  /**
   * Without a record: makes the state that the decision relied on durable before `done`. A killed process may not have
   * synced it.
   */
  readonly secure?: true;
  done(): Promise<T> | T;
}

export interface SharedJournalOptions<R extends JsonObject> {
  readonly journal: Name;
  readonly lease: Name;
  readonly fold: JournalFold<R>;
  /** See `SharedLeaseOptions.waitMs`. */
  readonly waitMs?: number;
  /** See `JournalOptions.segmentBytes`. */
  readonly segmentBytes?: number;
}

/** A decision whose append failed because the lease was lost. The new owner may have read its record before that. */
interface Unsure<R, T> {
  readonly decision: Decision<R, T>;
  readonly record: R;
  /** The record's number, if it was read. */
  readonly seq: number;
}

/** A new owner takes over only seconds later, so its record at this place has another time, and so other content. */
async function isThere<R extends JsonObject, T>(
  journal: Journal<R>,
  { record, seq }: Unsure<R, T>,
): Promise<boolean> {
  for await (const entry of journal.readBackward()) {
    if (entry.kind !== 'record' || entry.seq > seq) continue;
    return entry.seq === seq && canonicalJson(entry.record) === canonicalJson(record);
  }
  return false;
}

/** A lease that is lost again and again means that this process is suspended for seconds at a time. */
const LOST_MAX = 5;

export class SharedJournal<R extends JsonObject> {
  readonly #backend: StorageBackend;
  readonly #options: SharedJournalOptions<R>;
  readonly #turns: SharedLease;
  /** Applies records one at a time. */
  readonly #folding = new PQueue({ concurrency: 1 });
  readonly #watches = new Set<() => Promise<void>>();
  #lastLook: Promise<void> = Promise.resolve();
  #nextLook: Promise<void> | null = null;
  #head: JournalHead | null = null;
  #reader: Promise<Journal<R>> | null = null;
  #writer: Journal<R> | null = null;
  /** The journal may contain an append of this process whose outcome is unknown. */
  #mayBeBehind = false;

  constructor(backend: StorageBackend, options: SharedJournalOptions<R>) {
    this.#backend = backend;
    this.#options = options;
    this.#turns = new SharedLease(backend.leases, options.lease, {
      onEnd: () => this.#closeWriter(),
      ...(options.waitMs === undefined ? {} : { waitMs: options.waitMs }),
    });
  }

  /** The last record that the state includes. */
  get head(): JournalHead {
    return this.#head ?? JOURNAL_START;
  }

  /** Applies new records. Writes nothing. A call during a running refresh shares the next one, never the running one. */
  refresh(): Promise<void> {
    if (!this.#nextLook) {
      const begin = () => {
        this.#nextLook = null;
        return this.#look();
      };
      const look = this.#lastLook.then(begin);
      this.#nextLook = look;
      this.#lastLook = look.catch(() => {}); // reported to its callers
    }
    return this.#nextLook;
  }

  async #look(): Promise<void> {
    if (this.#writer && (await this.#turns.holds())) return; // no other process can have written since it caught up
    const reader = await this.reader();
    await this.#catchUp(reader);
  }

  /** From now on, changes by other processes are applied without a call. The returned function stops it. */
  async watch(): Promise<() => Promise<void>> {
    const { journal } = this.#options;
    const name = journal.at(-1) ?? '';
    const stop = await this.#backend.watch(journal.slice(0, -1), ({ path }) => {
      if (path.startsWith(name)) void this.refresh().catch(() => {}); // reported by the next call
    });
    const end = async () => {
      this.#watches.delete(end);
      await stop();
    };
    this.#watches.add(end);
    try {
      await this.refresh();
      return end;
    } catch (thrown) {
      await end();
      throw thrown;
    }
  }

  /** For reading history. */
  reader(): Promise<Journal<R>> {
    if (!this.#reader) {
      const opened = this.#backend.openJournal<R>(this.#options.journal, { readOnly: true });
      this.#reader = opened;
      opened.catch(() => (this.#reader = null)); // the next call tries again
    }
    return this.#reader;
  }

  /**
   * Makes one change. `decide` gets the number that its record will have, and sees the newest state. It may run again
   * if the lease was lost before its record was appended. If it throws, the error is passed on and nothing is written.
   * Durable when it resolves.
   * @throws LEASE_HELD, JOURNAL_OUTCOME_UNKNOWN, STORAGE_FULL, STORAGE_FAILED
   */
  async change<T>(decide: (attempt: number, seq: number) => Promise<Decision<R, T>>): Promise<T> {
    const written: { unsure: Unsure<R, T> | null } = { unsure: null };
    for (let attempt = 1; ; attempt += 1) {
      let appended = false;
      try {
        return await this.#turns.run(async (lease) => {
          const decision = await this.#decide(lease, (seq) => decide(attempt, seq), written);
          appended = decision.record !== undefined;
          return decision.done();
        });
      } catch (thrown) {
        if (!appended && isRekindleError(thrown, 'LEASE_LOST') && attempt < LOST_MAX) continue;
        if (appended || !written.unsure) throw thrown;
        throw new RekindleError(
          'JOURNAL_OUTCOME_UNKNOWN',
          'The lease was lost while a change was being written.',
          {
            details: { name: [...this.#options.journal] },
            cause: thrown,
          },
        );
      }
    }
  }

  /** Runs maintenance of the journal in turn, on the newest state; appends wait. `work` must not append. @throws as `change` */
  async maintain<T>(work: (journal: Journal<R>, lease: Lease) => Promise<T>): Promise<T> {
    return this.#turns.run(async (lease) => work((this.#writer ??= await this.#openWriter(lease)), lease));
  }

  /**
   * Runs work that appends several records itself, in turn, on the newest state. They are applied before the turn ends.
   * Each append begins a new segment, so that the records before it can be removed. Readers see a part of the records
   * if it fails: the fold must not use them without the last one. @throws as `change`, and LEASE_LOST
   */
  extend<T>(work: (journal: Journal<R>) => Promise<T>): Promise<T> {
    return this.#turns.run(async (lease) => {
      await this.#closeWriter();
      const writer = (this.#writer = await this.#openWriter(lease, 1));
      try {
        const result = await work(writer);
        await this.#catchUp(writer);
        return result;
      } finally {
        await this.#closeWriter(); // the next one catches up, also after a failure
      }
    });
  }

  /** Runs work that removes the journal, in turn; later calls start again from nothing. @throws as `change` */
  replaced<T>(work: (lease: Lease) => Promise<T>): Promise<T> {
    return this.#turns.run(async (lease) => {
      await this.#closeWriter();
      try {
        return await work(lease);
      } finally {
        const reader = this.#reader;
        this.#reader = null;
        await (await reader?.catch(() => null))?.close();
        this.#head = null;
      }
    });
  }

  /** Rebuilds the state from what is stored: for a fold that now reads records in another way. */
  async reload(): Promise<void> {
    const journal = this.#writer ?? (await this.reader());
    await this.#folding.add(async () => {
      this.#head = null;
      this.#head = await this.#options.fold.load(journal);
    });
  }

  async #decide<T>(
    lease: Lease,
    decide: (seq: number) => Promise<Decision<R, T>>,
    written: { unsure: Unsure<R, T> | null },
  ): Promise<Decision<R, T>> {
    const writer = (this.#writer ??= await this.#openWriter(lease));
    if (this.#mayBeBehind) await this.#catchUp(writer);
    this.#mayBeBehind = false;
    const { unsure } = written;
    if (unsure && (await isThere(writer, unsure))) return unsure.decision;
    written.unsure = null;
    // The journal's own head, because damaged records at its end have numbers too.
    const seq = (await writer.head()).seq + 1;
    const decision = await decide(seq);
    const record = decision.record && (this.#backend.redactor?.json(decision.record) ?? decision.record);
    if (record !== undefined) {
      written.unsure = { decision, record, seq };
      await this.#append(writer, record, written);
    } else {
      if (decision.secure) await writer.secure();
      await lease.check(); // an append checks the lease: the state was the newest until now
    }
    return decision;
  }

  /** Opens a writer that has caught up: no change may be decided on a state that could not be read. */
  async #openWriter(lease: Lease, segmentBytes = this.#options.segmentBytes): Promise<Journal<R>> {
    const { journal } = this.#options;
    await assertNotErasing(this.#backend, journal);
    const size = segmentBytes === undefined ? {} : { segmentBytes };
    const writer = await this.#backend.openJournal<R>(journal, { lease, ...size });
    try {
      await this.#catchUp(writer);
      this.#options.fold.endDamaged?.(await damagedAtEnd(writer));
      return writer;
    } catch (thrown) {
      await writer.close().catch(() => {}); // the first error is the one to report
      throw thrown;
    }
  }

  async #append(
    writer: Journal<R>,
    record: R,
    written: { unsure: { readonly seq: number } | null },
  ): Promise<void> {
    const expectedSeq = (written.unsure?.seq ?? 1) - 1;
    const { seq, cursor, crc } = await writer.append([record], { expectedSeq }).catch((thrown: unknown) => {
      if (isRekindleError(thrown, 'JOURNAL_OUTCOME_UNKNOWN')) this.#mayBeBehind = true;
      // Other errors say themselves what happened to the record.
      if (!isRekindleError(thrown, 'LEASE_LOST')) written.unsure = null;
      // Another process appended, so it has the lease.
      if (isRekindleError(thrown, 'JOURNAL_CONFLICT')) throw lost(this.#options.journal, thrown);
      throw thrown;
    });
    await this.#folding.add(async () => {
      // A concurrent refresh has applied it already.
      if (seq <= this.head.seq) return;
      this.#options.fold.apply({ kind: 'record', seq, record, cursor, crc });
      this.#head = { seq, cursor, crc };
    });
  }

  #catchUp(journal: Journal<R>): Promise<void> {
    return this.#folding.add(async () => {
      const known = this.#head;
      try {
        this.#head =
          (known && (await this.#applyAfter(journal, known))) ?? (await this.#options.fold.load(journal));
      } catch (thrown) {
        this.#head = null; // after a partial failure everything is loaded again
        throw thrown;
      }
    });
  }

  /**
   * The new end. Null if the journal no longer contains what the state was derived from: it was repaired, or is another
   * journal.
   */
  async #applyAfter(journal: Journal<R>, known: JournalHead): Promise<JournalHead | null> {
    const head = await journal.head();
    if (head.seq === known.seq && head.crc === known.crc) return known;
    if (head.seq <= known.seq || (known.seq > 0 && known.cursor === null)) return null;
    return followFrom(journal, known, (entry) => this.#options.fold.apply(entry));
  }

  async #closeWriter(): Promise<void> {
    const writer = this.#writer;
    this.#writer = null;
    await writer?.close();
  }

  /** Waits for running changes. */
  async close(): Promise<void> {
    for (const end of this.#watches) await end();
    await this.#turns.close();
    await this.#folding.onIdle();
    await (await this.#reader?.catch(() => null))?.close();
    this.#reader = null;
  }
}

function lost(journal: Name, cause: unknown): RekindleError {
  return new RekindleError('LEASE_LOST', `Another process has written to ${journal.join('/')}.`, {
    details: { name: [...journal] },
    cause,
  });
}
