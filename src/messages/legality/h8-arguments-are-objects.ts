/**
 * H8: the arguments of a call are an object. Empty arguments become an empty object; text that contains an object
 * becomes that object. Anything else is stored whole inside an object, and never becomes arguments that the tool did
 * not run with.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import { isNestedTooDeep } from '../../core/json-depth.js';
import { tryParseJsonKeepingDigits } from '../../core/json-digits.js';
import { isToolCallPayload, type ToolCallSpec } from '../message.js';
import type { MessageRule, Note } from './rule.js';

/** Key for the model's arguments if they are not an object. */
export const UNPARSED_ARGUMENTS = '_unparsed_arguments';

export const argumentsAreObjects: MessageRule = {
  rule: 'H8',
  mend(message, note) {
    if (!isToolCallPayload(message.toolPayload)) return message;
    const { toolCalls } = message.toolPayload;
    if (toolCalls.every((call) => isJsonObject(call.arguments))) return message;
    return { ...message, toolPayload: { toolCalls: toolCalls.map((call) => mendArguments(call, note)) } };
  },
};

function mendArguments(call: ToolCallSpec, note: Note): ToolCallSpec {
  if (isJsonObject(call.arguments)) return call;
  const { argumentsText, ...rest } = call;
  const given = givenArguments(call);
  const found = objectIn(given);
  if (found) {
    note('normalise-arguments', `the arguments of ${call.name} are no object`, call.id);
    return typeof given === 'string' && given.trim() !== '' && isExact(given, found)
      ? { ...rest, arguments: found, argumentsText: given }
      : { ...rest, arguments: found };
  }
  note('wrap-raw-arguments', `the arguments of ${call.name} do not parse to an object`, call.id);
  return { ...rest, arguments: { [UNPARSED_ARGUMENTS]: argumentsText ?? given ?? null } };
}

/** The model's text is preferred to an empty value that its reader made of it. */
export function givenArguments({ arguments: parsed, argumentsText }: ToolCallSpec): JsonValue | undefined {
  const empty = typeof parsed !== 'string' && objectIn(parsed) !== null;
  return empty && argumentsText?.trim() ? argumentsText : parsed;
}

/** The object that the value represents; null if it represents none. */
function objectIn(given: JsonValue | undefined): JsonObject | null {
  if (given === null || given === undefined) return {};
  if (Array.isArray(given)) return given.length === 0 ? {} : null;
  if (typeof given !== 'string') return null;
  if (given.trim() === '') return {};
  const once = tryParseJsonKeepingDigits(given);
  const value = typeof once === 'string' ? tryParseJsonKeepingDigits(once) : once; // encoded twice
  if (isJsonObject(value)) return isNestedTooDeep(value) ? null : value;
  return value === null || (Array.isArray(value) && value.length === 0) ? {} : null;
}

/** The text is the model's own and holds more than the parsed form (large integers, spacing). */
function isExact(text: string, found: JsonObject): boolean {
  return text.trimStart().startsWith('{') && text !== JSON.stringify(found);
}
