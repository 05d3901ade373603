/**
 * A journal that several processes write, and the state that each of them makes of it.
 *
 * A change takes its turn (`SharedLease`), catches up with what others appended, decides on the newest state, appends one record,
 * and applies it: so no change is lost, and a decision is never made on old state. Reading takes no turn: it looks whether the
 * journal grew, and applies what is new. What a change appends is one record, so it is there as a whole or not at all.
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

/** What makes a state of the records. */
export interface JournalFold<R extends JsonObject> {
  /** Begins anew from what is stored, and tells the last record that the state holds. Called at first, and when the journal is another one. */
  load(journal: Journal<R>): Promise<JournalHead>;
  /** The next record, in order. The object is the fold's own. */
  apply(entry: JournalRecord<R>): void;
  /** Before a change is decided on: so many bytes after the last record are damaged, and may have been records. */
  endDamaged?(bytes: number): void;
}

/** What a change came to: a record to append, or none; and what follows when it is durable and applied, still in the same turn. */
export interface Decision<R, T> {
  readonly record?: R;
  /** Without a record: what was decided on is made durable before `done`. A killed process may have left it un-synced. */
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

/** A decision whose append failed because the lease was lost: whoever took over may have read its record before that. */
interface Unsure<R, T> {
  readonly decision: Decision<R, T>;
  readonly record: R;
  /** The number that it has, if it was read. */
  readonly seq: number;
}

/** Whoever took over did so seconds later, so no record of theirs has the same content at this place: it has another time. */
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

/** A lease that is lost again and again means that this process is stopped for seconds at a time. */
const LOST_MAX = 5;

export class SharedJournal<R extends JsonObject> {
  readonly #backend: StorageBackend;
  readonly #options: SharedJournalOptions<R>;
  readonly #turns: SharedLease;
  /** Records are applied by one at a time. */
  readonly #folding = new PQueue({ concurrency: 1 });
  readonly #watches = new Set<() => Promise<void>>();
  #lastLook: Promise<void> = Promise.resolve();
  #nextLook: Promise<void> | null = null;
  #head: JournalHead | null = null;
  #reader: Promise<Journal<R>> | null = null;
  #writer: Journal<R> | null = null;
  /** An append of this process, whose end is unknown, may be in the journal. */
  #mayBeBehind = false;

  constructor(backend: StorageBackend, options: SharedJournalOptions<R>) {
    this.#backend = backend;
    this.#options = options;
    this.#turns = new SharedLease(backend.leases, options.lease, {
      onEnd: () => this.#closeWriter(),
      ...(options.waitMs === undefined ? {} : { waitMs: options.waitMs }),
    });
  }

  /** The last record that the state holds. */
  get head(): JournalHead {
    return this.#head ?? JOURNAL_START;
  }

  /** Brings the state up to date. Writes nothing. Who asks while one look is under way shares the next one, never that one. */
  refresh(): Promise<void> {
    if (!this.#nextLook) {
      const begin = () => {
        this.#nextLook = null;
        return this.#look();
      };
      const look = this.#lastLook.then(begin);
      this.#nextLook = look;
      this.#lastLook = look.catch(() => {}); // told to those who wait for it
    }
    return this.#nextLook;
  }

  async #look(): Promise<void> {
    if (this.#writer && (await this.#turns.holds())) return; // nobody else can have written since it caught up
    const reader = await this.reader();
    await this.#catchUp(reader);
  }

  /** From now on changes by other processes are noticed by themselves: `fold.apply` is called. The returned function ends it. */
  async watch(): Promise<() => Promise<void>> {
    const { journal } = this.#options;
    const name = journal.at(-1) ?? '';
    const stop = await this.#backend.watch(journal.slice(0, -1), ({ path }) => {
      if (path.startsWith(name)) void this.refresh().catch(() => {}); // told by the next call
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

  /** For looking back. */
  reader(): Promise<Journal<R>> {
    if (!this.#reader) {
      const opened = this.#backend.openJournal<R>(this.#options.journal, { readOnly: true });
      this.#reader = opened;
      opened.catch(() => (this.#reader = null)); // the next call tries again
    }
    return this.#reader;
  }

  /**
   * One change. `decide` sees the newest state, and the number that its record will have; it may run again, when the right to write was
   * lost before its record was appended.
   * What it throws is thrown, and nothing is written. Durable when it resolves.
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
          'The right to write was lost while a change was written.',
          {
            details: { name: [...this.#options.journal] },
            cause: thrown,
          },
        );
      }
    }
  }

  /** Work on the journal itself, in turn, on the newest state; appends wait. It must not append. @throws as `change` */
  async maintain<T>(work: (journal: Journal<R>, lease: Lease) => Promise<T>): Promise<T> {
    return this.#turns.run(async (lease) => work((this.#writer ??= await this.#openWriter(lease)), lease));
  }

  /** Work that takes the journal away, in turn: what is asked for later begins anew. @throws as `change` */
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

  /** Makes the state anew of what is stored: for a fold that reads records in another way than before. */
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
    // The journal's own: what is damaged at its end has numbers, too.
    const seq = (await writer.head()).seq + 1;
    const decision = await decide(seq);
    const { record } = decision;
    if (record !== undefined) {
      written.unsure = { decision, record, seq };
      await this.#append(writer, record, written);
    } else {
      if (decision.secure) await writer.secure();
      await lease.check(); // an append does: what was decided on is the newest until now
    }
    return decision;
  }

  /** One that has caught up: no change may be decided on a state that could not be read. */
  async #openWriter(lease: Lease): Promise<Journal<R>> {
    const { journal, segmentBytes } = this.#options;
    await assertNotErasing(this.#backend, journal);
    const size = segmentBytes === undefined ? {} : { segmentBytes };
    const writer = await this.#backend.openJournal<R>(journal, { lease, ...size });
    try {
      await this.#catchUp(writer);
      this.#options.fold.endDamaged?.(await damagedAtEnd(writer));
      return writer;
    } catch (thrown) {
      await writer.close().catch(() => {}); // the first error is the one to tell
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
      // Any other error says by itself what became of the record.
      if (!isRekindleError(thrown, 'LEASE_LOST')) written.unsure = null;
      // Somebody else appended, so the lease is theirs.
      if (isRekindleError(thrown, 'JOURNAL_CONFLICT')) throw lost(this.#options.journal, thrown);
      throw thrown;
    });
    await this.#folding.add(async () => {
      // Whoever was reading just then has applied it already.
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
        this.#head = null; // what fails half-way is loaded anew
        throw thrown;
      }
    });
  }

  /** The new end. Null when the journal does not hold what the state was made of: it was repaired, or is another one. */
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

  /** Lets changes under way finish. */
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
