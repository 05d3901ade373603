/** Upgrades `GET /events` to a WebSocket, after the same checks as for every request. */
import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { AccessCheck } from '../access/access-check.js';
import type { AuditTrail } from '../access/audit-trail.js';
import type { Principal } from '../access/principal.js';
import type { Refusal } from '../access/refusal.js';
import type { UnprovenConnections } from '../access/unproven-connections.js';
import { PAGE_HEADERS } from '../dashboard/dashboard-assets.js';
import { problemOf, refusalReply } from '../http/problem.js';
import { accessRequest } from '../http/request-listener.js';
import type { Reply } from '../http/route.js';
import { SERVER_LIMITS } from '../server-options.js';
import { ClientConnection } from './client-connection.js';
import type { EventHub } from './event-hub.js';
import { CLOSE } from './socket-sender.js';

export interface EventSocketsOptions {
  readonly hub: EventHub;
  readonly access: () => AccessCheck;
  readonly audit: AuditTrail;
  /** The host may authenticate callers without a token. */
  readonly hasOwnAuthentication: boolean;
  readonly unproven: UnprovenConnections;
  readonly stalledMs?: number;
  readonly onUnexpected: (thrown: unknown) => void;
}

export const EVENTS_PATH = '/events';
const END_MS = 500;

export class EventSockets {
  readonly #options: EventSocketsOptions;
  readonly #connections = new Set<ClientConnection>();
  // No compression: it costs memory per client, and time per message.
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: SERVER_LIMITS.bodyBytes,
    perMessageDeflate: false,
    clientTracking: false,
  });
  readonly #pings: NodeJS.Timeout;
  #closing = false;

  constructor(options: EventSocketsOptions) {
    this.#options = options;
    this.#pings = setInterval(() => {
      for (const connection of this.#connections) connection.ping();
    }, SERVER_LIMITS.pingMs).unref();
  }

  attach(server: Server): void {
    server.on('upgrade', (request, socket, head) => {
      if (request.headers.upgrade?.toLowerCase() === 'websocket')
        this.#upgrade(request, socket, head).catch((thrown: unknown) => this.#fail(socket, thrown));
      else passOn(server, request, socket);
    });
  }

  #fail(socket: Duplex, thrown: unknown): void {
    send(socket, problemOf(thrown, this.#options.onUnexpected));
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy()); // the client is gone, so there is nothing to answer
    const { authorization } = request.headers;
    // A browser cannot set a header, so it sends the token as its first message.
    const { access, hasOwnAuthentication, unproven } = this.#options;
    const asked = accessRequest(request, authorization !== undefined || hasOwnAuthentication);
    const admission = await access().admit(asked);
    const isUnproven = authorization === undefined && admission.refusal?.reason === 'token';
    const refusal = (isUnproven ? null : admission.refusal) ?? this.#wrongPath(request) ?? this.#tooLate();
    if (refusal) {
      send(socket, refusalReply(refusal));
      return;
    }
    const principal = admission.refusal === null ? admission.principal : null;
    if (principal) unproven.prove(socket);
    this.#server.handleUpgrade(request, socket, head, (opened) => {
      const { hub, audit, onUnexpected } = this.#options;
      const connection = new ClientConnection(opened, {
        hub,
        audit,
        principal,
        authenticate: (given) => this.#authenticate(given, asked.address, socket),
        holder: (given) => (given === null ? access().holderOf(asked) : access().principalOf(given)),
        stalledMs: this.#options.stalledMs ?? SERVER_LIMITS.stalledMs,
        onUnexpected,
      });
      this.#connections.add(connection);
      opened.on('close', () => this.#connections.delete(connection));
    });
  }

  async #authenticate(given: string, address: string, socket: Duplex): Promise<Principal | null> {
    const { access, unproven } = this.#options;
    const principal = await access().principalOf(given);
    if (principal) unproven.prove(socket);
    else await access().countWrong(address);
    return principal;
  }

  #wrongPath({ url = '' }: IncomingMessage): Refusal | null {
    if (url.split('?')[0] === EVENTS_PATH) return null;
    return { status: 404, reason: 'route', detail: `WebSockets are at ${EVENTS_PATH}.` };
  }

  #tooLate(): Refusal | null {
    return this.#closing ? { status: 503, reason: 'closing', detail: 'The server stops.' } : null;
  }

  /** Closes all connections. */
  close(): void {
    this.#closing = true;
    clearInterval(this.#pings);
    for (const connection of this.#connections) connection.close(CLOSE.shutDown, 'the server stops');
  }
}

function send(socket: Duplex, { status, body, headers = {} }: Reply): void {
  const text = JSON.stringify(body);
  const lines = Object.entries({
    ...PAGE_HEADERS,
    ...headers,
    'Content-Length': String(Buffer.byteLength(text)),
    Connection: 'close',
  });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${status} ${(body as { title?: string }).title ?? 'Refused'}\r\n${head}\r\n${text}`);
  setTimeout(() => socket.destroy(), END_MS).unref(); // also if the client does not end its side
}

/**
 * A request to upgrade to an unknown protocol is answered as a normal one (RFC 9110, 7.8). Its body would be
 * lost, so such a request is refused.
 */
function passOn(server: Server, request: IncomingMessage, socket: Duplex): void {
  socket.on('error', () => socket.destroy());
  setTimeout(() => socket.destroy(), SERVER_LIMITS.requestMs).unref(); // the server no longer applies its timeouts
  if (request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined) {
    const detail = 'A request with a body cannot ask for another protocol. Leave out the Upgrade header.';
    send(socket, refusalReply({ status: 400, reason: 'upgrade', detail }));
    return;
  }
  const response = new ServerResponse(request);
  response.assignSocket(socket as Socket);
  response.shouldKeepAlive = false;
  response.on('finish', () => {
    socket.end();
    setTimeout(() => socket.destroy(), END_MS).unref();
  });
  server.emit('request', request, response);
}
