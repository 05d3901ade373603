/**
 * ChatGPT's data export (`conversations.json`), and single conversations as its web page gets them. A conversation is a
 * tree; the path to `current_node` is what the person sees.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import { headOf } from '../detect-format.js';
import type { LossAccount } from '../loss-account.js';
import { type ConversationNode, ConversationOutline } from '../reading/conversation-outline.js';
import { objectField, textField } from '../reading/record-fields.js';
import type { TranscriptHead, TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';
import { ChatGptReader } from './chatgpt-message.js';

export const chatGptImporter: TranscriptImporter = {
  format: 'chatgpt',
  title: 'ChatGPT exports',
  lookedFor:
    'conversations with a `mapping` of nodes that have `parent` and `children`, and a `current_node`',
  recognises,
  read,
};

function recognises(head: TranscriptHead): boolean {
  if (head.shape === 'array') return head.items.some(isConversation);
  return head.shape === 'object' && (isConversation(head.fields) || wrapperOf(head) !== undefined);
}

function isConversation(json: JsonValue | undefined): boolean {
  if (!isJsonObject(json) || !isJsonObject(json['mapping'])) return false;
  const nodes = Object.values(json['mapping']);
  return nodes.some((node) => isJsonObject(node) && 'id' in node && ('parent' in node || 'children' in node));
}

/** A capture of the page stores the conversation below a key of its own. */
function wrapperOf({ fields, keys }: TranscriptHead): string | undefined {
  if (keys.has('mapping')) return undefined;
  return [...keys].find((key) => {
    const inner = objectField(fields, key);
    return typeof inner['current_node'] === 'string' && typeof inner['conversation_id'] === 'string';
  });
}

async function* read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
  const head = await headOf(source);
  const wrapper = head?.shape === 'object' ? wrapperOf(head) : undefined;
  const layout = { messages: 'mapping', tip: 'current_node', wrapper, nodeOf };
  const outline = await ConversationOutline.of(source, layout, losses);
  const reader = new ChatGptReader(losses);
  for await (const { json, place } of outline.messages(source))
    yield* reader.read(objectField(json, 'message'), place);
  yield* reader.end();
}

function nodeOf(key: string | number, json: JsonObject): ConversationNode {
  return {
    id: textField(json, 'id') ?? String(key),
    parent: textField(json, 'parent') ?? null,
    hasMessage: isJsonObject(json['message']),
  };
}
