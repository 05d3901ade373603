/**
 * Sends to one client, with back-pressure: a client that does not read is disconnected, so that messages
 * never pile up.
 */
import type { WebSocket } from 'ws';
import type { JsonObject } from '../../core/json.js';

/** Close codes for private use (4000 to 4999), documented in `docs/server.md`. */
export const CLOSE = {
  badMessage: 4400,
  unauthorized: 4401,
  slowReader: 4408,
  shutDown: 1001,
  failed: 1011,
} as const;

/** Maximum of messages waiting for one client. */
const WAITING_MAX = 1_000;
/** How long to wait for the closing handshake, in ms. */
const CLOSE_MS = 1_000;

export class SocketSender {
  readonly #socket: WebSocket;
  readonly #stalledMs: number;
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(socket: WebSocket, stalledMs: number) {
    this.#socket = socket;
    this.#stalledMs = stalledMs;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  /** Sends a single message. False if the client is gone, or was disconnected for not reading. */
  message(message: JsonObject): Promise<boolean> {
    return this.texts([JSON.stringify(message)]);
  }

  /** Sends in the order of the calls. Resolves when everything has left this process. */
  texts(texts: readonly string[]): Promise<boolean> {
    if (this.#waiting >= WAITING_MAX) return Promise.resolve(this.#tooSlow());
    this.#waiting += 1;
    const sent = this.#last.then(() => this.#send(texts));
    this.#last = sent.then(() => {
      this.#waiting -= 1;
    });
    return sent;
  }

  async #send(texts: readonly string[]): Promise<boolean> {
    if (!this.isOpen || texts.length === 0) return this.isOpen;
    const sent = new Promise<boolean>((resolve) => {
      for (const text of texts.slice(0, -1)) this.#socket.send(text);
      this.#socket.send(texts.at(-1) ?? '', (error) => resolve(!error));
    });
    let timer: NodeJS.Timeout | undefined;
    const stalled = new Promise<'stalled'>((resolve) => {
      timer = setTimeout(() => resolve('stalled'), this.#stalledMs);
    });
    const outcome = await Promise.race([sent, stalled]);
    clearTimeout(timer);
    return outcome === 'stalled' ? this.#tooSlow() : outcome;
  }

  #tooSlow(): false {
    this.close(CLOSE.slowReader, 'too slow: subscribe again with the last version that came');
    return false;
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
    setTimeout(() => this.#socket.terminate(), CLOSE_MS).unref();
  }
}
