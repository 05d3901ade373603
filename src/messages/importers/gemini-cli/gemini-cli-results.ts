/** Results of tools in Gemini CLI sessions: API parts, with a state next to them. */

import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { ContentPart, Message } from '../../message.js';
import { jsonTextOf } from '../reading/json-text.js';
import { idText, objectField, textField } from '../reading/record-fields.js';
import { geminiMediaOf } from './gemini-cli-parts.js';

interface Outcome {
  readonly toolResult: JsonValue;
  readonly toolError: string | null;
}

const FAILED = 'The tool failed without a message.';
const UNSUCCESSFUL: ReadonlySet<JsonValue | undefined> = new Set(['error', 'cancelled']);

/** Null if the call has no result: then it was not answered, whatever its state says. */
export function resultOfRecord(call: JsonObject, id: string): Message | null {
  const parts = partsOf(call['result']);
  const response = responseFor(parts, id);
  const failed = UNSUCCESSFUL.has(call['status']);
  const name = textField(call, 'name') ?? '';
  if (response) {
    const isAlone = parts.filter((part) => isJsonObject(part['functionResponse'])).length === 1;
    const media = [...mediaIn(partsOf(response['parts'])), ...(isAlone ? mediaIn(parts) : [])];
    return resultMessage(id, name, outcomeOf(response['response'], failed), media);
  }
  const text = parts.map((part) => textField(part, 'text') ?? '').join('');
  if (parts.length > 0) return resultMessage(id, name, outcomeOf(text, failed), mediaIn(parts));
  const display = call['resultDisplay'];
  return call['status'] === 'error' && typeof display === 'string' && display.trim() !== ''
    ? resultMessage(id, name, { toolResult: null, toolError: display }, [])
    : null;
}

/** From a user turn, for sessions that store the API history itself. */
export function resultOfResponse(response: JsonObject, id: string, calledName: string): Message {
  const inner = objectField(response, 'response');
  const failed = typeof inner['error'] === 'string' && !('output' in inner);
  const name = textField(response, 'name') ?? calledName;
  return resultMessage(
    id,
    name,
    outcomeOf(response['response'], failed),
    mediaIn(partsOf(response['parts'])),
  );
}

/** After the history was changed, the record of one call holds the results of all calls next to it. */
function responseFor(parts: readonly JsonObject[], id: string): JsonObject | undefined {
  const responses = parts.map((part) => part['functionResponse']).filter(isJsonObject);
  const own = responses.find((response) => idText(response['id']) === id);
  return own ?? (responses.length === 1 ? responses[0] : undefined);
}

function partsOf(given: JsonValue | undefined): readonly JsonObject[] {
  if (typeof given === 'string') return [{ text: given }];
  if (isJsonObject(given)) return [given];
  if (!Array.isArray(given)) return [];
  return given.flatMap((part) =>
    typeof part === 'string' ? [{ text: part }] : isJsonObject(part) ? [part] : [],
  );
}

function mediaIn(parts: readonly JsonObject[]): ContentPart[] {
  return parts.flatMap((part) => geminiMediaOf(part) ?? []);
}

/** The API requires an object, so the tool's value is its only member. */
function outcomeOf(response: JsonValue | undefined, failed: boolean): Outcome {
  if (failed) return { toolResult: null, toolError: errorIn(response) };
  if (isJsonObject(response) && 'output' in response && Object.keys(response).length === 1)
    return { toolResult: response['output'] ?? null, toolError: null };
  return { toolResult: response ?? null, toolError: null };
}

function errorIn(response: JsonValue | undefined): string {
  const error = isJsonObject(response) ? (response['error'] ?? response['output'] ?? response) : response;
  const text = typeof error === 'string' ? error : jsonTextOf(error ?? '');
  return text.trim() === '' || text === '""' ? FAILED : text;
}

function resultMessage(
  toolCallId: string,
  toolName: string,
  outcome: Outcome,
  media: readonly ContentPart[],
): Message {
  return {
    role: 'tool',
    content: null,
    ...(media.length > 0 ? { parts: media } : {}),
    toolPayload: { toolCallId, toolName, ...outcome },
  };
}
