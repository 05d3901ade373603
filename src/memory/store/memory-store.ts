/**
 * The journals of one agent: raw traces, episodic and semantic items. All writes go under one lease.
 *
 * The long-term journals are opened at first use: most turns touch only the traces.
 */
import type { JsonObject } from '../../core/json.js';
import type {
  AppendResult,
  Blobs,
  Journal,
  JournalDamage,
  Lease,
  StorageBackend,
} from '../../storage/ports.js';
import { headerRow, readerNeededBy, withHeader } from '../models/journal-header.js';
import {
  type EpisodicItem,
  episodicFromJson,
  episodicToJson,
  type SemanticItem,
  semanticFromJson,
  semanticToJson,
} from '../models/memory-items.js';

export type MemoryJournalName = 'raw_traces' | 'episodic' | 'semantic' | 'pending_calls';
export const MEMORY_JOURNALS: readonly MemoryJournalName[] = [
  'raw_traces',
  'episodic',
  'semantic',
  'pending_calls',
];

/** `records`: how many were written, with the header where one was due. */
export interface AddedTraces extends AppendResult {
  readonly records: number;
}

export class MemoryStore {
  readonly backend: StorageBackend;
  readonly agentId: string;
  /** Null for a store that only reads. */
  readonly lease: Lease | null;
  readonly #journals = new Map<MemoryJournalName, Promise<Journal<JsonObject>>>();
  #declared = 0;
  #declaring: Promise<void> | null = null;
  /** What would have been written, in a store that only reads. */
  readonly #held = { episodic: [] as EpisodicItem[], semantic: [] as SemanticItem[] };

  /** @param lease the right to write; null opens everything for reading and changes nothing */
  constructor(backend: StorageBackend, agentId: string, lease: Lease | null) {
    this.backend = backend;
    this.agentId = agentId;
    this.lease = lease;
  }

  get readOnly(): boolean {
    return this.lease === null;
  }

  /** Whole texts and media of the context. */
  get artifacts(): Blobs {
    return this.backend.blobs(['agents', this.agentId, 'artifacts']);
  }

  journal(name: MemoryJournalName): Promise<Journal<JsonObject>> {
    let opened = this.#journals.get(name);
    if (!opened) {
      const options = this.lease ? { lease: this.lease } : { readOnly: true };
      opened = this.backend.openJournal<JsonObject>(['agents', this.agentId, name], options);
      this.#journals.set(name, opened);
      opened.catch(() => this.#journals.delete(name)); // the next call tries again
    }
    return opened;
  }

  /** The reader that the trace journal declares; 0 while it has no header. */
  get declaredReader(): number {
    return this.#declared;
  }

  /** What a restore found in the trace journal. */
  declare(reader: number): void {
    this.#declared = reader;
  }

  /** Durable when it resolves, in one commit; with the journal's header before it where that is missing or too low. */
  async addTraces(rows: readonly JsonObject[], expectedSeq?: number): Promise<AddedTraces> {
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

  /** Nothing is appended before the header is durable. Where it fails, the next append writes it. */
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
    if (items.length > 0) await (await this.journal('episodic')).append(items.map(episodicToJson));
  }

  async addSemantic(items: readonly SemanticItem[]): Promise<void> {
    if (items.length > 0) await (await this.journal('semantic')).append(items.map(semanticToJson));
  }

  /** Items that a restore would write, for a store that only reads: in memory alone, after those that are stored. */
  hold(episodic: readonly EpisodicItem[], semantic: readonly SemanticItem[]): void {
    this.#held.episodic.push(...episodic);
    this.#held.semantic.push(...semantic);
  }

  /** The last `limit` items, oldest first. Damage and rows of another shape are skipped here; `verify` reports them. */
  async listEpisodic(limit: number = Number.POSITIVE_INFINITY): Promise<EpisodicItem[]> {
    return this.#last('episodic', limit, episodicFromJson, this.#held.episodic);
  }

  async listSemantic(limit: number = Number.POSITIVE_INFINITY): Promise<SemanticItem[]> {
    return this.#last('semantic', limit, semanticFromJson, this.#held.semantic);
  }

  async #last<T>(
    name: MemoryJournalName,
    limit: number,
    parse: (row: JsonObject) => T,
    held: readonly T[],
  ): Promise<T[]> {
    if (limit <= 0) return [];
    const items = held.toReversed().slice(0, limit);
    if (items.length >= limit) return items.reverse();
    const journal = await this.journal(name);
    for await (const entry of journal.readBackward()) {
      const item = entry.kind === 'record' ? tryParse(entry.record, parse) : null;
      if (item !== null) items.push(item);
      if (items.length >= limit) break;
    }
    return items.reverse();
  }

  /** What opening the journals met so far. */
  async openingDamage(): Promise<(JournalDamage & { readonly setAside?: string })[]> {
    const journals = await Promise.all(this.#journals.values());
    return journals.flatMap((journal) => [...journal.openingDamage()]);
  }

  async close(): Promise<void> {
    const opened = [...this.#journals.values()];
    this.#journals.clear();
    const closed = await Promise.allSettled(opened.map(async (journal) => (await journal).close()));
    const failed = closed.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }
}

function tryParse<T>(row: JsonObject, parse: (row: JsonObject) => T): T | null {
  try {
    return parse(row);
  } catch {
    return null;
  }
}
