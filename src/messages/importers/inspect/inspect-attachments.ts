/** Restores attachments in the messages that refer to them: Inspect stores long texts and images separately, each once. */
import type { JsonValue } from '../../../core/json.js';
import { tryParseJson } from '../../../core/json.js';
import type { LossAccount } from '../loss-account.js';
import { tryJsonTextOf } from '../reading/json-text.js';
import { valueAt } from '../reading/value-at.js';
import type { TranscriptSource } from '../transcript.js';

const REFERENCE = /attachment:\/\/([0-9a-f]{32})/g;

export class Attachments {
  readonly #source: TranscriptSource;
  readonly #starts: ReadonlyMap<string, number>;
  readonly #losses: LossAccount;

  constructor(source: TranscriptSource, starts: ReadonlyMap<string, number>, losses: LossAccount) {
    this.#source = source;
    this.#starts = starts;
    this.#losses = losses;
  }

  /** The references are replaced in the JSON text of the message, so that the message need not be traversed. */
  async resolve(message: JsonValue, place: string): Promise<JsonValue> {
    const text = tryJsonTextOf(message) ?? '';
    const digests = new Set([...text.matchAll(REFERENCE)].map((match) => match[1]!));
    if (digests.size === 0) return message;
    const found = new Map<string, string>();
    for (const digest of digests) {
      const content = await this.#contentOf(digest);
      if (content === undefined) this.#losses.drop('an attachment that the log does not have', place);
      else found.set(digest, JSON.stringify(content).slice(1, -1));
    }
    const whole = text.replace(REFERENCE, (reference, digest: string) => found.get(digest) ?? reference);
    return tryParseJson(whole) ?? message;
  }

  async #contentOf(digest: string): Promise<string | undefined> {
    const start = this.#starts.get(digest);
    const content = start === undefined ? undefined : await valueAt(this.#source, start);
    return typeof content === 'string' ? content : undefined;
  }
}
