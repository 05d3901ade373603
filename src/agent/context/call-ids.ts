/**
 * The ids of one turn's calls in a host's own loop.
 *
 * The traces and the ledger know a call by its turn and its id. Some providers use an id again in a later step, give one to two
 * calls of one response, or give none: such a call gets an id of its own, the same one where its tool runs and where a response
 * tells of it.
 */
import { canonicalJson } from '../../core/canonical-json.js';
import type { JsonValue } from '../../core/json.js';

export class CallIds {
  /** Step, given id and arguments → own id. */
  readonly #runs = new Map<string, string>();
  readonly #given = new Map<string, string>();

  /** Of a call whose tool is about to run. @param find gives it an id when it runs for the first time */
  ofRun(step: string, toolName: string, given: string, args: JsonValue, find: () => string): string {
    const place = [step, toolName, given, canonicalJson(args)].join('\u0000');
    let own = this.#runs.get(place);
    if (own === undefined) {
      own = find();
      this.#runs.set(place, own);
      this.#given.set(own, given);
    }
    return own;
  }

  /** What the response called it; undefined for a call that has not run here. */
  givenOf(own: string): string | undefined {
    return this.#given.get(own);
  }

  /** Ids of the calls that run or ran here. */
  get taken(): Iterable<string> {
    return this.#given.keys();
  }
}

/** The wanted id where it is free, else one made from it. It is taken from now on. */
export function freeId(wanted: string, taken: Set<string>): string {
  let id = wanted;
  const base = wanted === '' ? 'call' : wanted;
  for (let count = 2; id === '' || taken.has(id); count += 1) id = `${base}_${count}`;
  taken.add(id);
  return id;
}
