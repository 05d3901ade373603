/** Collects the chunks or events of a provider's stream into one response, in the provider's non-streaming form. */
import type { JsonObject, JsonValue } from '../../core/json.js';

/** What one chunk adds to the text and to the reasoning of an answer. */
export interface StreamedText {
  readonly text?: string;
  readonly reasoning?: string;
}

/** Without empty fields, and without values that are no text. */
export function streamedText(text: JsonValue | undefined, reasoning?: JsonValue): StreamedText {
  return {
    ...(typeof text === 'string' && text !== '' ? { text } : {}),
    ...(typeof reasoning === 'string' && reasoning !== '' ? { reasoning } : {}),
  };
}

export interface ResponseStream {
  /** Adds a chunk. Unknown content is ignored. */
  add(chunk: JsonObject): void;
  /** What a chunk shows to a reader. Does not add it. */
  textIn(chunk: JsonObject): StreamedText;
  /** True once the provider reported the end of the answer. */
  readonly isFinished: boolean;
  /** What has arrived so far, as an entry that `readMessages` accepts. */
  response(): JsonObject;
}
