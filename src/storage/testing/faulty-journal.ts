/** A journal whose calls go through a fault plan; see `faultyStorage`. */
import { RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import type {
  AppendOptions,
  AppendResult,
  Journal,
  JournalEntry,
  JournalHead,
  Name,
  ReadOptions,
  SegmentRepair,
} from '../ports.js';
import type { FaultyCalls } from './faulty-calls.js';
import type { FaultyLease } from './faulty-lease.js';
import type { StorageOperation } from './storage-fault.js';

export class FaultyJournal<R extends JsonObject> implements Journal<R> {
  readonly #inner: Journal<R>;
  readonly #calls: FaultyCalls;
  readonly #name: Name;
  /** Null: the journal only reads, or has its own lease. */
  readonly #lease: FaultyLease | null;
  /** Set once the plan took its lease away. */
  #lost: RekindleError | null = null;

  constructor(inner: Journal<R>, calls: FaultyCalls, name: Name, lease: FaultyLease | null) {
    this.#inner = inner;
    this.#calls = calls;
    this.#name = name;
    this.#lease = lease;
  }

  append(records: readonly R[], options?: AppendOptions): Promise<AppendResult> {
    return this.#write('journal.append', () => this.#inner.append(records, options));
  }

  archiveBefore(seq: number): Promise<void> {
    return this.#write('journal.archiveBefore', () => this.#inner.archiveBefore(seq));
  }

  removeBefore(seq: number): Promise<void> {
    return this.#write('journal.removeBefore', () => this.#inner.removeBefore(seq));
  }

  secure(): Promise<void> {
    return this.#write('journal.secure', () => this.#inner.secure());
  }

  repair(): Promise<SegmentRepair[]> {
    return this.#write('journal.repair', () => this.#inner.repair());
  }

  erase(seqs: readonly number[]): Promise<number> {
    return this.#write('journal.erase', () => this.#inner.erase(seqs));
  }

  continueAfter(seq: number): Promise<void> {
    return this.#write('journal.continueAfter', () => this.#inner.continueAfter(seq));
  }

  #write<T>(operation: StorageOperation, carryOut: () => Promise<T>): Promise<T> {
    const unlessLost = () => {
      this.#lease?.lost.throwIfAborted();
      if (this.#lost) throw this.#lost;
      return carryOut();
    };
    return this.#calls.run(operation, this.#name, unlessLost, { loseLease: () => this.#lose() });
  }

  async #lose(): Promise<RekindleError> {
    if (this.#lease) return this.#lease.lose();
    const label = this.#name.join('/');
    this.#lost ??= new RekindleError('LEASE_LOST', `The lease of ${label} was taken over.`, {
      details: { name: label },
    });
    return this.#lost;
  }

  read(options?: ReadOptions): AsyncIterable<JournalEntry<R>> {
    return this.#calls.iterate('journal.read', this.#name, () => this.#inner.read(options));
  }

  readBackward(): AsyncIterable<JournalEntry<R>> {
    return this.#calls.iterate('journal.readBackward', this.#name, () => this.#inner.readBackward());
  }

  head(): Promise<JournalHead> {
    return this.#calls.run('journal.head', this.#name, () => this.#inner.head());
  }

  openingDamage(): ReturnType<Journal<R>['openingDamage']> {
    return this.#inner.openingDamage();
  }

  /** Closes it without asking the plan. */
  letGo(): Promise<void> {
    return this.#inner.close();
  }

  close(): Promise<void> {
    return this.#calls.run('journal.close', this.#name, () => this.#inner.close(), { ends: true });
  }
}
