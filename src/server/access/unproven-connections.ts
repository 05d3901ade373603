/**
 * Connections whose client has not shown the token. There are few places for them: a new one ends the oldest, so that clients that
 * say nothing cannot keep out those that know the token.
 */
import type { Duplex } from 'node:stream';

export class UnprovenConnections {
  readonly #max: number;
  /** The oldest first. */
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

  /** The client has shown the token. */
  prove(socket: Duplex): void {
    this.#sockets.delete(socket);
  }
}
