/**
 * Takes over a plain snapshot, which does not say which traces it covers.
 *
 * Traces after the newest one that matches a message are replayed. So a snapshot that ends with a call gets the result
 * that only the traces have.
 */
import type { JsonObject } from '../../core/json.js';
import { repairHistory } from '../../messages/legality/history.js';
import type { Repair } from '../../messages/legality/repairs.js';
import type { JournalEntry } from '../../storage/ports.js';
import type { MemoryManager } from '../memory-manager.js';
import type { Boundary, Trace } from '../models/trace.js';
import { emptyMemoryState } from '../working-context-reducer.js';
import type { WorkingContextSnapshot } from '../working-context-snapshot.js';
import { lastCovered } from './align-snapshot.js';
import { withDistinctCallIds } from './foreign-call-ids.js';
import { snapshotFrom } from './odd-snapshot.js';
import { baseOf } from './rebuild.js';
import { TraceReplay } from './trace-replay.js';

export interface ImportedSnapshot {
  readonly replay: TraceReplay;
  readonly pending: readonly Boundary[];
  readonly unknown: readonly string[];
}

/** @param systemPrompt the current one; null keeps the agent's own */
export async function importSnapshot(
  memory: MemoryManager,
  payload: JsonObject,
  systemPrompt: string | null,
): Promise<ImportedSnapshot> {
  const { snapshot, odd } = snapshotFrom(payload);
  const repairs = makeLegal(snapshot, systemPrompt);
  const journal = await memory.store.journal('raw_traces');
  const replay = new TraceReplay({ ...emptyMemoryState(), snapshot }, await journal.head(), memory.agentId);
  for (const repair of repairs) replay.repairs.push(repair); // one by one: there may be too many for the arguments of one push
  const traces: Trace[] = [];
  const read: JournalEntry<JsonObject>[] = [];
  for await (const entry of journal.read()) read.push(entry);
  const { entries, renamed } = withDistinctCallIds(read);
  for (const entry of entries) {
    const trace = entry.kind === 'record' ? replay.parse(entry) : null;
    if (entry.kind === 'damage') replay.apply(entry);
    if (trace) traces.push(trace);
  }
  const covered = lastCovered(snapshot.messages, traces);
  const turns = new TraceReplay(emptyMemoryState(), replay.head, memory.agentId);
  for (const [index, trace] of traces.entries()) {
    turns.applyTrace(trace);
    if (covered !== null && index > covered) replay.applyTrace(trace);
  }
  replay.noteRenamed(renamed);
  replay.state.lastTurn = turns.state.lastTurn;
  const unknown =
    traces.length > 0 && covered === null
      ? [
          'The snapshot and the traces have nothing in common, so it is unknown which traces the snapshot covers; none was replayed.',
        ]
      : [];
  unknown.push(...odd);
  return { replay, pending: [baseOf(replay.state, 'imported snapshot')], unknown };
}

/**
 * Runs before anything is compared, and before a call counts as interrupted. Then equal rows have equal ids, results
 * are next to their calls, and the list fits into a record. Calls without a result may find it in the traces.
 */
function makeLegal(snapshot: WorkingContextSnapshot, systemPrompt: string | null): readonly Repair[] {
  const { messages, repairs } = repairHistory(snapshot.messages, {
    keepOpen: { has: () => true },
    ...(systemPrompt === null ? {} : { systemPrompt }),
  });
  if (repairs.length > 0) snapshot.replaceAll(messages);
  return repairs;
}
