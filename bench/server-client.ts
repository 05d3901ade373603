/**
 * The clients of the server bench: requests at a fixed rate, and WebSockets that check what they are told. As a process of its own it
 * is either of two: `events`, the WebSockets, or `bare`, a plain node:http server to compare with.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import { WebSocket } from 'ws';
import { quantile, textOfSize } from './support.js';

export interface Target {
  readonly url: string;
  readonly token: string;
}

export interface LoadFigures {
  /** Answers a second, from the first request to the last answer. */
  readonly achieved: number;
  /** Milliseconds from when a request was due. One that was not sent counts with what it had waited. */
  readonly reads: readonly number[];
  readonly writes: readonly number[];
  readonly errors: readonly string[];
  /** Due in the time given, and not sent: the server was behind. */
  readonly unsent: number;
}

interface DueRequest {
  readonly dueMs: number;
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body: string | null;
  /** Null for a read. */
  readonly root: string | null;
}

const CONNECTIONS = 64;
const PLAIN_KEYS = 8;
const LIST_ITEMS = 20;
const VALUE_BYTES = 100;
const DRAIN_MS = 20_000;

export const keyPath = (root: string, key: string) => `/sessions/${root}/state/keys/${key}`;
const jsonBody = (body: object) => JSON.stringify(body);

/** 80 % reads, of one key or of all; 20 % writes: increment, append to a list of at most 20, put. The same for the same seed. */
export class RequestMix {
  readonly #roots: readonly string[];
  readonly #appended = new Map<string, number>();
  #state = 1;
  #made = 0;

  constructor(roots: readonly string[]) {
    this.#roots = roots;
  }

  /** What has to be there before the first read. */
  firstWrites(dueMs: number): DueRequest[] {
    return this.#roots.flatMap((root) => [
      ...Array.from({ length: PLAIN_KEYS }, (_, n) => this.#put(dueMs, root, n)),
      this.#operation(dueMs, root, 'counter', { operation: 'increment', delta: 1 }),
    ]);
  }

  next(dueMs: number): DueRequest {
    const root = this.#roots[this.#below(this.#roots.length)]!;
    const chosen = this.#below(100);
    const key = this.#below(PLAIN_KEYS + 1);
    if (chosen < 20) return { dueMs, method: 'GET', path: `/sessions/${root}/state`, body: null, root: null };
    if (chosen < 80) {
      const path = keyPath(root, key === PLAIN_KEYS ? 'counter' : `key_${key}`);
      return { dueMs, method: 'GET', path, body: null, root: null };
    }
    if (chosen < 87) return this.#operation(dueMs, root, 'counter', { operation: 'increment', delta: 1 });
    if (chosen < 93) return this.#put(dueMs, root, key % PLAIN_KEYS);
    return this.#append(dueMs, root);
  }

  #append(dueMs: number, root: string): DueRequest {
    const appended = this.#appended.get(root) ?? 0;
    this.#appended.set(root, (appended + 1) % (LIST_ITEMS + 1));
    if (appended === LIST_ITEMS)
      return { dueMs, method: 'DELETE', path: keyPath(root, 'list'), body: null, root };
    return this.#operation(dueMs, root, 'list', { operation: 'append', items: [`item ${this.#made}`] });
  }

  #operation(dueMs: number, root: string, key: string, operation: object): DueRequest {
    return { dueMs, method: 'POST', path: `${keyPath(root, key)}/ops`, body: jsonBody(operation), root };
  }

  #put(dueMs: number, root: string, key: number): DueRequest {
    this.#made += 1; // no value is the one that is there: every write is a change
    const value = { n: this.#made, text: textOfSize(VALUE_BYTES, this.#made % 50) };
    return { dueMs, method: 'PUT', path: keyPath(root, `key_${key}`), body: jsonBody({ value }), root };
  }

  #below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * limit);
  }
}

