/** One client's subscription to one root: every change after its version, in order, each once. */
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

  /** @param since the client's last version */
  constructor(feed: StateFeed, sender: SocketSender, since: number, onFailure: (thrown: unknown) => void) {
    this.#feed = feed;
    this.#sender = sender;
    this.#sentTo = since;
    this.#generation = feed.generation;
    this.#onFailure = onFailure;
  }

  /** The client's version does not lead here, so it must read the state again. Call it before `start`. */
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

  /** Sends at the client's pace: the next page is read when the last one was sent. */
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
    this.#pumping = false; // in the same tick as the last check, so that later changes start a new run
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

  /**
   * The changes in between are not available, so the client must read the state again and continue from
   * there.
   */
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
