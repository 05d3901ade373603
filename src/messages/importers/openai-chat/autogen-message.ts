/** One message of AutoGen's model context: `type` gives its kind; calls and results are lists in `content`. */

import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { ContentPart, Message, ToolCallSpec } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { contentOf, mediaPartOf } from '../reading/content-parts.js';
import { jsonTextOf } from '../reading/json-text.js';
import { argumentsFrom } from '../reading/open-calls.js';
import { idText, isAbsent, listField, textField } from '../reading/record-fields.js';

const TYPES: ReadonlySet<JsonValue | undefined> = new Set([
  'SystemMessage',
  'UserMessage',
  'AssistantMessage',
  'FunctionExecutionResultMessage',
]);

export function isAutoGenMessage(json: JsonValue | undefined): json is JsonObject {
  return isJsonObject(json) && TYPES.has(json['type']) && 'content' in json && !('role' in json);
}

export function autoGenMessagesFrom(json: JsonObject, place: string, losses: LossAccount): Message[] {
  const type = json['type'];
  if (!isAbsent(json['source'])) losses.drop('the name of a speaker', place);
  if (type === 'FunctionExecutionResultMessage')
    return listField(json, 'content').flatMap((result, index) =>
      resultOf(result, `${place}/${index}`, losses),
    );
  if (type === 'AssistantMessage') return [assistantOf(json, place, losses)];
  const role = type === 'SystemMessage' ? 'system' : 'user';
  return [{ role, ...contentOf(partsOf(json['content'], place, losses)) }];
}

function assistantOf(json: JsonObject, place: string, losses: LossAccount): Message {
  const { content } = json;
  const thought = textField(json, 'thought');
  const said = Array.isArray(content)
    ? { content: null, toolPayload: { toolCalls: content.flatMap((call) => callOf(call, place, losses)) } }
    : contentOf(partsOf(content, place, losses));
  return { role: 'assistant', ...said, ...(thought ? { reasoning: [{ text: thought }] } : {}) };
}

function callOf(json: JsonValue, place: string, losses: LossAccount): ToolCallSpec[] {
  if (isJsonObject(json))
    return [{ id: idText(json['id']), name: idText(json['name']), ...argumentsFrom(json['arguments']) }];
  losses.unreadable('a tool call that is not an object', place);
  return [];
}

function resultOf(json: JsonValue, place: string, losses: LossAccount): Message[] {
  if (!isJsonObject(json)) {
    losses.unreadable('a result that is not an object', place);
    return [];
  }
  const { content = null, is_error: isError } = json;
  const failed = isError === true;
  const error = typeof content === 'string' ? content : jsonTextOf(content);
  return [
    {
      role: 'tool',
      content: null,
      toolPayload: {
        toolCallId: idText(json['call_id']),
        toolName: idText(json['name']),
        toolResult: failed ? null : content,
        toolError: failed ? error : null,
      },
    },
  ];
}

/** User content may be a list of texts and images. An image is an object with base64 bytes. */
function partsOf(content: JsonValue | undefined, place: string, losses: LossAccount): ContentPart[] {
  const list = Array.isArray(content) ? content : isAbsent(content) ? [] : [content];
  return list.flatMap((part) => {
    if (typeof part === 'string') return [{ type: 'text', text: part } as const];
    const data = isJsonObject(part) ? textField(part, 'data', 'url') : undefined;
    if (data === undefined) losses.unreadable('a part of the content of another kind', place);
    else if (/^(?:data|https?):/.test(data)) return [mediaPartOf(data, { kind: 'image' })];
    else return [mediaPartOf(`data:image/png;base64,${data}`, { kind: 'image' })];
    return [];
  });
}