/** Requests at their due time, whether or not those before were answered. */
export class HttpLoad {
  /** Writes that were acknowledged, by root. */
  readonly acknowledged = new Map<string, number>();
  readonly #target: Target;
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS, scheduling: 'fifo' });
  #waiting: DueRequest[] = [];
  /** Of the first that waits: nothing is moved. */
  #at = 0;
  #inFlight = 0;
  #answered = 0;
  #figures = { reads: [] as number[], writes: [] as number[], errors: [] as string[] };
  #onIdle: () => void = () => {};

  constructor(target: Target) {
    this.#target = target;
  }

  /** All of them, as fast as they are answered. */
  async all(requests: readonly DueRequest[]): Promise<LoadFigures> {
    return this.#collect(async () => {
      this.#waiting.push(...requests);
      this.#pump();
      if (this.#inFlight > 0) await this.#idle();
    });
  }

  async atRate(mix: RequestMix, rate: number, seconds: number): Promise<LoadFigures> {
    return this.#collect(async () => {
      const start = performance.now();
      const total = Math.round(rate * seconds);
      let made = 0;
      for (;;) {
        const now = performance.now();
        for (; made < total && start + (made * 1_000) / rate <= now; made += 1)
          this.#waiting.push(mix.next(start + (made * 1_000) / rate));
        this.#pump();
        if (now >= start + seconds * 1_000) return;
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    });
  }

  async #collect(run: () => Promise<void>): Promise<LoadFigures> {
    this.#figures = { reads: [], writes: [], errors: [] };
    this.#answered = 0;
    const start = performance.now();
    await run();
    const unsent = this.#waiting.slice(this.#at);
    this.#waiting = [];
    this.#at = 0;
    for (const { root, dueMs } of unsent) this.#note(root, performance.now() - dueMs);
    const timer = setTimeout(() => this.#agent.destroy(), DRAIN_MS); // what hangs becomes an error
    if (this.#inFlight > 0) await this.#idle();
    clearTimeout(timer);
    const seconds = (performance.now() - start) / 1_000;
    return { ...this.#figures, achieved: this.#answered / seconds, unsent: unsent.length };
  }

  close(): void {
    this.#agent.destroy();
  }

  #idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
    });
  }

  #pump(): void {
    while (this.#inFlight < CONNECTIONS && this.#at < this.#waiting.length) {
      this.#send(this.#waiting[this.#at]!);
      this.#at += 1;
    }
    if (this.#at < this.#waiting.length) return;
    this.#waiting.length = 0;
    this.#at = 0;
  }

  #send(request: DueRequest): void {
    const { method, path, body, root, dueMs } = request;
    this.#inFlight += 1;
    const headers: http.OutgoingHttpHeaders = { Authorization: `Bearer ${this.#target.token}` };
    if (body !== null) {
      headers['Content-Type'] = 'application/json';
      headers['Content-Length'] = Buffer.byteLength(body);
    }
    let isDone = false;
    const done = (error: string | null) => {
      if (isDone) return;
      isDone = true;
      this.#inFlight -= 1;
      if (error === null) {
        this.#answered += 1;
        this.#note(root, performance.now() - dueMs);
        if (root !== null) this.acknowledged.set(root, (this.acknowledged.get(root) ?? 0) + 1);
      } else this.#figures.errors.push(`${method} ${path}: ${error}`);
      this.#pump();
      if (this.#inFlight === 0) this.#onIdle();
    };
    const sent = http.request(`${this.#target.url}${path}`, { agent: this.#agent, method, headers });
    sent.on('error', (thrown) => done(thrown.message));
    sent.on('response', (response) => {
      const { statusCode = 0 } = response;
      response.on('end', () => done(statusCode >= 200 && statusCode < 300 ? null : `status ${statusCode}`));
      response.on('error', (thrown) => done(thrown.message));
      response.resume();
    });
    sent.end(body ?? undefined);
  }

  #note(root: string | null, latencyMs: number): void {
    (root === null ? this.#figures.reads : this.#figures.writes).push(latencyMs);
  }
}

export interface EventFigures {
  readonly expected: number;
  readonly received: number;
  readonly lost: number;
  readonly doubled: number;
  /** Resyncs, errors, closed connections, clients that did not get to the end. */
  readonly failures: readonly string[];
  /** Milliseconds from the time that the change bears, taken before it was made durable, to the client. */
  readonly delays: readonly [p50: number, p99: number, max: number];
}

const DELAY_EVERY = 8;

class EventSocket {
  readonly root: string;
  readonly socket: WebSocket;
  readonly failures: string[] = [];
  readonly delays: number[] = [];
  since = -1;
  last = -1;
  received = 0;
  lost = 0;
  doubled = 0;

  constructor({ url, token }: Target, root: string) {
    this.root = root;
    const options = { headers: { Authorization: `Bearer ${token}` }, perMessageDeflate: false };
    this.socket = new WebSocket(`${url.replace(/^http/, 'ws')}/events`, options);
    const subscribe = jsonBody({ type: 'subscribe', to: 'state', session: root });
    this.socket.on('open', () => this.socket.send(subscribe));
    this.socket.on('message', (data) => this.#take(JSON.parse(String(data)) as Record<string, unknown>));
    this.socket.on('error', (thrown) => this.failures.push(thrown.message));
    this.socket.on('close', (code) => this.failures.push(`closed with ${code}`));
  }

  #take(message: Record<string, unknown>): void {
    const { type, global_version: version, timestamp } = message;
    if (type === 'subscribed') {
      this.since = this.last = Number(message['since']);
      return;
    }
    if (type !== 'state_key_updated' && type !== 'state_key_deleted') {
      this.failures.push(`told ${JSON.stringify(message)}`);
      return;
    }
    this.received += 1;
    if (this.received % DELAY_EVERY === 0) this.delays.push(Date.now() - Date.parse(String(timestamp)));
    const number = Number(version);
    if (message['root_session_id'] !== this.root) this.failures.push('told of another root');
    else if (number <= this.last) this.doubled += 1;
    else {
      this.lost += number - this.last - 1;
      this.last = number;
    }
  }
}

/** What the bench and this process say to each other. */
export type ToChild =
  /** A client for each of the roots; a root may be there more than once. */
  | { readonly say: 'subscribe'; readonly target: Target; readonly roots: readonly string[] }
  | { readonly say: 'finish'; readonly finals: Readonly<Record<string, number>> };
export type FromChild =
  | { readonly say: 'ready'; readonly url: string }
  | { readonly say: 'finished'; readonly events: EventFigures };

const ARRIVAL_MS = 20_000;

function serveEvents(): void {
  const clients: EventSocket[] = [];
  process.on('message', async (message: ToChild) => {
    if (message.say === 'subscribe') {
      for (const root of message.roots) clients.push(new EventSocket(message.target, root));
      await until(() => clients.every(({ since, failures }) => since >= 0 || failures.length > 0));
      tell({ say: 'ready', url: '' });
      return;
    }
    const { finals } = message;
    await until(() => clients.every((client) => client.last >= finals[client.root]!));
    for (const client of clients) {
      const missing = finals[client.root]! - client.last;
      if (missing !== 0) client.failures.push(`ended at ${client.last}, where ${finals[client.root]} is due`);
      client.lost += Math.max(0, missing);
    }
    const sum = (count: (client: EventSocket) => number) =>
      clients.reduce((total, client) => total + count(client), 0);
    const delays = clients.flatMap((client) => client.delays);
    const events: EventFigures = {
      expected: sum((client) => finals[client.root]! - client.since),
      received: sum(({ received }) => received),
      lost: sum(({ lost }) => lost),
      doubled: sum(({ doubled }) => doubled),
      failures: clients.flatMap(({ failures }) => failures),
      delays: [quantile(delays, 0.5), quantile(delays, 0.99), quantile(delays, 1)],
    };
    tell({ say: 'finished', events });
    for (const { socket } of clients) socket.close();
  });
}

async function until(isSo: () => boolean): Promise<void> {
  for (const end = performance.now() + ARRIVAL_MS; !isSo() && performance.now() < end; )
    await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Of the size of an answer to a read of one key. */
function serveBare(): void {
  const body = jsonBody({ key: 'key_1', value: textOfSize(VALUE_BYTES, 1), rest: textOfSize(170, 2) });
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
  const server = http.createServer((request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(200, headers).end(body));
  });
  server.listen(0, '127.0.0.1', () =>
    tell({ say: 'ready', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }),
  );
}

function tell(message: FromChild): void {
  process.send?.(message);
}

if (process.send && import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  process.on('disconnect', () => process.exit()); // nobody is left to work for
  if (process.argv[2] === 'bare') serveBare();
  else serveEvents();
}
