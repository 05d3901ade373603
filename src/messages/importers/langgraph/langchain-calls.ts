/** The tool calls of a LangChain message: those that were parsed, those that could not be, and the provider's text of each. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { ToolCallSpec } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { argumentsFrom, argumentsFromText } from '../reading/open-calls.js';
import { idText, isAbsent, listField, objectField, textField } from '../reading/record-fields.js';
import { isCallBlock } from './langchain-parts.js';

/** The key under which Google's package stores the signatures of calls, by call id. */
const SIGNATURES = '__gemini_function_call_thought_signatures__';

/** @param makeId for a call in the old form, which has no id */
export function langChainCallsOf(
  fields: JsonObject,
  place: string,
  losses: LossAccount,
  makeId: () => string,
): ToolCallSpec[] {
  const given = objectField(fields, 'additional_kwargs');
  const raw = listField(given, 'tool_calls').filter(isJsonObject);
  const texts = textsOf(raw);
  const signatures = new Map(Object.entries(objectField(given, SIGNATURES)));
  const calls = [
    ...objectsIn(fields['tool_calls'], place, losses).map((call) => parsedCall(call, texts)),
    ...objectsIn(fields['invalid_tool_calls'], place, losses).map((call) => invalidCall(call, place, losses)),
  ];
  const known = new Set(calls.map(({ id }) => id));
  const others = [...raw, ...listField(fields, 'content').filter(isCallBlock)].map(providerCall);
  for (const call of others) {
    if (known.has(call.id)) continue;
    known.add(call.id);
    calls.push(call);
  }
  if (isJsonObject(given['function_call']) && calls.length === 0) {
    losses.approximate('a function call without an id', place);
    calls.push({ ...providerCall({ function: given['function_call'] }), id: makeId() });
  }
  return calls.map((call) => signedCall(call, signatures.get(call.id)));
}

function objectsIn(list: JsonValue | undefined, place: string, losses: LossAccount): JsonObject[] {
  if (!Array.isArray(list)) return [];
  const objects = list.filter(isJsonObject);
  for (let at = objects.length; at < list.length; at += 1)
    losses.drop('a tool call that is not an object', place);
  return objects;
}

/** The provider's text of the arguments, by call id. */
function textsOf(raw: readonly JsonObject[]): Map<JsonValue | undefined, string> {
  const texts = new Map<JsonValue | undefined, string>();
  for (const call of raw) {
    const text = textField(objectField(call, 'function'), 'arguments');
    if (text !== undefined && !isAbsent(call['id'])) texts.set(call['id'], text);
  }
  return texts;
}

/** The provider's text has every digit and space; the parsed arguments may have lost some. */
function parsedCall(call: JsonObject, texts: ReadonlyMap<JsonValue | undefined, string>): ToolCallSpec {
  const { name, args } = call;
  const text = texts.get(call['id']);
  const fromText = text === undefined ? undefined : argumentsFromText(text);
  const isParsed = fromText !== undefined && isJsonObject(fromText.arguments);
  return { id: idText(call['id']), name: idText(name), ...(isParsed ? fromText : argumentsFrom(args)) };
}

function invalidCall(call: JsonObject, place: string, losses: LossAccount): ToolCallSpec {
  if (!isAbsent(call['error'])) losses.drop('what the parser said about a tool call', place);
  return { id: idText(call['id']), name: idText(call['name']), ...argumentsFrom(call['args']) };
}

/** A call as OpenAI, Anthropic or LangChain writes it. */
function providerCall(call: JsonObject): ToolCallSpec {
  const inner = { ...call, ...objectField(call, 'function', 'functionCall') };
  const id = idText(call['type'] === 'function_call' ? (call['call_id'] ?? call['id']) : call['id']);
  const given = inner['arguments'] ?? inner['input'] ?? inner['args'];
  return { id, name: idText(inner['name']), ...argumentsFrom(given) };
}

function signedCall(call: ToolCallSpec, signature: JsonValue | undefined): ToolCallSpec {
  return typeof signature === 'string' && signature !== '' ? { ...call, signature } : call;
}
