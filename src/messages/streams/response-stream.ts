/** Gathers the chunks or events of a provider's stream into one response, as the provider gives it without streaming. */
import type { JsonObject } from '../../core/json.js';

export interface ResponseStream {
  /** Takes what it knows of a chunk; what is new to it does no harm. */
  add(chunk: JsonObject): void;
  /** The provider said that the answer is whole. */
  readonly isFinished: boolean;
  /** What was said until now, as an entry that `readMessages` takes. */
  response(): JsonObject;
}
