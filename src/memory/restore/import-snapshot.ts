/**
 * Takes over a snapshot of the seed's format, which does not say which traces it covers.
 *
 * What comes in the traces after the newest one that a message stands for is replayed. So a snapshot that ends on a call gets
 * the result that only the traces have.
 */
import type { JsonObject } from '../../core/json.js';
import { distinctCallIds } from '../../messages/legality/h7-distinct-call-ids.js';
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

export async function importSnapshot(memory: MemoryManager, payload: JsonObject): Promise<ImportedSnapshot> {
  const { snapshot, odd } = snapshotFrom(payload);
  const renames = giveDistinctCallIds(snapshot);
  const journal = await memory.store.journal('raw_traces');
  const replay = new TraceReplay({ ...emptyMemoryState(), snapshot }, await journal.head(), memory.agentId);
  replay.renames.push(...renames);
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

/** Before anything is compared: rows that say the same get the same ids. */
function giveDistinctCallIds(snapshot: WorkingContextSnapshot): Repair[] {
  const renames: Repair[] = [];
  const given = { messages: snapshot.messages, origins: null };
  const { messages } = distinctCallIds.repair(given, {}, renames);
  if (renames.length > 0) snapshot.replaceAll(messages);
  return renames;
}
