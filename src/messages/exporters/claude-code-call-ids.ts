/**
 * Call ids as Claude Code needs them: in the API's alphabet, and unique in a session, because Claude Code finds results
 * by id.
 */
import { digestOf } from './transcript-exporter.js';

const ID_PATTERN = /^[a-zA-Z0-9_-]+$/;

export class CallIds {
  readonly #used = new Set<string>();
  /** The session's name for the newest call with each id. */
  readonly #newest = new Map<string, string>();

  /** A valid id is kept. */
  called(id: string): string {
    const isFine = ID_PATTERN.test(id) && !this.#used.has(id);
    const made = isFine ? id : `toolu_${digestOf(id, String(this.#used.size)).slice(0, 24)}`;
    this.#used.add(made);
    this.#newest.set(id, made);
    return made;
  }

  answered(id: string): string {
    return this.#newest.get(id) ?? (ID_PATTERN.test(id) ? id : `toolu_${digestOf(id).slice(0, 24)}`);
  }
}
