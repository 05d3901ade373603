/** The memory of an agent as it was after one of its records. For reading: it takes no lease and writes nothing. */
import type { JsonObject } from '../../core/json.js';
import type { Message } from '../../messages/message.js';
import { assertNotErasing } from '../../storage/erasure/erasure-marker.js';
import { ForwardingJournal } from '../../storage/forwarding-journal.js';
import { JOURNAL_START } from '../../storage/journal-position.js';
import type { Journal, JournalEntry, JournalHead, ReadOptions, StorageBackend } from '../../storage/ports.js';
import { MemoryManager } from '../memory-manager.js';
import { WorkingContextSnapshotBootstrapper } from '../restore/working-context-snapshot-bootstrapper.js';
import { type MemoryJournalName, MemoryStore } from '../store/memory-store.js';
import { WorkingContextSnapshotStore } from '../store/working-context-snapshot-store.js';
import type { Moment } from './moment.js';

/**
 * Restores the context that an agent had after a record. A call without a result there gets the result that the agent recorded later, or
 * else what the ledger knows today, so that nothing runs twice.
 * @param look called while the memory is open
 * @throws as a restore
 */
export async function restoreAt<T>(
  backend: StorageBackend,
  moment: Moment,
  look: (memory: MemoryManager, messages: Message[]) => Promise<T> | T,
): Promise<T> {
  await assertNotErasing(backend, ['agents', moment.agentId]);
  const store = await StoreAt.open(backend, moment);
  const snapshotStore = new WithoutCache(backend, moment.agentId);
  const memory = new MemoryManager({ store, snapshotStore, compactor: null, recall: null });
  try {
    const options = { keepPendingApprovals: false };
    await new WorkingContextSnapshotBootstrapper().bootstrap(memory, null, options);
    return await look(memory, memory.getWorkingContextMessages());
  } finally {
    await memory.close();
  }
}

/** The cache shows the newest context, not an older one. */
class WithoutCache extends WorkingContextSnapshotStore {
  override async load(): Promise<null> {
    return null;
  }
}

class StoreAt extends MemoryStore {
  readonly #moment: Moment;
  /** Later results of calls that were open at the moment, by their record. */
  #outcomes: ReadonlySet<number> = new Set();

  private constructor(backend: StorageBackend, moment: Moment) {
    super(backend, moment.agentId, null);
    this.#moment = moment;
  }

  static async open(backend: StorageBackend, moment: Moment): Promise<StoreAt> {
    const store = new StoreAt(backend, moment);
    store.#outcomes = await outcomesAfter(await store.#whole('raw_traces'), moment.record);
    return store;
  }

  #whole(name: MemoryJournalName): Promise<Journal<JsonObject>> {
    return super.journal(name);
  }

  override async journal(name: MemoryJournalName): Promise<Journal<JsonObject>> {
    const journal = await this.#whole(name);
    if (name === 'pending_calls') return journal;
    const isBefore = accepts(name, this.#moment);
    const outcomes = name === 'raw_traces' ? this.#outcomes : new Set();
    return new JournalAt(journal, (seq, row) => isBefore(seq, row) || outcomes.has(seq));
  }
}

/** Results after a record, for calls before it that have none there. Calls are open in the newest turn only. */
async function outcomesAfter(journal: Journal<JsonObject>, record: number): Promise<Set<number>> {
  const open = await openCallsAt(journal, record);
  const found = new Set<number>();
  if (open.size === 0) return found;
  for await (const entry of journal.read({ after: record })) {
    if (entry.kind !== 'record' || entry.record['trace_type'] !== 'tool_result') continue;
    if (open.delete(callOf(entry.record))) found.add(entry.seq);
    if (open.size === 0) break;
  }
  return found;
}

async function openCallsAt(journal: Journal<JsonObject>, record: number): Promise<Set<string>> {
  const answered = new Set<string>();
  const open = new Set<string>();
  let turn: string | null = null;
  for await (const entry of journal.readBackward()) {
    if (entry.kind !== 'record' || entry.seq > record) continue;
    const { trace_type: type, turn_id: turnId } = entry.record;
    if (typeof turnId !== 'string' || turnId === '') continue;
    turn ??= turnId;
    if (turnId !== turn) break;
    if (type === 'tool_result') answered.add(callOf(entry.record));
    if (type === 'tool_call' && !answered.has(callOf(entry.record))) open.add(callOf(entry.record));
  }
  return open;
}

function callOf(row: JsonObject): string {
  return JSON.stringify([row['turn_id'], row['tool_call_id']]);
}

type Accepts = (seq: number, record: JsonObject) => boolean;

/** Summaries and facts have no number of a trace, so their time decides. */
function accepts(name: MemoryJournalName, { record, ms }: Moment): Accepts {
  switch (name) {
    case 'raw_traces':
      return (seq) => seq <= record;
    case 'episodic':
    case 'semantic':
      return (_, { ts }) => typeof ts !== 'number' || ts * 1000 <= ms;
    default:
      return () => false; // parts of answers and inputs that wait belong to the present
  }
}

/** A journal up to a point: later records and later damage are left out. */
class JournalAt extends ForwardingJournal<JsonObject> {
  readonly #accepts: Accepts;

  constructor(inner: Journal<JsonObject>, accepts: Accepts) {
    super(inner);
    this.#accepts = accepts;
  }

  override async *read(options?: ReadOptions): AsyncGenerator<JournalEntry<JsonObject>> {
    const later: JournalEntry<JsonObject>[] = []; // damage, until a record after it shows that it comes before the end
    for await (const entry of this.inner.read(options)) {
      if (entry.kind !== 'record') later.push(entry);
      else if (this.#accepts(entry.seq, entry.record)) {
        yield* later.splice(0);
        yield entry;
      }
    }
  }

  override async *readBackward(): AsyncGenerator<JournalEntry<JsonObject>> {
    let isReached = false;
    for await (const entry of this.inner.readBackward()) {
      const accepted: boolean = entry.kind === 'record' ? this.#accepts(entry.seq, entry.record) : isReached;
      isReached ||= accepted;
      if (accepted) yield entry;
    }
  }

  override async head(): Promise<JournalHead> {
    for await (const entry of this.readBackward())
      if (entry.kind === 'record') return { seq: entry.seq, cursor: entry.cursor, crc: entry.crc };
    return JOURNAL_START;
  }

  override openingDamage() {
    return [];
  }
}
