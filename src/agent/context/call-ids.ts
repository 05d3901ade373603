/**
 * The ids of one turn's calls in a host's own loop.
 *
 * The traces and the ledger know a call by its turn and its id. Some providers use an id again in a later step: such a call gets
 * an id of its own, the same one where its tool runs and where the response messages tell of it.
 */
export class CallIds {
  readonly #isAnswered: (id: string) => boolean;
  /** Place and given id → own id. */
  readonly #known = new Map<string, string>();
  /** Given id and tool → own ids, in the order of the calls. */
  readonly #inOrder = new Map<string, string[]>();
  /** Given id and tool → how many response messages told of one. */
  readonly #told = new Map<string, number>();
  readonly #latest = new Map<string, string>();
  readonly #used = new Set<string>();

  /** @param isAnswered whether the context has a result for the id in this turn */
  constructor(isAnswered: (id: string) => boolean) {
    this.#isAnswered = isAnswered;
  }

  /** Of a call whose tool is about to run in a step. @param isOpen it is in the context and waits for its result */
  ofRun(step: string, toolName: string, given: string, isOpen: boolean): string {
    return this.#once(keyOf('run', step, given), () => (isOpen ? given : this.#add(toolName, given)));
  }

  /** Of a call that the response message at this place tells of. */
  ofMessage(index: number, toolName: string, given: string): string {
    const own = this.#once(keyOf('message', String(index), given), () => {
      const key = keyOf(toolName, given);
      const told = this.#told.get(key) ?? 0;
      this.#told.set(key, told + 1);
      return this.#inOrder.get(key)?.[told] ?? this.#add(toolName, given);
    });
    this.#latest.set(given, own);
    return own;
  }

  /** Of a result: that of the last call of its id. */
  ofResult(given: string): string {
    return this.#latest.get(given) ?? given;
  }

  #once(place: string, find: () => string): string {
    let own = this.#known.get(place);
    if (own === undefined) this.#known.set(place, (own = find()));
    return own;
  }

  #add(toolName: string, given: string): string {
    let own = given;
    for (let count = 2; this.#used.has(own) || this.#isAnswered(own); count += 1) own = `${given}_${count}`;
    this.#used.add(own);
    const key = keyOf(toolName, given);
    this.#inOrder.set(key, [...(this.#inOrder.get(key) ?? []), own]);
    return own;
  }
}

function keyOf(...parts: readonly string[]): string {
  return parts.join('\u0000');
}
