/** Sends to one client, and ends its connection when it does not take what is sent: nothing piles up here. */
import type { WebSocket } from 'ws';
import type { JsonObject } from '../../core/json.js';

/** Private use (4000 to 4999). `docs/server.md` lists them. */
export const CLOSE = {
  badMessage: 4400,
  unauthorized: 4401,
  slowReader: 4408,
  shutDown: 1001,
  failed: 1011,
} as const;

/** So much may lie in buffers of this process for one client, in bytes. */
const BUFFERED_MAX = 1024 * 1024;
/** A closing handshake that does not come. */
const CLOSE_MS = 1_000;

export class SocketSender {
  readonly #socket: WebSocket;
  readonly #stalledMs: number;

  constructor(socket: WebSocket, stalledMs: number) {
    this.#socket = socket;
    this.#stalledMs = stalledMs;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  /** A single message. False when the client is gone, or was let go for not reading. */
  message(message: JsonObject): Promise<boolean> {
    return this.texts([JSON.stringify(message)]);
  }

  /** Resolves when all of it left this process. */
  async texts(texts: readonly string[]): Promise<boolean> {
    if (!this.isOpen || texts.length === 0) return this.isOpen;
    if (this.#socket.bufferedAmount > BUFFERED_MAX) return this.#tooSlow();
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
