/** Tool results in Letta's messages: one in the content, or several in lists of returns. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { ContentPart, Message } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { jsonTextOf } from '../reading/json-text.js';
import type { OpenCalls } from '../reading/open-calls.js';
import { idText, isAbsent, listField, textField } from '../reading/record-fields.js';
import { lettaPartsOf } from './letta-parts.js';

interface Result {
  readonly id: string;
  readonly name: string | undefined;
  readonly output: JsonValue;
  readonly hasFailed: boolean;
  readonly media?: readonly ContentPart[];
}

export function lettaResultsOf(
  json: JsonObject,
  place: string,
  calls: OpenCalls,
  losses: LossAccount,
): Message[] {
  const returns = listField(json, 'tool_returns').filter(isJsonObject);
  for (const entry of returns)
    if (hasText(entry['stdout']) || hasText(entry['stderr']))
      losses.drop('what a tool printed beside its result', place);
  return resultsIn(json, returns, place, losses).map((result) => messageOf(result, calls));
}

function resultsIn(
  json: JsonObject,
  returns: readonly JsonObject[],
  place: string,
  losses: LossAccount,
): Result[] {
  const inContent = listField(json, 'content')
    .filter(isJsonObject)
    .filter(({ type }) => type === 'tool_return');
  if (inContent.length > 0) return inContent.map(resultOfPart);
  const id = idText(json['tool_call_id']);
  if (returns.length > 1 || (returns.length === 1 && id === '')) return returns.map(resultOfReturn);
  if (isAbsent(json['role'])) return [];
  const parts = lettaPartsOf(json, { place, losses });
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const media = parts.filter((part) => part.type === 'media');
  const [only] = returns;
  const output = texts.length > 0 ? texts.join('') : (only?.['func_response'] ?? null);
  return [{ id, name: textField(json, 'name'), output, hasFailed: only?.['status'] === 'error', media }];
}

function resultOfPart(part: JsonObject): Result {
  const hasFailed = part['is_error'] === true;
  return { id: idText(part['tool_call_id']), name: undefined, output: part['content'] ?? null, hasFailed };
}

function resultOfReturn(entry: JsonObject): Result {
  const output = entry['func_response'] ?? entry['tool_return'] ?? null;
  return {
    id: idText(entry['tool_call_id']),
    name: undefined,
    output,
    hasFailed: entry['status'] === 'error',
  };
}

function messageOf({ id, name, output, hasFailed, media = [] }: Result, calls: OpenCalls): Message {
  const called = calls.answered(id);
  const error = typeof output === 'string' ? output : jsonTextOf(output);
  return {
    role: 'tool',
    content: null,
    toolPayload: {
      toolCallId: id,
      toolName: name ?? called,
      toolResult: hasFailed ? null : output,
      toolError: hasFailed ? error : null,
    },
    ...(media.length > 0 ? { parts: media } : {}),
  };
}

/** Console outputs are texts, or lists of texts. */
function hasText(value: JsonValue | undefined): boolean {
  return Array.isArray(value) ? value.length > 0 : typeof value === 'string' && value !== '';
}
