/** The way from a host to the store, which can be cut without either end being told. */
import { once } from 'node:events';
import { createConnection, createServer, type Server, type Socket } from 'node:net';

export interface Link {
  /** How a host on this link starts a program. */
  readonly command: readonly string[];
  /** Where it finds the store. */
  readonly address: { readonly host: string; readonly port: number };
  /** `all`: nothing passes. `answers`: what the host sends arrives, but nothing comes back; where that cannot be had, nothing passes. */
  cut(what: 'all' | 'answers', loss: Loss): Promise<void>;
  /** Bytes pass again, and new connections. */
  heal(): Promise<void>;
  /** Ends what the cuts left behind. */
  forget(): void;
  close(): Promise<void>;
}

/** What becomes of bytes that are sent while the link is cut: lost for ever, or late (as a network sends them again). */
export type Loss = 'lost' | 'late';

/** A TCP proxy in front of the store. A connection that is cut stays open at both ends. */
export class ProxyLink implements Link {
  readonly command = [process.execPath] as const;
  readonly #server: Server;
  readonly #port: number;
  readonly #pairs = new Set<Pair>();
  #cut: { readonly what: 'all' | 'answers'; readonly loss: Loss } | null = null;

  static async open(target: { readonly host: string; readonly port: number }): Promise<ProxyLink> {
    const server = createServer({ allowHalfOpen: true });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ProxyLink(server, target);
  }

  private constructor(server: Server, target: { readonly host: string; readonly port: number }) {
    const address = server.address();
    this.#port = typeof address === 'object' && address !== null ? address.port : 0;
    this.#server = server;
    server.on('connection', (client) => {
      const pair = new Pair(client, this.#cut?.what === 'all' ? null : createConnection(target));
      this.#pairs.add(pair);
      pair.onGone(() => this.#pairs.delete(pair));
      if (this.#cut) pair.cut(this.#cut.what, this.#cut.loss);
    });
  }

  get address() {
    return { host: '127.0.0.1', port: this.#port };
  }

  async cut(what: 'all' | 'answers', loss: Loss): Promise<void> {
    this.#cut = { what, loss };
    for (const pair of this.#pairs) pair.cut(what, loss);
  }

  async heal(): Promise<void> {
    this.#cut = null;
    for (const pair of this.#pairs) pair.heal();
  }

  forget(): void {
    for (const pair of this.#pairs) if (pair.isDead) pair.destroy();
  }

  async close(): Promise<void> {
    for (const pair of this.#pairs) pair.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** One connection and its other half. */
class Pair {
  readonly #client: Socket;
  /** Null: the link was cut when it was made, so it is never answered. */
  readonly #store: Socket | null;
  readonly #ways: readonly Way[];

  constructor(client: Socket, store: Socket | null) {
    this.#client = client;
    this.#store = store;
    this.#ways = store ? [new Way(client, store), new Way(store, client)] : [];
    client.on('error', () => this.#ended());
    store?.on('error', () => this.#ended());
    client.on('close', () => this.#ended());
    store?.on('close', () => this.#ended());
    if (!store) client.resume();
  }

  get isDead(): boolean {
    return this.#store === null || this.#ways.some((way) => way.isDead);
  }

  /** An end that is told by an operating system passes only where bytes do. */
  #ended(): void {
    if (!this.#ways.some((way) => way.isCut || way.isDead)) this.destroy();
  }

  onGone(gone: () => void): void {
    this.#client.on('close', gone);
  }

  cut(what: 'all' | 'answers', loss: Loss): void {
    const [asks, answers] = this.#ways;
    if (what === 'all') asks?.cut(loss);
    answers?.cut(loss);
  }

  heal(): void {
    for (const way of this.#ways) way.heal();
    if (this.#client.destroyed || this.#store?.destroyed) this.#ended();
  }

  destroy(): void {
    this.#client.destroy();
    this.#store?.destroy();
  }
}

class Way {
  readonly #to: Socket;
  readonly #from: Socket;
  #loss: Loss | null = null;
  /** Bytes were lost: what follows them makes no sense, and is lost too. */
  isDead = false;

  constructor(from: Socket, to: Socket) {
    this.#from = from;
    this.#to = to;
    from.on('data', (bytes) => {
      if (this.#loss === 'lost') this.isDead = true;
      if (!this.isDead && !to.destroyed) to.write(bytes);
    });
    from.on('end', () => {
      if (this.#loss === 'lost') this.isDead = true;
      if (!this.isDead) to.end();
    });
  }

  get isCut(): boolean {
    return this.#loss !== null;
  }

  cut(loss: Loss): void {
    this.#loss = loss;
    if (loss === 'late') this.#from.pause();
  }

  heal(): void {
    this.#loss = null;
    if (!this.#from.destroyed && !this.#to.destroyed) this.#from.resume();
  }
}
