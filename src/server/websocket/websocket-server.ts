/** Upgrades `GET /events` to a WebSocket, after the same checks as every request. */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { AccessCheck } from '../access/access-check.js';
import type { Refusal } from '../access/refusal.js';
import { isSameToken } from '../access/token.js';
import { refusalReply } from '../http/problem.js';
import { SERVER_LIMITS } from '../server-options.js';
import { ClientConnection } from './client-connection.js';
import type { EventHub } from './event-hub.js';
import { CLOSE } from './socket-sender.js';

export interface EventSocketsOptions {
  readonly hub: EventHub;
  readonly access: () => AccessCheck;
  readonly token: string;
  readonly stalledMs?: number;
  readonly onUnexpected: (thrown: unknown) => void;
}

export const EVENTS_PATH = '/events';

export class EventSockets {
  readonly #options: EventSocketsOptions;
  readonly #connections = new Set<ClientConnection>();
  // No compression: it costs memory for each client, and time for each message.
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: SERVER_LIMITS.bodyBytes,
    perMessageDeflate: false,
    clientTracking: false,
  });
  readonly #pings: NodeJS.Timeout;

  constructor(options: EventSocketsOptions) {
    this.#options = options;
    this.#pings = setInterval(() => {
      for (const connection of this.#connections) connection.ping();
    }, SERVER_LIMITS.pingMs).unref();
  }

  attach(server: Server): void {
    server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy()); // the client is gone: there is nobody to tell
    const { authorization } = request.headers;
    const refusal =
      this.#options.access().check({
        host: request.headers.host,
        origin: request.headers.origin,
        authorization,
        address: request.socket.remoteAddress ?? '',
        needsToken: authorization !== undefined, // a browser sends it as its first message
      }) ?? this.#wrongPath(request);
    if (refusal) {
      refuse(socket, refusal);
      return;
    }
    this.#server.handleUpgrade(request, socket, head, (opened) => {
      const { hub, token, onUnexpected } = this.#options;
      const connection = new ClientConnection(opened, {
        hub,
        isToken: authorization === undefined ? (given) => isSameToken(given, token) : null,
        stalledMs: this.#options.stalledMs ?? SERVER_LIMITS.stalledMs,
        onUnexpected,
      });
      this.#connections.add(connection);
      opened.on('close', () => this.#connections.delete(connection));
    });
  }

  #wrongPath({ url = '' }: IncomingMessage): Refusal | null {
    if (url.split('?')[0] === EVENTS_PATH) return null;
    return { status: 404, reason: 'route', detail: `WebSockets are at ${EVENTS_PATH}.` };
  }

  close(): void {
    clearInterval(this.#pings);
    for (const connection of this.#connections) connection.close(CLOSE.shutDown, 'the server stops');
  }
}

function refuse(socket: Duplex, refusal: Refusal): void {
  const { status, body, headers = {} } = refusalReply(refusal);
  const text = JSON.stringify(body);
  const lines = Object.entries({
    ...headers,
    'Content-Length': String(Buffer.byteLength(text)),
    Connection: 'close',
  });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${status} ${(body as { title?: string }).title ?? 'Refused'}\r\n${head}\r\n${text}`);
}
