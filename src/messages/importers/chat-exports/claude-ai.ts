/**
 * Claude.ai's data export (`conversations.json`), and single conversations as its web page gets them. Newer messages name
 * their parents; the path to the newest message is what the person sees.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { LossAccount } from '../loss-account.js';
import { type ConversationNode, ConversationOutline } from '../reading/conversation-outline.js';
import { idText, listField, textField } from '../reading/record-fields.js';
import type { TranscriptHead, TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';
import { ClaudeAiReader } from './claude-ai-message.js';

const SENDERS: ReadonlySet<JsonValue | undefined> = new Set(['human', 'assistant']);

export const claudeAiImporter: TranscriptImporter = {
  format: 'claude-ai',
  title: 'Claude.ai exports',
  lookedFor: 'conversations with `chat_messages` that have a `sender`: `human` or `assistant`',
  recognises,
  read,
};

function recognises({ shape, items, fields }: TranscriptHead): boolean {
  return shape === 'array' ? items.some(isConversation) : shape === 'object' && isConversation(fields);
}

function isConversation(json: JsonValue): boolean {
  if (!isJsonObject(json)) return false;
  const [first] = listField(json, 'chat_messages');
  return isJsonObject(first) && SENDERS.has(first['sender']);
}

async function* read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
  const layout = { messages: 'chat_messages', tip: 'current_leaf_message_uuid', nodeOf };
  const outline = await ConversationOutline.of(source, layout, losses);
  const reader = new ClaudeAiReader(losses);
  for await (const { json, place } of outline.messages(source)) yield* reader.read(json, place);
}

/** The first message names a parent that does not exist. */
function nodeOf(key: string | number, json: JsonObject): ConversationNode {
  return {
    id: idText(json['uuid']) || String(key),
    parent: textField(json, 'parent_message_uuid'),
    hasMessage: true,
  };
}
