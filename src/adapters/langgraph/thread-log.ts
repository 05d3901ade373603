/** The journal of one thread, and its index. */
import { RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { erasePlaces } from '../../storage/erasure/erase-places.js';
import type { Blobs, Name, StorageBackend } from '../../storage/ports.js';
import { WholeJournal } from '../whole-journal.js';
import { ThreadIndex } from './thread-index.js';
import { decodeThreadRecord, type ThreadRecord } from './thread-record.js';

/** A record to append, and a callback with its number once it is durable. */
export interface Addition {
  readonly record: ThreadRecord;
  readonly added?: (seq: number) => void;
}

export class ThreadLog {
  readonly blobs: Blobs;
  readonly journal: WholeJournal<ThreadIndex>;
  readonly #name: Name;

  constructor(backend: StorageBackend, folder: Name) {
    const { journal, lease, values } = namesOf(folder);
    this.#name = journal;
    this.blobs = backend.blobs(values);
    this.journal = new WholeJournal(backend, { journal, lease, newState: () => new ThreadIndex() });
  }

  /** The newest state. @throws JOURNAL_DAMAGED, UNSUPPORTED_VERSION */
  read(): Promise<ThreadIndex> {
    return this.journal.read();
  }

  /**
   * Appends one record, decided on the newest state; null: nothing to write. Durable when it resolves.
   * @throws as `WholeJournal.change`
   */
  append(threadId: string, decide: (index: ThreadIndex) => Promise<Addition | null>): Promise<void> {
    return this.journal.change(async (index, seq) => {
      const addition = await decide(index);
      if (!addition) return { secure: true, done: () => {} };
      const { record, added } = addition;
      const first = index.thread === null ? { thread: threadId } : {};
      return { record: { ...first, ...record } as unknown as JsonObject, done: () => added?.(seq) };
    });
  }

  /** Records of the index by number. @throws JOURNAL_DAMAGED if one is missing */
  async records(index: ThreadIndex, numbers: Iterable<number>): Promise<Map<number, ThreadRecord>> {
    const found = new Map<number, ThreadRecord>();
    for (const seq of new Set(numbers)) found.set(seq, await this.record(index, seq));
    return found;
  }

  /**
   * @param before number of preceding records to read with it, because they are needed next @throws
   * JOURNAL_DAMAGED if it is missing
   */
  async record(index: ThreadIndex, seq: number, before = 0): Promise<ThreadRecord> {
    const recent = index.recent.get(seq);
    if (recent) return recent;
    let first = Math.max(1, seq - before);
    while (first < seq && !index.cursorOf(first)) first += 1; // a repair dropped it
    const cursor = index.cursorOf(first);
    if (!cursor) throw this.notThere(seq);
    const found = new Map<number, ThreadRecord>();
    for (const [number, row] of await this.journal.recordsTo(seq, first, cursor)) {
      const record = decodeThreadRecord(row);
      if (!record) throw this.notThere(number);
      found.set(number, record);
      index.recent.add(number, record);
    }
    return found.get(seq)!;
  }

  /** The error for a missing record, or one that differs from the index. */
  notThere(seq: number): RekindleError {
    const name = [...this.#name];
    const text = `Record ${seq} of ${name.join('/')} has changed, or is missing.`;
    return new RekindleError('JOURNAL_DAMAGED', text, { details: { name, seq } });
  }

  close(): Promise<void> {
    return this.journal.close();
  }
}

/** The same wait as for other changes of a thread. */
const WAIT_MS = 15_000;

/** Erases a thread. Its lease must stay, so that a suspended writer cannot return. @throws LEASE_HELD */
export async function removeThread(backend: StorageBackend, folder: Name, thread: string): Promise<void> {
  const plan = { target: { thread }, lease: namesOf(folder).lease, trees: [folder] };
  await erasePlaces(backend, plan, { quick: true, waitMs: WAIT_MS });
}

function namesOf(folder: Name): { readonly journal: Name; readonly lease: Name; readonly values: Name } {
  return {
    journal: [...folder, 'checkpoints'],
    lease: [...folder, 'lease'],
    values: [...folder, 'values'],
  };
}
