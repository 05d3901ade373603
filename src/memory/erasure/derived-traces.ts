/** The records that hold a copy of erased messages, or a digest of them: compactions, bases, repairs and edits. */
import type { JsonObject } from '../../core/json.js';
import type { Message } from '../../messages/message.js';
import { storedRecords } from '../../storage/erasure/journal-rows.js';
import type { StorageBackend } from '../../storage/ports.js';
import type { Boundary, Trace } from '../models/trace.js';
import { tryTraceFromJson } from '../models/trace-serializer.js';
import type { ErasedMessages } from './erased-messages.js';
import { type ErasedWords, textsOf } from './erased-words.js';
import { type Rows, tracesName } from './part-traces.js';

export type Base = Extract<Boundary, { kind: 'base' }>;

/** @param first number of the first erased record; a later compaction may summarize it */
export async function derivedTraces(
  backend: StorageBackend,
  agent: string,
  erased: { readonly rows: Rows; readonly messages: ErasedMessages; readonly words: ErasedWords },
): Promise<Rows> {
  const derived: Rows = new Map();
  let first = Math.min(...erased.rows.keys());
  for await (const { seq, record } of storedRecords(backend, tracesName(agent))) {
    const trace = erased.rows.has(seq) ? null : copyOf(record);
    if (!trace || !holds(trace, record, seq > first, erased)) continue;
    derived.set(seq, record);
    first = Math.min(first, seq); // without own records, the first copy of a message is where it is from
  }
  return derived;
}

/** The trace, if its kind can hold messages of others. */
function copyOf(row: JsonObject): Trace | null {
  if (row['trace_type'] !== 'compaction' && row['trace_type'] !== 'boundary') return null;
  return tryTraceFromJson(row);
}

function holds(
  trace: Trace,
  row: JsonObject,
  isLater: boolean,
  { messages, words }: { readonly messages: ErasedMessages; readonly words: ErasedWords },
): boolean {
  const held = messagesIn(trace);
  if (held === null) return false;
  if (isLater && trace.type === 'compaction') return true;
  if (isLater && held.some(({ kind }) => kind !== undefined)) return true;
  return messages.isIn(held) || (isLater && [...textsOf(row)].some((text) => words.isIn(text)));
}

/** Null for a record that holds no messages. */
function messagesIn(trace: Trace): readonly Message[] | null {
  if (trace.type === 'compaction') return trace.messages;
  if (trace.type !== 'boundary') return null;
  const { boundary } = trace;
  if (boundary.kind === 'base') return boundary.messages;
  if (boundary.kind === 'repair') return boundary.insert;
  return boundary.kind === 'edit' ? boundary.edits.map(({ message }) => message) : null;
}

/** Numbers of turns with own traces: messages of these turns stay there, also when a base that holds them goes. */
export async function tracedTurns(backend: StorageBackend, agent: string): Promise<Set<string>> {
  const turns = new Set<string>();
  for await (const { record } of storedRecords(backend, tracesName(agent)))
    if (record['trace_type'] === 'user' || record['trace_type'] === 'assistant')
      turns.add(String(record['turn_id']));
  return turns;
}
