/** Describes a value in a few words, to decide whether to read it. */
import { isJsonObject, type JsonValue } from '../../core/json.js';

const KEYS_MAX = 12;
const KEY_LENGTH_MAX = 40;

export function summarizeValue(value: JsonValue): string {
  if (Array.isArray(value)) return value.length === 1 ? 'list of 1 item' : `list of ${value.length} items`;
  if (isJsonObject(value)) return summarizeKeys(Object.keys(value));
  if (typeof value === 'string') return `text of ${value.length} characters`;
  return String(value);
}

function summarizeKeys(keys: readonly string[]): string {
  if (keys.length === 0) return 'empty object';
  const shown = keys
    .slice(0, KEYS_MAX)
    .map((key) => (key.length > KEY_LENGTH_MAX ? `${key.slice(0, KEY_LENGTH_MAX)}…` : key));
  const more = keys.length > KEYS_MAX ? ` and ${keys.length - KEYS_MAX} more` : '';
  return oneLine(`object with ${shown.join(', ')}${more}`).toWellFormed();
}

/** Agents choose keys: a line break in a key must not look like the next line of a list. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, ' ');
}
