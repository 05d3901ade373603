/** The end of the trace journal, as far as it tells whether a streamed answer is recorded. */
import { type JsonObject, textOr } from '../../core/json.js';
import type { Journal } from '../../storage/ports.js';

export interface RecordedCall {
  readonly seq: number;
  readonly messageId: string;
}

export interface RecentTraces {
  /** Number of the last trace that sets messages; 0 if there is none. */
  readonly lastMessage: number;
  /** Calls after it, oldest first. */
  readonly calls: readonly RecordedCall[];
}

const MESSAGES = new Set(['user', 'assistant', 'compaction']);

export async function recentTraces(journal: Journal<JsonObject>): Promise<RecentTraces> {
  const calls: RecordedCall[] = [];
  for await (const entry of journal.readBackward()) {
    if (entry.kind !== 'record') continue;
    const { record, seq } = entry;
    const type = textOr(record['trace_type']);
    if (type === 'tool_call') calls.push({ seq, messageId: textOr(record['message_id']) });
    if (MESSAGES.has(type) || (type === 'boundary' && record['boundary'] === 'base'))
      return { lastMessage: seq, calls: calls.reverse() };
  }
  return { lastMessage: 0, calls: calls.reverse() };
}
