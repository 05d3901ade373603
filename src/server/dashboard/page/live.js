/**
 * Events of the server. Reconnects automatically and continues after the last received version, so that no
 * change is lost or seen twice.
 */
import { token } from './api.js';

/**
 * @typedef {{ session: string, since: number, history?: string | undefined, onEvent: (event: import('./wire.js').StateEvent) => void, onResync: () => void }} StateSubscription
 */

const RETRY_MS = [500, 1_000, 2_000, 5_000];

export class Live {
  /** @type {WebSocket | null} */
  #socket = null;
  #tries = 0;
  /** @type {Map<string, StateSubscription>} by root */
  #states = new Map();
  /** @type {Set<(message: import('./wire.js').LiveMessage) => void>} */
  #listeners = new Set();
  /** @type {(isConnected: boolean) => void} */
  #onStatus;

  /** @param {(isConnected: boolean) => void} onStatus */
  constructor(onStatus) {
    this.#onStatus = onStatus;
  }

  connect() {
    const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/events`);
    this.#socket = socket;
    socket.addEventListener('open', () =>
      socket.send(JSON.stringify({ type: 'authenticate', token: token() })),
    );
    socket.addEventListener('message', ({ data }) => this.#take(JSON.parse(data)));
    socket.addEventListener('close', () => {
      if (this.#socket !== socket) return;
      this.#onStatus(false);
      const wait = RETRY_MS[Math.min(this.#tries, RETRY_MS.length - 1)];
      this.#tries += 1;
      setTimeout(() => this.#socket === socket && this.connect(), wait);
    });
  }

  /** For good: with another token there is another connection. */
  close() {
    const socket = this.#socket;
    this.#socket = null; // so that it does not connect again
    socket?.close();
  }

  /** @param {import('./wire.js').LiveMessage} message */
  #take(message) {
    if (message.type === 'authenticated') {
      this.#tries = 0;
      this.#send({ type: 'subscribe', to: 'sessions' });
      this.#send({ type: 'subscribe', to: 'agents' });
      for (const state of this.#states.values()) this.#subscribe(state);
      this.#onStatus(true);
    }
    const state = this.#states.get(message.root_session_id ?? '');
    const version = message.global_version ?? 0;
    if (state && message.type === 'resync') {
      state.since = version;
      state.history = message.history;
      state.onResync();
    } else if (state && version > state.since && message.type.startsWith('state_')) {
      state.since = version;
      state.history = message.history;
      state.onEvent(/** @type {import('./wire.js').StateEvent} */ (message));
    }
    for (const listener of this.#listeners) listener(message);
  }

  /** @param {object} message */
  #send(message) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  /** @param {StateSubscription} state */
  #subscribe({ session, since, history }) {
    this.#send({ type: 'subscribe', to: 'state', session, since, history });
  }

  /**
   * Changes of one root after a version. The returned function stops it. @param {string} root @param
   * {StateSubscription} state
   */
  watchState(root, state) {
    this.#states.set(root, state);
    this.#subscribe(state);
    return () => {
      if (this.#states.get(root) !== state) return;
      this.#states.delete(root);
      this.#send({ type: 'unsubscribe', session: state.session });
    };
  }

  /**
   * Every message. The returned function stops it. @param {(message: import('./wire.js').LiveMessage) =>
   * void} listener
   */
  listen(listener) {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }
}
