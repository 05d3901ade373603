/** Collects the chunks or events of a provider's stream into one response, in the provider's non-streaming form. */
import type { JsonObject } from '../../core/json.js';

export interface ResponseStream {
  /** Adds a chunk. Unknown content is ignored. */
  add(chunk: JsonObject): void;
  /** True once the provider reported the end of the answer. */
  readonly isFinished: boolean;
  /** What has arrived so far, as an entry that `readMessages` accepts. */
  response(): JsonObject;
}
