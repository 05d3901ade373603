/** Items of a transcript, as an importer gives them, in short forms. */
import type { TranscriptItem } from '../../../src/messages/importers/transcript.js';
import type { Message, ToolCallSpec } from '../../../src/messages/message.js';

export function item(message: Message, ts?: number): TranscriptItem {
  return { kind: 'message', message, ...(ts === undefined ? {} : { ts }) };
}

export function said(role: 'system' | 'user' | 'assistant', content: string, rest: Partial<Message> = {}) {
  return item({ role, content, ...rest });
}

export function calls(ids: readonly string[], rest: Partial<Message> = {}): TranscriptItem {
  const toolCalls = ids.map((id): ToolCallSpec => ({ id, name: 'look', arguments: { of: id } }));
  return item({ role: 'assistant', content: null, toolPayload: { toolCalls }, ...rest });
}

export function result(toolCallId: string, toolResult: string = `result of ${toolCallId}`): TranscriptItem {
  const toolPayload = { toolCallId, toolName: 'look', toolResult, toolError: null };
  return item({ role: 'tool', content: null, toolPayload });
}

export function compaction(...items: readonly TranscriptItem[]): TranscriptItem {
  const messages = items.flatMap((kept) => (kept.kind === 'message' ? [kept.message] : []));
  return { kind: 'compaction', messages };
}
