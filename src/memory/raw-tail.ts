/** The newest traces of a journal, by turns. */
import type { JsonObject } from '../core/json.js';
import type { Journal } from '../storage/ports.js';
import type { Trace } from './models/trace.js';
import { tryTraceFromJson } from './models/trace-serializer.js';

/** Default for an agent without a compactor. */
export const RAW_TAIL_TURNS = 4;

/** The traces of the last turns, oldest first. Skips damage and rows that are not traces. */
export async function rawTail(
  journal: Journal<JsonObject>,
  tailTurns: number,
  excludeTurnId?: string,
): Promise<Trace[]> {
  const tail: Trace[] = [];
  const turns = new Set<string>();
  for await (const entry of journal.readBackward()) {
    if (entry.kind !== 'record') continue;
    const trace = tryTraceFromJson(entry.record);
    if (!trace || trace.turnId === '' || trace.turnId === excludeTurnId) continue;
    if (!turns.has(trace.turnId) && turns.size === tailTurns) break;
    turns.add(trace.turnId);
    tail.push(trace);
  }
  return tail.reverse();
}
