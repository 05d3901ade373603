/** Applies journal entries to a state, and records what was found. */
import type { JsonObject } from '../../core/json.js';
import type { Repair } from '../../messages/legality/repairs.js';
import type { JournalDamage, JournalEntry, JournalHead, JournalRecord } from '../../storage/ports.js';
import {
  assertReadable,
  countUnknown,
  headerOf,
  type UnknownTraces,
  unknownKindOf,
} from '../models/journal-header.js';
import type { CompactionTrace, Trace } from '../models/trace.js';
import { traceFromJson } from '../models/trace-serializer.js';
import { applyTrace, type MemoryState } from '../working-context-reducer.js';
import { isOurRow, type RenamedCall, renameRepairs } from './foreign-call-ids.js';
import type { DamageReport } from './restore-report.js';

export class TraceReplay {
  readonly state: MemoryState;
  readonly damage: DamageReport[] = [];
  /** Repairs of data from elsewhere: calls without a distinct id, and illegal content of a snapshot. */
  readonly repairs: Repair[] = [];
  applied = 0;
  ignored = 0;
  /** The newest record is from another program, which has no ledger of ours. */
  isForeign = false;
  /** Number of traces that a context must reflect: without them a blank context is normal. */
  conversational = 0;
  /** The newest replayed compaction. */
  lastCompaction: CompactionTrace | null = null;
  head: JournalHead;
  /** The highest reader version that the journal declared so far; 0 without a header. */
  reader = 0;
  /** The journal's owner, by its newest header; null without one. */
  owner: string | null = null;
  readonly #agentId: string;
  /** Damage that may hide acknowledged records. */
  #isDamaged = false;
  #isDamagedInside = false;
  readonly #unknown = new Map<string, UnknownTraces>();

  constructor(state: MemoryState, head: JournalHead, agentId: string) {
    this.state = state;
    this.head = head;
    this.#agentId = agentId;
  }

  /**
   * The agent was created, no message can be read, and all damage is after the last record, or after a seal: what it holds was never
   * acknowledged.
   */
  get isOnlyBegun(): boolean {
    return this.conversational === 0 && this.applied > 0 && !this.#isDamagedInside;
  }

  get unknown(): readonly UnknownTraces[] {
    return [...this.#unknown.values()];
  }

  apply(entry: JournalEntry<JsonObject>): void {
    if (entry.kind === 'damage') {
      this.damage.push(toDamageReport(entry));
      if (entry.reason !== 'after-seal') this.#isDamaged = true;
      return;
    }
    if (this.#isDamaged) this.#isDamagedInside = true;
    this.head = { seq: entry.seq, cursor: entry.cursor, crc: entry.crc };
    this.isForeign = !isOurRow(entry.record);
    const trace = this.parse(entry);
    if (trace) this.applyTrace(trace);
  }

  applyTrace(trace: Trace): void {
    if (trace.type === 'journal') return;
    const placement = applyTrace(this.state, trace);
    this.applied += 1;
    const isIgnored = placement === 'duplicate' || placement === 'orphan';
    if (isIgnored) this.ignored += 1;
    else if (trace.type !== 'boundary' && trace.type !== 'foreign') this.conversational += 1;
    if (trace.type === 'compaction') this.lastCompaction = trace;
  }

  /** Null, with damage noted, for a record that is not a trace. @throws UNSUPPORTED_VERSION for the header of a newer release */
  parse(entry: JournalRecord<JsonObject>): Trace | null {
    const trace = this.#traceOf(entry);
    const header = headerOf(entry.record);
    if (header) this.declare(header.reader);
    this.owner = header?.agentId ?? this.owner;
    const kind = trace?.type === 'foreign' ? unknownKindOf(trace) : null;
    if (kind !== null) countUnknown(this.#unknown, kind, entry.seq);
    return trace;
  }

  /** Reports calls whose rows had no distinct id. Call it after the rows were applied. */
  noteRenamed(renamed: readonly RenamedCall[]): void {
    this.repairs.push(...renameRepairs(renamed, this.state.snapshot.messages));
  }

  /** Adds kinds of traces that earlier restores did not understand. */
  addUnknown(before: readonly UnknownTraces[]): void {
    for (const traces of before) this.#unknown.set(traces.type, traces);
  }

  /** @throws UNSUPPORTED_VERSION */
  declare(reader: number): void {
    assertReadable(reader, this.#agentId);
    this.reader = Math.max(this.reader, reader);
  }

  #traceOf(entry: JournalRecord<JsonObject>): Trace | null {
    try {
      return traceFromJson(entry.record);
    } catch {
      this.#isDamagedInside = true;
      this.damage.push({
        file: 'raw_traces.jsonl',
        reason: 'not-a-trace',
        startByte: entry.cursor.offset,
        bytes: 0,
        setAside: null,
      });
      return null;
    }
  }
}

export function toDamageReport(damage: JournalDamage & { readonly setAside?: string }): DamageReport {
  return {
    file: damage.place,
    reason: damage.reason,
    startByte: damage.cursor.offset,
    bytes: damage.bytes,
    setAside: damage.setAside ?? null,
  };
}
