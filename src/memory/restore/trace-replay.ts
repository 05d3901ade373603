/** Applies journal entries to a state and keeps account of what they were. */
import type { JsonObject } from '../../core/json.js';
import type { JournalDamage, JournalEntry, JournalHead } from '../../storage/ports.js';
import type { CompactionTrace, Trace } from '../models/trace.js';
import { traceFromJson } from '../models/trace-serializer.js';
import { applyTrace, type MemoryState } from '../working-context-reducer.js';
import type { DamageReport } from './restore-report.js';

export class TraceReplay {
  readonly state: MemoryState;
  readonly damage: DamageReport[] = [];
  applied = 0;
  ignored = 0;
  /** Traces that a context must show something of: without them a blank context is no surprise. */
  conversational = 0;
  /** The newest compaction that was replayed. */
  lastCompaction: CompactionTrace | null = null;
  head: JournalHead;

  constructor(state: MemoryState, head: JournalHead) {
    this.state = state;
    this.head = head;
  }

  apply(entry: JournalEntry<JsonObject>): void {
    if (entry.kind === 'damage') {
      this.damage.push(toDamageReport(entry));
      return;
    }
    this.head = { seq: entry.seq, cursor: entry.cursor, crc: entry.crc };
    const trace = this.parse(entry);
    if (trace) this.applyTrace(trace);
  }

  applyTrace(trace: Trace): void {
    const placement = applyTrace(this.state, trace);
    this.applied += 1;
    const isIgnored = placement === 'duplicate' || placement === 'orphan';
    if (isIgnored) this.ignored += 1;
    else if (trace.type !== 'boundary' && trace.type !== 'foreign') this.conversational += 1;
    if (trace.type === 'compaction') this.lastCompaction = trace;
  }

  /** Null, and damage, for a record that is no trace. */
  parse(entry: JournalEntry<JsonObject> & { readonly kind: 'record' }): Trace | null {
    try {
      return traceFromJson(entry.record);
    } catch {
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
