/** The case files: one fault class each, with the right answer. */
import { readdirSync, readFileSync } from 'node:fs';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/core/json.js';
import { neutralMessageFrom } from '../../src/messages/importers/rekindle/neutral-message.js';
import type { Message } from '../../src/messages/message.js';
import { messageToJson } from '../../src/messages/message-serializer.js';

const FOLDER = new URL('../../fixtures/cases/', import.meta.url);
export const ANY_TEXT = '<any non-empty text>';

export interface CaseFile {
  readonly id: string;
  readonly title: string;
  readonly kind: string;
  readonly breaks: readonly string[];
  readonly messages: readonly Message[] | null;
  readonly raw: JsonObject;
  readonly context: JsonObject;
  readonly expected: JsonObject;
}

export const CASE_FILES: readonly CaseFile[] = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.json'))
  .sort()
  .map((name) => caseFrom(JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')) as JsonObject));

function caseFrom(raw: JsonObject): CaseFile {
  return {
    id: String(raw['id']),
    title: String(raw['title']),
    kind: String(raw['kind']),
    breaks: (raw['breaks'] ?? []) as string[],
    messages: Array.isArray(raw['messages']) ? raw['messages'].map(neutralMessageFrom) : null,
    raw,
    context: objectOf(raw['context']),
    expected: objectOf(raw['expected']),
  };
}

/** Cases with a list of messages: of kind `history` and `context`. */
export const MESSAGE_CASES = CASE_FILES.flatMap((file) =>
  file.messages === null ? [] : [{ ...file, messages: file.messages }],
);

export function expectedMessages(file: CaseFile): readonly Message[] | null {
  const { messages } = file.expected;
  return Array.isArray(messages) ? messages.map(neutralMessageFrom) : null;
}

/** Equal but for texts that the case leaves open; a message with such a text is synthetic, or a filled result. */
export function matches(actual: readonly Message[], wanted: readonly Message[]): boolean {
  return (
    actual.length === wanted.length &&
    wanted.every((message, index) => matchesJson(messageToJson(actual[index]!), messageToJson(message)))
  );
}

function matchesJson(actual: JsonValue | undefined, wanted: JsonValue | undefined): boolean {
  if (wanted === ANY_TEXT) return typeof actual === 'string' && actual.trim() !== '';
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(actual) &&
      actual.length === wanted.length &&
      wanted.every((value, index) => matchesJson(actual[index], value))
    );
  }
  if (!isJsonObject(wanted)) return actual === wanted;
  if (!isJsonObject(actual)) return false;
  const keys = new Set([...Object.keys(actual), ...Object.keys(wanted)]);
  keys.delete('arguments_text'); // beside the parsed form, for its spelling
  return [...keys].every((key) => matchesJson(actual[key], wanted[key]));
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
