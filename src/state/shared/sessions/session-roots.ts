/** The roots of sessions, also of those whose record names none. No I/O. */
import type { JsonObject } from '../../../core/json.js';

interface Above {
  readonly parent: string | null;
  /** Null if the record names none, as in older stores. */
  readonly root: string | null;
}

/**
 * Knows the root of each session. A record without a root belongs to the root of its parent, through any number
 * of such records; without a parent it is a root itself.
 */
export class SessionRoots {
  readonly #sessions = new Map<string, Above>();
  /** Sessions whose record names no root. */
  readonly #derived = new Set<string>();

  /** Reads the record of a session, in the order of the journal: the last one of an id is valid. */
  add({ id, parent, root }: JsonObject): void {
    if (typeof id !== 'string') return;
    const named = textOrNull(root);
    this.#sessions.set(id, { parent: textOrNull(parent), root: named });
    if (named === null) this.#derived.add(id);
    else this.#derived.delete(id);
  }

  /** Sessions whose root is derived. A later record of a session above them may change it. */
  get derived(): Iterable<string> {
    return this.#derived;
  }

  /**
   * If the record of a session above is missing, or in a cycle, which only damage makes, the chain ends with its id.
   */
  rootOf(id: string): string {
    const seen = new Set<string>();
    let at = id;
    for (;;) {
      const above = this.#sessions.get(at);
      if (!above || seen.has(at)) return at;
      if (above.root !== null) return above.root;
      if (above.parent === null) return at;
      seen.add(at);
      at = above.parent;
    }
  }
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
