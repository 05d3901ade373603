/** One client's view of one root: every change after the version that it has, in order, none twice. */
import { isRekindleError } from '../../core/errors.js';
import type { SocketSender } from './socket-sender.js';
import type { StateFeed } from './state-feed.js';

export class StateSubscription {
  readonly #feed: StateFeed;
  readonly #sender: SocketSender;
  readonly #onFailure: (thrown: unknown) => void;
  #sentTo: number;
  #generation: number;
  #off: () => void = () => {};
  #pumping = false;
  #again = false;
  #ended = false;

  /** @param since the last version that the client has */
  constructor(feed: StateFeed, sender: SocketSender, since: number, onFailure: (thrown: unknown) => void) {
    this.#feed = feed;
    this.#sender = sender;
    this.#sentTo = since;
    this.#generation = feed.generation;
    this.#onFailure = onFailure;
  }

  /** The client has something that does not lead here: it is told to read the state anew. Before `start`. */
  resyncFirst(): void {
    this.#generation = -1;
  }

  start(): void {
    this.#off = this.#feed.onMore(() => this.#wake());
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#off();
  }

  #wake(): void {
    this.#again = true;
    if (this.#pumping) return;
    this.#pumping = true;
    void this.#pump().catch((thrown: unknown) => {
      this.#pumping = false;
      this.#onFailure(thrown);
    });
  }

  /** At the pace of the client: the next page is looked at when the last one has left. */
  async #pump(): Promise<void> {
    while (this.#again && !this.#ended) {
      this.#again = false;
      if (this.#generation !== this.#feed.generation) await this.#resync();
      for (;;) {
        const events = await this.#next();
        if (events.length === 0 || this.#ended) break;
        if (!(await this.#sender.texts(events.map(({ text }) => text)))) return this.end();
        this.#sentTo = events.at(-1)!.globalVersion;
      }
    }
    this.#pumping = false; // in the same step as the last look: what comes after it begins anew
  }

  async #next() {
    try {
      return await this.#feed.after(this.#sentTo);
    } catch (thrown) {
      if (!isRekindleError(thrown, 'HISTORY_GONE')) throw thrown;
      await this.#resync();
      return [];
    }
  }

  /** What came between is not known step by step: the client reads the state anew, and goes on from there. */
  async #resync(): Promise<void> {
    this.#generation = this.#feed.generation;
    const { globalVersion, history } = await this.#feed.state.position();
    this.#sentTo = globalVersion;
    const message = {
      type: 'resync',
      root_session_id: this.#feed.state.root,
      global_version: globalVersion,
      ...(history === undefined ? {} : { history }),
    };
    if (!(await this.#sender.message(message))) this.end();
  }
}
