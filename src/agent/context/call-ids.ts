/**
 * The ids of one turn's calls in a host's own loop.
 *
 * Traces and ledger identify a call by its turn and its id. Some providers reuse an id in a later step, give
 * two calls of one response the same id, or give none. Such a call gets a new id, which is the same for its
 * tool run and for the response that contains it.
 */
import { canonicalJson } from '../../core/canonical-json.js';
import type { JsonValue } from '../../core/json.js';

export class CallIds {
  /** Step, given id and arguments → own id. */
  readonly #runs = new Map<string, string>();
  readonly #given = new Map<string, string>();

  /** The id of a call whose tool is about to run. @param find chooses the id at the first run */
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

  /** The id in the response; undefined for a call that has not run here. */
  givenOf(own: string): string | undefined {
    return this.#given.get(own);
  }

  /** Ids of calls that run or have run here. */
  get taken(): Iterable<string> {
    return this.#given.keys();
  }
}

/** The wanted id if it is free, else a new one derived from it. The id is taken from then on. */
export function freeId(wanted: string, taken: Set<string>): string {
  let id = wanted;
  const base = wanted === '' ? 'call' : wanted;
  for (let count = 2; id === '' || taken.has(id); count += 1) id = `${base}_${count}`;
  taken.add(id);
  return id;
}
