/** Arguments in the form a target needs: the model's own text, or an object. Digits of large integers survive in both. */
import { canonicalJson } from '../../core/canonical-json.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import { isNestedTooDeep } from '../../core/json-depth.js';
import { parseJsonKeepingDigits, quoteLargeIntegers } from '../../core/json-digits.js';
import type { ToolCallSpec } from '../message.js';

/** The model's text, unchanged, if it means the same as the arguments. */
export function argumentsTextOf(call: ToolCallSpec): string {
  const { argumentsText } = call;
  if (argumentsText === undefined || !saysTheSame(argumentsText, call)) return JSON.stringify(call.arguments);
  return argumentsText;
}

export interface ArgumentsObject {
  readonly value: JsonObject;
  /** An integer that a JavaScript number cannot hold is passed as text. */
  readonly hasLargeInteger: boolean;
}

export function argumentsObjectOf(call: ToolCallSpec): ArgumentsObject {
  const { argumentsText } = call;
  const hasLargeInteger = argumentsText !== undefined && quoteLargeIntegers(argumentsText) !== argumentsText;
  const exact = hasLargeInteger && saysTheSame(argumentsText, call) ? tryParse(argumentsText) : undefined;
  if (isJsonObject(exact)) return { value: exact, hasLargeInteger };
  return { value: isJsonObject(call.arguments) ? call.arguments : {}, hasLargeInteger: false };
}

function saysTheSame(text: string, call: ToolCallSpec): boolean {
  const exact = tryParse(text);
  if (!isJsonObject(exact)) return false;
  if (canonicalJson(exact) === canonicalJson(call.arguments)) return true;
  // The parsed arguments were rounded, so the text is the exact one.
  const rounded: unknown = JSON.parse(text);
  return canonicalJson(rounded as JsonObject) === canonicalJson(call.arguments);
}

function tryParse(text: string): unknown {
  try {
    const value = parseJsonKeepingDigits(text);
    return isNestedTooDeep(value) ? undefined : value;
  } catch {
    return undefined;
  }
}
