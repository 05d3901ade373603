/**
 * The journals of one agent: raw traces, episodic and semantic items. All writes use one lease.
 *
 * The long-term journals are opened on first use: most turns need only the traces.
 */
import { RekindleError } from '../../core/errors.js';
import { type JsonObject, textOr } from '../../core/json.js';
import type {
  AppendResult,
  Blobs,
  Journal,
  JournalDamage,
  Lease,
  StorageBackend,
} from '../../storage/ports.js';
import { AgentFacts } from '../facts/agent-facts.js';
import { markOf, namedIds, rowId } from '../facts/fact-mark.js';
import { FactTable, standingOf, withReplaced } from '../facts/fact-table.js';
import { keepFacts } from '../facts/keep-facts.js';
import type { SubjectFacts } from '../facts/subject-facts.js';
import { headerRow, readerNeededBy, withHeader } from '../models/journal-header.js';
import {
  type EpisodicItem,
  episodicFromJson,
  episodicToJson,
  type SemanticItem,
  semanticToJson,
} from '../models/memory-items.js';
import { GivenArguments } from './given-arguments.js';
import { storageAt } from './storage-at.js';

export type MemoryJournalName =
  | 'raw_traces'
  | 'episodic'
  | 'semantic'
  | 'pending_calls'
  | 'answer_parts'
  | 'inputs';
export const MEMORY_JOURNALS: readonly MemoryJournalName[] = [
  'raw_traces',
  'episodic',
  'semantic',
  'pending_calls',
  'answer_parts',
  'inputs',
];
/** Of `inputs`: old ones are removed in pieces of this size. */
const INPUT_SEGMENT_BYTES = 256 * 1024;

/** `records`: how many were written, including a header if one was needed. */
export interface AddedTraces extends AppendResult {
  readonly records: number;
}

/**
 * Reads and writes the journals of one agent. `openMemory` creates one that writes. One made for a base folder reads only: it has no lease,
 * so a write rejects with JOURNAL_CLOSED, and another process may write meanwhile.
 * ```ts
 * const memory = new MemoryManager({ store: new MemoryStore('memory', 'desk') });
 * await new WorkingContextSnapshotBootstrapper().bootstrap(memory, null);
 * await memory.close(); // closes the store, too
 * ```
 */
export class MemoryStore {
  readonly backend: StorageBackend;
  readonly agentId: string;
  /** Null in a read-only store. */
  readonly lease: Lease | null;
  /** The arguments of calls that this process recorded. */
  readonly given: GivenArguments;
  /** The agent's own facts, from its `semantic` journal. */
  readonly facts = new AgentFacts(() => this.journal('semantic'));
  /** The facts of its scope; null for an agent without one. Closed with the store. */
  readonly subject: SubjectFacts | null;
  readonly #isOwn: boolean;
  readonly #journals = new Map<MemoryJournalName, Promise<Journal<JsonObject>>>();
  #declared = 0;
  #declaring: Promise<void> | null = null;
  /** What would have been written, in a read-only store. */
  readonly #held = { episodic: [] as EpisodicItem[], semantic: [] as SemanticItem[] };

  /**
   * For reading: nothing is created or changed.
   * @param place a base folder, or another address, as `openStorage` takes it. `close` closes what this opens
   * @throws INVALID_ARGUMENT for an address that is not known
   */
  constructor(place: string, agentId: string);
  /** @param lease the right to write; null opens everything for reading and changes nothing */
  constructor(backend: StorageBackend, agentId: string, lease: Lease | null, subject?: SubjectFacts | null);
  constructor(
    place: StorageBackend | string,
    agentId: string,
    lease: Lease | null = null,
    subject: SubjectFacts | null = null,
  ) {
    const { backend, isOwn } = storageAt(place);
    this.backend = backend;
    this.#isOwn = isOwn;
    this.given = new GivenArguments(backend.redactor ?? null);
    this.agentId = agentId;
    this.lease = lease;
    this.subject = subject;
  }

  get readOnly(): boolean {
    return this.lease === null;
  }

  /** @throws JOURNAL_CLOSED in a read-only store */
  assertWritable(): void {
    if (!this.readOnly) return;
    const what = 'To write, open it with openMemory(storage, agentId), which takes the lease.';
    throw new RekindleError('JOURNAL_CLOSED', `The memory was opened for reading only. ${what}`, {
      details: { agentId: this.agentId },
    });
  }

  /** The store of the context's whole texts and media. */
  get artifacts(): Blobs {
    return this.backend.blobs(['agents', this.agentId, 'artifacts']);
  }

