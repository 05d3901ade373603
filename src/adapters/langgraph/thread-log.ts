/** The journal of one thread, and its index. */
import { RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { erasePlaces } from '../../storage/erasure/erase-places.js';
import type { Blobs, Name, StorageBackend } from '../../storage/ports.js';
import { ThreadIndex } from './thread-index.js';
import { decodeThreadRecord, type ThreadRecord } from './thread-record.js';
import { WholeJournal } from './whole-journal.js';

/** A record to append, and what follows when it is durable and has its number. */
export interface Addition {
  readonly record: ThreadRecord;
  readonly added?: (seq: number) => void;
}

export class ThreadLog {
  readonly blobs: Blobs;
  readonly #name: Name;
  readonly #journal: WholeJournal<ThreadIndex>;

  constructor(backend: StorageBackend, folder: Name) {
    const { journal, lease, values } = namesOf(folder);
    this.#name = journal;
    this.blobs = backend.blobs(values);
    this.#journal = new WholeJournal(backend, { journal, lease, newState: () => new ThreadIndex() });
  }

  /** The newest state. @throws JOURNAL_DAMAGED, UNSUPPORTED_VERSION */
  read(): Promise<ThreadIndex> {
    return this.#journal.read();
  }

  /** One record, decided on the newest state; null: nothing is to be written. Durable when it resolves. @throws as `WholeJournal.change` */
  append(threadId: string, decide: (index: ThreadIndex) => Promise<Addition | null>): Promise<void> {
    return this.#journal.change(async (index, seq) => {
      const addition = await decide(index);
      if (!addition) return { secure: true, done: () => {} };
      const { record, added } = addition;
      const first = index.thread === null ? { thread: threadId } : {};
      return { record: { ...first, ...record } as unknown as JsonObject, done: () => added?.(seq) };
    });
  }

  /** Records that the index names, by their numbers. @throws JOURNAL_DAMAGED when one is not there any more */
  async records(index: ThreadIndex, numbers: Iterable<number>): Promise<Map<number, ThreadRecord>> {
    const found = new Map<number, ThreadRecord>();
    for (const seq of new Set(numbers)) found.set(seq, await this.record(index, seq));
    return found;
  }

  /** @param before so many records before it are read with it, because they are asked for next @throws JOURNAL_DAMAGED when it is not there any more */
  async record(index: ThreadIndex, seq: number, before = 0): Promise<ThreadRecord> {
    const recent = index.recent.get(seq);
    if (recent) return recent;
    let first = Math.max(1, seq - before);
    while (first < seq && !index.cursorOf(first)) first += 1; // a repair left it out
    const cursor = index.cursorOf(first);
    if (!cursor) throw this.notThere(seq);
    const found = new Map<number, ThreadRecord>();
    for (const [number, row] of await this.#journal.recordsTo(seq, first, cursor)) {
      const record = decodeThreadRecord(row);
      if (!record) throw this.notThere(number);
      found.set(number, record);
      index.recent.add(number, record);
    }
    return found.get(seq)!;
  }

  /** A record, or what the index says of it. */
  notThere(seq: number): RekindleError {
    const name = [...this.#name];
    const text = `Record ${seq} of ${name.join('/')} is not what it was, or is gone.`;
    return new RekindleError('JOURNAL_DAMAGED', text, { details: { name, seq } });
  }

  close(): Promise<void> {
    return this.#journal.close();
  }
}

/** As other changes of a thread wait. */
const WAIT_MS = 15_000;

/** Erases a thread. Its lease stays, as it has to: a writer that was stopped must not come back. @throws LEASE_HELD */
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
