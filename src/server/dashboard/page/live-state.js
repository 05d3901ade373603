/** The keys of a root, kept current with events. A change costs the same with ten keys and with thousands. */

/** @typedef {import('./wire.js').StateKey} StateKey */

export class LiveState {
  root;
  version;
  history;
  /** The oldest version that the server can show. */
  oldest;
  /** @type {Map<string, StateKey>} */
  keys;
  /** Every author of a current or earlier value seen here. @type {Set<string>} */
  authors = new Set();
  /** @type {Set<string>} */
  #changed = new Set();
  #isDrawn = false;

  /** @param {import('./wire.js').StateView} view @param {number} oldest */
  constructor(view, oldest) {
    this.root = view.root_session_id;
    this.version = view.global_version;
    this.history = view.history;
    this.oldest = oldest;
    this.keys = new Map(Object.entries(view.keys));
    for (const { updated_by } of this.keys.values()) if (updated_by) this.authors.add(updated_by);
  }

  /** @param {import('./wire.js').StateEvent} event */
  apply(event) {
    if (event.type === 'state_key_deleted') this.keys.delete(event.key);
    else this.keys.set(event.key, { ...event, updated_at: event.timestamp });
    const author = event.updated_by ?? event.deleted_by;
    if (author) this.authors.add(author);
    this.version = event.global_version;
    if (this.#isDrawn) this.#changed = new Set();
    this.#isDrawn = false;
    this.#changed.add(event.key);
  }

  /** The keys that changed between the last two drawings. Call it when drawing. */
  takeChanged() {
    this.#isDrawn = true;
    return this.#changed;
  }
}
