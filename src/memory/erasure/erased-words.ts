/**
 * The words that only the erased records contain. A summary or a fact that has one of them was made from these records,
 * whatever its own fields say: a model that summarizes also reads earlier summaries.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';

const WORD = /[\p{L}\p{N}_][\p{L}\p{N}_./-]{2,}[\p{L}\p{N}_]/gu;
/** Names, numbers and paths identify more than an ordinary word does. */
const DISTINCTIVE = /[\p{N}_./-]|^.{12,}$/u;
/** Share of a text's words from which on it is derived, also without a distinctive one. */
const DERIVED_SHARE = 0.25;
/** Fields that do not hold what was said. */
const ENVELOPE = new Set([
  'id',
  'ts',
  'turn_id',
  'seq',
  'trace_type',
  'source_event',
  'tool_call_id',
  'message_id',
]);

export class ErasedWords {
  readonly #words = new Set<string>();

  add(text: string): void {
    for (const word of wordsOf(text)) this.#words.add(word);
  }

  addRow(row: JsonObject): void {
    for (const text of textsIn(row)) this.add(text);
  }

  /** For each record that stays. */
  removeRow(row: JsonObject): void {
    if (this.#words.size === 0) return;
    for (const text of textsIn(row)) for (const word of wordsOf(text)) this.#words.delete(word);
  }

  /** One of the words is in the text. */
  isIn(text: string): boolean {
    return this.#words.size > 0 && wordsOf(text).some((word) => this.#words.has(word));
  }

  /** Stricter than `isIn`: an ordinary word alone does not count, because another text may contain it by chance. */
  isClearlyIn(text: string): boolean {
    const words = wordsOf(text);
    const found = words.filter((word) => this.#words.has(word));
    return found.some((word) => DISTINCTIVE.test(word)) || found.length > words.length * DERIVED_SHARE;
  }
}

function wordsOf(text: string): string[] {
  return [...text.matchAll(WORD)].map(([word]) => word.toLowerCase());
}

/** Every text of a row, with the names of its members. */
function* textsIn(row: JsonObject): Generator<string> {
  for (const [key, value] of Object.entries(row)) if (!ENVELOPE.has(key)) yield* textsOf(value);
}

export function* textsOf(value: JsonValue): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (Array.isArray(value)) for (const item of value) yield* textsOf(item);
  else if (isJsonObject(value))
    for (const [key, item] of Object.entries(value)) {
      yield key;
      yield* textsOf(item);
    }
}
