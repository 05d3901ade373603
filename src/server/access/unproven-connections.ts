/**
 * Connections without a proven token. Their number is limited, and a new one ends the oldest, so that silent
 * clients cannot keep out those with a token.
 */
import type { Duplex } from 'node:stream';

export class UnprovenConnections {
  readonly #max: number;
  /** Oldest first. */
  readonly #sockets = new Set<Duplex>();

  constructor(max: number) {
    this.#max = max;
  }

  add(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    const [oldest] = this.#sockets;
    if (this.#sockets.size > this.#max && oldest) {
      this.#sockets.delete(oldest);
      oldest.destroy();
    }
  }

  /** The client has sent a valid token. */
  prove(socket: Duplex): void {
    this.#sockets.delete(socket);
  }
}
