/**
 * Takes over a snapshot of the seed's format, which does not say which traces it covers.
 *
 * What comes in the traces after the newest one that a message stands for is replayed. So a snapshot that ends on a call gets
 * the result that only the traces have.
 */
import type { JsonObject } from '../../core/json.js';
import type { MemoryManager } from '../memory-manager.js';
import type { Boundary, Trace } from '../models/trace.js';
import { emptyMemoryState } from '../working-context-reducer.js';
import { WorkingContextSnapshotSerializer } from '../working-context-snapshot-serializer.js';
import { lastCovered } from './align-snapshot.js';
import { baseOf } from './rebuild.js';
import { TraceReplay } from './trace-replay.js';

export interface ImportedSnapshot {
  readonly replay: TraceReplay;
  readonly pending: readonly Boundary[];
  readonly unknown: readonly string[];
}

export async function importSnapshot(memory: MemoryManager, payload: JsonObject): Promise<ImportedSnapshot> {
  const { snapshot } = WorkingContextSnapshotSerializer.deserialize(payload);
  const journal = await memory.store.journal('raw_traces');
  const replay = new TraceReplay({ ...emptyMemoryState(), snapshot }, await journal.head(), memory.agentId);
  const traces: Trace[] = [];
  for await (const entry of journal.read()) {
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
  replay.state.lastTurn = turns.state.lastTurn;
  const unknown =
    traces.length > 0 && covered === null
      ? [
          'The snapshot and the traces have nothing in common, so it is unknown which traces the snapshot covers; none was replayed.',
        ]
      : [];
  return { replay, pending: [baseOf(replay.state, 'imported snapshot')], unknown };
}
