/**
 * An HTTP proxy on 127.0.0.1 in front of one server, which lets chosen requests fail as networks and servers do. Headers pass as they
 * are, so that signatures hold. Remembers what was asked.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export type Fault =
  /** The server is not asked. */
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: string; readonly body?: string }
  /** Half the body of the answer, then a cut; the cut alone when it has no two bytes. The server did what was asked. */
  | { readonly kind: 'half-body' }
  /** One bit of the body of the answer is another. */
  | { readonly kind: 'flipped-bit' }
  /** The connection breaks before the server is asked. */
  | { readonly kind: 'reset' }
  /** No answer ever. */
  | { readonly kind: 'hang' };

export interface ProxiedRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
}

interface PlannedFault {
  readonly fault: Fault;
  readonly when: (request: ProxiedRequest) => boolean;
  left: number;
}

export class FaultyHttpProxy {
  readonly requests: ProxiedRequest[] = [];
  /** Each answer comes this many milliseconds later. */
  delayMs = 0;
  /** A fault for a request that none was planned for. */
  weather: ((request: ProxiedRequest) => Fault | undefined) | null = null;
  readonly #port: number;
  readonly #server: http.Server;
  readonly #planned: PlannedFault[] = [];
  readonly #agent = new http.Agent({ keepAlive: true });

  private constructor(port: number) {
    this.#port = port;
    this.#server = http.createServer((request, response) => void this.#serve(request, response));
  }

  static async start(target: string): Promise<FaultyHttpProxy> {
    const proxy = new FaultyHttpProxy(Number(new URL(target).port));
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The next `times` requests (of those that match) fail so. */
  fail(fault: Fault, times = 1, when: (request: ProxiedRequest) => boolean = () => true): void {
    this.#planned.push({ fault, when, left: times });
  }

  /** No more faults, and nothing remembered. */
  reset(): void {
    this.#planned.length = 0;
    this.requests.length = 0;
    this.delayMs = 0;
    this.weather = null;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#agent.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const asked = { method: request.method ?? '', url: request.url ?? '' };
    this.requests.push(asked);
    const fault = this.#next(asked);
    if (fault?.kind === 'reset') {
      request.socket.destroy();
      return;
    }
    try {
      const body = await bytesOf(request);
      if (fault?.kind === 'hang') return;
      if (fault?.kind === 'status') answerStatus(response, fault);
      else await this.#forward(request, body, response, fault);
    } catch {
      response.destroy(); // one of the two sides is gone, and the other one is told so
    }
  }

  #next(asked: ProxiedRequest): Fault | undefined {
    const planned = this.#planned.find((one) => one.left > 0 && one.when(asked));
    if (planned) planned.left -= 1;
    return planned ? planned.fault : this.weather?.(asked);
  }

  async #forward(
    request: http.IncomingMessage,
    body: Buffer,
    response: http.ServerResponse,
    fault: Fault | undefined,
  ): Promise<void> {
    const begun = performance.now();
    const { status, headers, bytes } = await this.#ask(request, body);
    const wait = this.delayMs - (performance.now() - begun);
    if (wait > 0) await sleep(wait);
    if (fault?.kind === 'half-body' && bytes.length < 2) {
      request.socket.destroy();
      return;
    }
    response.writeHead(status, headers);
    if (fault?.kind === 'half-body') {
      response.write(bytes.subarray(0, Math.floor(bytes.length / 2)));
      const { socket } = request;
      setTimeout(() => socket.destroy(), 5); // a moment for what was written to leave
      return;
    }
    if (fault?.kind === 'flipped-bit') bytes[bytes.length >> 1]! ^= 1;
    response.end(bytes);
  }

  #ask(
    request: http.IncomingMessage,
    body: Buffer,
  ): Promise<{ status: number; headers: http.IncomingHttpHeaders; bytes: Buffer }> {
    return new Promise((resolve, reject) => {
      const { method, url: path, headers } = request;
      const options = { host: '127.0.0.1', port: this.#port, method, path, headers, agent: this.#agent };
      const onAnswer = (answer: http.IncomingMessage) => {
        const { statusCode: status = 500, headers } = answer;
        bytesOf(answer).then((bytes) => resolve({ status, headers, bytes }), reject);
      };
      http.request(options, onAnswer).on('error', reject).end(body);
    });
  }
}

function answerStatus(response: http.ServerResponse, fault: Fault & { kind: 'status' }): void {
  const headers = fault.retryAfter === undefined ? {} : { 'retry-after': fault.retryAfter };
  response.writeHead(fault.status, headers).end(fault.body ?? '');
}

async function bytesOf(stream: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
