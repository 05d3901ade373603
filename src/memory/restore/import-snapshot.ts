/**
 * Takes over a snapshot of the seed's format, which does not say which traces it covers.
 *
 * The newest message that stands in the traces too marks the place: what comes after it in the traces is replayed. So a snapshot
 * that ends on a call gets the result that only the traces have.
 */
import type { JsonObject } from '../../core/json.js';
import { type Message, textOf, toolCallsOf, toolResultOf } from '../../messages/message.js';
import type { MemoryManager } from '../memory-manager.js';
import type { Boundary, Trace } from '../models/trace.js';
import { emptyMemoryState } from '../working-context-reducer.js';
import { WorkingContextSnapshotSerializer } from '../working-context-snapshot-serializer.js';
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
  const replay = new TraceReplay({ ...emptyMemoryState(), snapshot }, await journal.head());
  const traces: Trace[] = [];
  for await (const entry of journal.read()) {
    const trace = entry.kind === 'record' ? replay.parse(entry) : null;
    if (entry.kind === 'damage') replay.apply(entry);
    if (trace) traces.push(trace);
  }
  const covered = lastCovered(snapshot.messages, traces);
  const turns = new TraceReplay(emptyMemoryState(), replay.head);
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

/** Index of the newest trace that a message of the list stands for; null when there is none. */
function lastCovered(messages: readonly Message[], traces: readonly Trace[]): number | null {
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const index = traces.findLastIndex((trace) => standsFor(messages[at]!, trace));
    if (index >= 0) return index;
  }
  return null;
}

function standsFor(message: Message, trace: Trace): boolean {
  switch (trace.type) {
    case 'user':
    case 'assistant':
      return (
        message.role === trace.type &&
        textOf(message).trim() !== '' &&
        textOf(message) === textOf(trace.message)
      );
    case 'tool_call':
      return toolCallsOf(message).some((call) => call.id === trace.call.id);
    case 'tool_result':
      return toolResultOf(message)?.toolCallId === trace.result.toolCallId;
    default:
      return false;
  }
}