  journal(name: MemoryJournalName): Promise<Journal<JsonObject>> {
    let opened = this.#journals.get(name);
    if (!opened) {
      const right = this.lease ? { lease: this.lease } : { readOnly: true };
      const options = name === 'inputs' ? { ...right, segmentBytes: INPUT_SEGMENT_BYTES } : right;
      opened = this.backend.openJournal<JsonObject>(['agents', this.agentId, name], options);
      this.#journals.set(name, opened);
      opened.catch(() => this.#journals.delete(name)); // the next call tries again
    }
    return opened;
  }

  /** The reader version that the trace journal declares; 0 without a header. */
  get declaredReader(): number {
    return this.#declared;
  }

  /** Sets the reader version that a restore found in the trace journal. */
  declare(reader: number): void {
    this.#declared = reader;
  }

  /** Durable when it resolves, in one commit; preceded by the journal's header if that is missing or too low. */
  async addTraces(rows: readonly JsonObject[], expectedSeq?: number): Promise<AddedTraces> {
    this.assertWritable();
    const journal = await this.journal('raw_traces');
    while (this.#declaring) await this.#declaring;
    const reader = rows.reduce((most, row) => Math.max(most, readerNeededBy(row)), this.#declared);
    const header = { agentId: this.agentId, reader };
    const stamped = rows.map((row) => withHeader(row, header));
    const written = reader > this.#declared ? [headerRow(header, rows[0]!), ...stamped] : stamped;
    const added = journal.append(written, expectedSeq === undefined ? {} : { expectedSeq });
    if (reader > this.#declared) this.#waitForHeader(added, reader);
    return { ...(await added), records: written.length };
  }

  /** Nothing is appended before the header is durable. If it fails, the next append writes it. */
  #waitForHeader(added: Promise<unknown>, reader: number): void {
    const declared = () => {
      this.#declared = Math.max(this.#declared, reader);
    };
    this.#declaring = added
      .then(declared, () => {})
      .finally(() => {
        this.#declaring = null;
      });
  }

  async addEpisodic(items: readonly EpisodicItem[]): Promise<void> {
    if (items.length === 0) return;
    this.assertWritable();
    await (await this.journal('episodic')).append(items.map(episodicToJson));
  }

  /** A row about earlier summaries: see `fact-mark.ts`. Durable when it resolves. */
  async addEpisodicMark(row: JsonObject): Promise<void> {
    this.assertWritable();
    await (await this.journal('episodic')).append([row]);
  }

  async addSemantic(items: readonly SemanticItem[]): Promise<void> {
    if (items.length === 0) return;
    this.assertWritable();
    await this.facts.change((table) => ({ rows: semanticRows(items, table), done: () => {} }));
  }

  /** Keeps, in memory only, items that a restore would write; for a read-only store. */
  hold(episodic: readonly EpisodicItem[], semantic: readonly SemanticItem[]): void {
    this.#held.episodic.push(...episodic);
    this.#held.semantic.push(...semantic);
  }

  /** The last `limit` items, oldest first. Skips damage and rows of another shape; `verify` reports them. */
  async listEpisodic(limit: number = Number.POSITIVE_INFINITY): Promise<EpisodicItem[]> {
    if (limit <= 0) return [];
    const items = this.#held.episodic.toReversed().slice(0, limit);
    if (items.length >= limit) return items.reverse();
    const gone = new Set<string>();
    for await (const { row, seq } of this.#rowsBackward('episodic')) {
      if (markOf(row) === 'purge') for (const id of namedIds(row)) gone.add(id);
      const item = tryParse(row, episodicFromJson);
      const id = item?.id || rowId(seq);
      if (item !== null && !gone.has(id)) items.push({ ...item, id });
      if (items.length >= limit) break;
    }
    return items.reverse();
  }

  /** The current facts, including the subject's, oldest first. If there are more than `limit`: pinned ones and the newest. */
  async listSemantic(limit: number = Number.POSITIVE_INFINITY): Promise<SemanticItem[]> {
    if (limit <= 0) return [];
    const own = (await this.facts.table()).standing();
    const shared = this.subject ? (await this.subject.table()).standing() : [];
    if (shared.length === 0 && this.#held.semantic.length === 0) return keepFacts(own, limit);
    const known = [...own, ...shared].sort((a, b) => a.ts - b.ts);
    return keepFacts(standingOf([...known, ...this.#held.semantic]), limit);
  }

  /** Ids of the last written items, including removed ones. */
  async recentIds(name: 'episodic' | 'semantic', limit: number): Promise<Set<string>> {
    const ids = new Set<string>();
    const field = name === 'episodic' ? 'summary' : 'fact';
    let items = 0;
    for await (const { row } of this.#rowsBackward(name)) {
      if (typeof row[field] !== 'string') continue;
      ids.add(textOr(row['id']));
      items += 1;
      if (items >= limit) break;
    }
    return ids;
  }

  async *#rowsBackward(
    name: MemoryJournalName,
  ): AsyncGenerator<{ readonly row: JsonObject; readonly seq: number }> {
    for await (const entry of (await this.journal(name)).readBackward())
      if (entry.kind === 'record') yield { row: entry.record, seq: entry.seq };
  }

  /** Damage found when the journals were opened. */
  async openingDamage(): Promise<(JournalDamage & { readonly setAside?: string })[]> {
    const journals = await Promise.all(this.#journals.values());
    return journals.flatMap((journal) => [...journal.openingDamage()]);
  }

  /** Closes the journals, and the storage if this store opened it. */
  async close(): Promise<void> {
    const opened = [...this.#journals.values()];
    this.#journals.clear();
    const closing = opened.map(async (journal) => (await journal).close());
    const closed = await Promise.allSettled([...closing, this.subject?.close()]);
    if (this.#isOwn) closed.push(...(await Promise.allSettled([this.backend.close()])));
    const failed = closed.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }
}

/** Items of one commit may replace each other. */
function semanticRows(items: readonly SemanticItem[], known: FactTable): JsonObject[] {
  const table = new FactTable();
  for (const item of known.standing()) table.add(item);
  return items.map((item) => {
    const row = withReplaced(table, item, semanticToJson(item));
    table.add(item);
    return row;
  });
}

function tryParse<T>(row: JsonObject, parse: (row: JsonObject) => T): T | null {
  try {
    return parse(row);
  } catch {
    return null;
  }
}
