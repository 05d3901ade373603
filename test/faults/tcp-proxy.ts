/** A network on 127.0.0.1 that fails when it is told to: connections that are cut, silent, late, or lose one answer. */
import { once } from 'node:events';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SeededRandom } from '../../src/storage/simulated/seeded-random.js';

export type ProxyFault =
  /** All connections at once, and new ones while it lasts. */
  | 'cut'
  /** Now and then a message goes through and its answer does not come: the connection is cut instead. */
  | 'cut-answer'
  /** What goes that way is lost, and nobody hears of it; a connection that lost something stays so. */
  | 'lose-requests'
  | 'lose-answers'
  | 'lose-both'
  /** Nothing goes through, and all of it arrives at the end: also of connections that were given up meanwhile. */
  | 'hold'
  /** The same for half of the connections that there are at the beginning: what arrives late finds a store that has changed meanwhile. */
  | 'hold-some'
  /** Every message is late, in its order. */
  | 'delay';

export const PROXY_FAULTS: readonly ProxyFault[] = [
  'cut',
  'cut-answer',
  'lose-requests',
  'lose-answers',
  'lose-both',
  'hold',
  'hold-some',
  'delay',
];

const DELAY_MAX_MS = 250;
const CUT_ANSWER_OF_100 = 8;
/** The server has done what it was asked for by then, or never will. */
const ANSWER_WITHIN_MS = 1_000;

interface Fault {
  readonly kind: ProxyFault;
  readonly over: Promise<void>;
}

export class TcpProxy {
  readonly #server: Server;
  readonly #targetPort: number;
  readonly #random: SeededRandom;
  readonly #links = new Set<Link>();
  #fault: Fault | null = null;
  #end: () => void = () => {};
  /** Answers that were cut off. */
  answersCut = 0;

  private constructor(targetPort: number, random: SeededRandom) {
    this.#targetPort = targetPort;
    this.#random = random;
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#accept(client));
  }

  static async start(targetPort: number, random: SeededRandom): Promise<TcpProxy> {
    const proxy = new TcpProxy(targetPort, random);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as { readonly port: number }).port;
  }

  get fault(): Fault | null {
    return this.#fault;
  }

  get random(): SeededRandom {
    return this.#random;
  }

  begin(kind: ProxyFault): void {
    this.heal();
    const over = new Promise<void>((resolve) => (this.#end = resolve));
    this.#fault = { kind, over };
    for (const link of [...this.#links]) link.meet(this.#fault);
  }

  /** The network is as it should be. Connections that were cut or lost something are not. */
  heal(): void {
    this.#fault = null;
    this.#end();
  }

  #accept(client: Socket): void {
    if (this.#fault?.kind === 'cut') {
      client.on('error', () => {});
      client.destroy();
      return;
    }
    const server = createConnection({ port: this.#targetPort, host: '127.0.0.1', allowHalfOpen: true });
    const link = new Link(this, client, server);
    this.#links.add(link);
    if (this.#fault && this.#fault.kind !== 'hold-some') link.meet(this.#fault);
    void link.ended.then(() => this.#links.delete(link));
  }

  async close(): Promise<void> {
    this.heal();
    for (const link of this.#links) link.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** One connection through the proxy. */
class Link {
  readonly ended: Promise<void>;
  readonly #proxy: TcpProxy;
  readonly #client: Socket;
  readonly #server: Socket;
  #held: Promise<void> | null = null;
  #requestsLost = false;
  #answersLost = false;
  #cutAfterAnswer = false;
  #hasEnded: () => void = () => {};

  constructor(proxy: TcpProxy, client: Socket, server: Socket) {
    this.#proxy = proxy;
    this.#client = client;
    this.#server = server;
    this.ended = new Promise((resolve) => (this.#hasEnded = resolve));
    this.#carry(client, server, 'requests');
    this.#carry(server, client, 'answers');
  }

  meet({ kind, over }: Fault): void {
    const held = kind === 'hold' || (kind === 'hold-some' && this.#proxy.random.below(2) === 0);
    if (held) this.#held = over;
    if (kind === 'cut') this.cut();
    if (kind === 'lose-requests' || kind === 'lose-both') this.#requestsLost = true;
    if (kind === 'lose-answers' || kind === 'lose-both') this.#answersLost = true;
  }

  cut(): void {
    this.#client.destroy();
    this.#server.destroy();
    this.#hasEnded();
  }

  /** One message after the other, also the end of the stream. */
  #carry(from: Socket, to: Socket, direction: 'requests' | 'answers'): void {
    let before: Promise<void> = Promise.resolve();
    from.on('error', () => {});
    from.on('data', (chunk: Buffer) => {
      before = before.then(() => this.#pass(chunk, to, direction));
    });
    from.on('end', () => {
      before = before.then(() => this.#passEnd(to, direction));
    });
    from.on('close', () => {
      before = before.then(() => this.#passEnd(to, direction, from.errored !== null));
    });
  }

  #isLost(direction: 'requests' | 'answers'): boolean {
    return direction === 'requests' ? this.#requestsLost : this.#answersLost;
  }

  async #pass(chunk: Buffer, to: Socket, direction: 'requests' | 'answers'): Promise<void> {
    const fault = this.#proxy.fault;
    await this.#held;
    if (fault?.kind === 'delay') await sleep(this.#proxy.random.below(DELAY_MAX_MS));
    if (this.#isLost(direction)) return;
    if (this.#cutAfterAnswer && direction === 'answers') {
      this.#proxy.answersCut += 1;
      return this.cut();
    }
    if (to.writable) to.write(chunk);
    const chosen = direction === 'requests' && this.#proxy.fault?.kind === 'cut-answer';
    if (chosen && this.#proxy.random.below(100) < CUT_ANSWER_OF_100) {
      this.#cutAfterAnswer = true;
      setTimeout(() => this.cut(), ANSWER_WITHIN_MS).unref();
    }
  }

  /** While nothing goes through, the end of a connection does not either. */
  async #passEnd(to: Socket, direction: 'requests' | 'answers', broken = false): Promise<void> {
    const fault = this.#proxy.fault;
    await this.#held;
    if (fault && this.#isLost(direction)) await fault.over;
    if (direction === 'answers' && this.#answersLost) {
      this.#server.end();
      return; // the client goes on waiting
    }
    if (broken || this.#requestsLost || this.#answersLost) this.cut();
    else to.end();
    if (this.#client.destroyed && this.#server.destroyed) this.#hasEnded();
  }
}
