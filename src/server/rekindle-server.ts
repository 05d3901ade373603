import { createServer, type Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { checkpointMetrics } from '../checkpoints/checkpoint-metrics.js';
import { CheckpointService } from '../checkpoints/checkpoint-service.js';
import { pruneRegularly } from '../checkpoints/maintenance/prune-regularly.js';
import { messageOf, RekindleError } from '../core/errors.js';
import { DocumentPool } from '../state/durable/document-pool.js';
import { agentState } from '../state/durable/documents/agent-state.js';
import { taskBoard } from '../state/durable/documents/task-board.js';
import { SharedSessions } from '../state/shared/shared-sessions.js';
import { AuditLog, hasAuditLog } from '../storage/audit/audit-log.js';
import { withTelemetry } from '../storage/measured-storage.js';
import type { StorageBackend } from '../storage/ports.js';
import { DurableStreams } from '../streams/durable-streams.js';
import { StreamSubscriptions } from '../streams/subscriptions/stream-subscriptions.js';
import { OpenWorkspaces } from '../workspace/open-workspaces.js';
import { AccessCheck } from './access/access-check.js';
import { AuditTrail } from './access/audit-trail.js';
import { NOBODY } from './access/principal.js';
import { assertToken } from './access/token.js';
import { TokenBook } from './access/token-book.js';
import { UnprovenConnections } from './access/unproven-connections.js';
import { dashboardAssets, isDashboardPath } from './dashboard/dashboard-assets.js';
import { createHttpApp } from './http/http-app.js';
import { principalOf, requestListener } from './http/request-listener.js';
import { allRoutes } from './http/routes/all-routes.js';
import { isStreamPath, STREAM_PREFIX } from './http/streams/stream-call.js';
import { streamsOverHttp } from './http/streams/streams-http.js';
import { hasOwnProof } from './http/streams/subscription-calls.js';
import { WebhookKey, webhookCalls } from './http/streams/webhook-calls.js';
import { MCP_PATH, mcpOverHttp } from './mcp/mcp-http.js';
import { McpTools } from './mcp/mcp-server.js';
import { PrometheusMeter } from './metrics/prometheus-meter.js';
import { DEFAULT_HOST, DEFAULT_PORT, SERVER_LIMITS, type ServerOptions } from './server-options.js';
import { EventHub } from './websocket/event-hub.js';
import { EventSockets } from './websocket/websocket-server.js';

/** A server that listens. */
export interface RunningServer {
  /** Such as `http://127.0.0.1:4177`. */
  readonly url: string;
  readonly port: number;
  /** Refuses new requests, waits up to five seconds for current ones, and closes everything. */
  close(): Promise<void>;
}

/** How long to wait for requests before closing their connections. */
const CLOSE_MS = 5_000;
const CLOSE_IDLE_MS = 25;
/** How often expired streams are removed. */
const EXPIRED_MS = 600_000;

/**
 * Starts a server for HTTP, WebSocket, MCP and the page on one address. Resolves when it listens.
 *
 *     const { token } = await loadServerToken(backend);
 *     const server = await startServer({ backend, token });
 * @throws LISTEN_FAILED, INVALID_ARGUMENT, STATE_NOT_FOUND for one of `mcpDocuments`, and what storage throws if the audit log
 * cannot be written
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { token, host = DEFAULT_HOST } = options;
  const metrics = options.metrics ? new PrometheusMeter() : null;
  const backend = metrics ? withTelemetry(options.backend, { meter: metrics }) : options.backend;
  const tell = (thrown: unknown) => {
    try {
      options.onUnexpected?.(thrown);
    } catch {
      // Whoever is told may not take the server down.
    }
  };
  assertToken(token);
  const { definitions = [agentState, taskBoard], mcpDocuments = [] } = options;
  const pool = new DocumentPool(backend, definitions);
  const documents = await orClose(pool, pool.mounted(mcpDocuments));
  const shared = new SharedSessions(backend, options.limits ? { limits: options.limits } : {});
  const checkpoints = options.checkpoints ?? ownCheckpoints(backend, metrics);
  const audit = await orClose(pool, openTrail(options));
  const version = options.version ?? '0';
  const workspaces = new OpenWorkspaces(backend);
  const tools = new McpTools({
    ...{ backend, shared, checkpoints, version, documents, audit, workspaces },
    onLogFailed: (message) => tell(new RekindleError('STORAGE_FAILED', message)),
  });
  const hub = new EventHub(backend, shared);
  const closing = new AbortController();
  let access: AccessCheck;
  const app = createHttpApp({
    routes: allRoutes,
    services: { backend, shared, checkpoints, pool, workspaces, metrics, closing: closing.signal },
    audit,
    principalOf: (context) => principalOf(context.env.incoming) ?? NOBODY,
    onUnexpected: tell,
  });
  const mcp = mcpOverHttp(tools, audit, tell);
  // The app answers its errors.
  app.all(MCP_PATH, (context) => mcp.fetch(context.req.raw, principalOf(context.env.incoming) ?? NOBODY));
  const streams = new DurableStreams(backend);
  const webhooks = { key: new WebhookKey(backend), allowsLocal: options.allowLocalWebhooks === true };
  const subscriptions = new StreamSubscriptions(backend, streams, {
    callWebhook: webhookCalls(webhooks.key, webhooks.allowsLocal),
    onFailed: tell,
  });
  const overHttp = streamsOverHttp({
    ...{ streams, audit, closing: closing.signal, onUnexpected: tell },
    subscriptions: { subscriptions, ...webhooks },
  });
  app.all(`${STREAM_PREFIX}*`, (context) =>
    overHttp.fetch(context.req.raw, principalOf(context.env.incoming) ?? NOBODY),
  );
  for (const asset of dashboardAssets)
    app.get(asset.path, async () => new Response(await asset.body(), { headers: asset.headers }));
  const unproven = new UnprovenConnections(SERVER_LIMITS.unprovenConnections);
  const hasOwnAuthentication = options.authenticate !== undefined;
  const sockets = new EventSockets({
    ...{ hub, audit, access: () => access, hasOwnAuthentication, unproven, onUnexpected: tell },
  });
  const listener = requestListener({
    access: () => access,
    unproven,
    isPublic: (path, method) =>
      path === '/health' ||
      path === '/ready' ||
      isDashboardPath(path) ||
      (method === 'OPTIONS' && isStreamPath(path)) ||
      hasOwnProof(path),
    answer: getRequestListener(app.fetch, { overrideGlobalObjects: false }),
    onUnexpected: tell,
  });
  const server = createServer(
    {
      headersTimeout: SERVER_LIMITS.headersMs,
      requestTimeout: SERVER_LIMITS.requestMs,
      keepAliveTimeout: SERVER_LIMITS.idleMs,
      connectionsCheckingInterval: SERVER_LIMITS.checkMs,
      requireHostHeader: false, // ours says what is wrong
    },
    listener,
  );
  server.maxConnections = SERVER_LIMITS.connections;
  server.on('connection', (socket) => unproven.add(socket));
  sockets.attach(server);
  void pruneRegularly(checkpoints, {
    signal: closing.signal,
    async prune() {
      await audit.record({ actor: 'server', action: 'write', target: 'checkpoints', what: 'prune' });
      options.onPruned?.(await checkpoints.prune());
    },
    onFailed: tell,
  });
  const close = async () => {
    closing.abort();
    sockets.close();
    const ending = setTimeout(() => tools.stop(), CLOSE_MS);
    await closed(server);
    clearTimeout(ending);
    await hub.close().catch(tell);
    await mcp.close().catch(tell);
    await tools.close().catch(tell);
    await workspaces.close().catch(tell);
    await pool.close().catch(tell);
    await subscriptions.close().catch(tell);
    await streams.close().catch(tell);
    if (!options.checkpoints) await checkpoints.close().catch(tell);
    await shared.close();
    await audit.close().catch(tell);
  };
  const port = await listen(server, options.port ?? DEFAULT_PORT, host).catch(async (thrown: unknown) => {
    await close();
    throw thrown;
  });
  const book = new TokenBook(backend);
  access = new AccessCheck({
    token,
    principalOf: (given) => book.principalOf(given),
    ...(options.authenticate ? { authenticate: options.authenticate } : {}),
    host,
    port,
    allowedHosts: options.allowedHosts ?? [],
    allowedOrigins: options.allowedOrigins ?? [],
    requestsPerSecond: options.requestsPerSecond ?? SERVER_LIMITS.requestsPerSecond,
    audit,
  });
  subscriptions.start();
  removeExpiredRegularly(streams, closing.signal, tell);
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`, port, close };
}

/** Readers find out by themselves that a stream has expired; this frees its space. Begins at once. */
function removeExpiredRegularly(
  streams: DurableStreams,
  signal: AbortSignal,
  onFailed: (thrown: unknown) => void,
): void {
  const remove = () => void streams.removeExpired(signal).catch(onFailed);
  const timer = setInterval(remove, EXPIRED_MS).unref();
  signal.addEventListener('abort', () => clearInterval(timer));
  remove();
}

function ownCheckpoints(backend: StorageBackend, metrics: PrometheusMeter | null): CheckpointService {
  return new CheckpointService({ backend, ...(metrics ? { onOperation: checkpointMetrics(metrics) } : {}) });
}

/** Before anything else is opened. */
function orClose<T>(pool: DocumentPool, opened: Promise<T>): Promise<T> {
  return opened.catch(async (thrown: unknown) => {
    await pool.close();
    throw thrown;
  });
}

/** The start is recorded first: a server whose log cannot be written does not start. */
async function openTrail({ backend, audit }: ServerOptions): Promise<AuditTrail> {
  if (audit === false || !(audit || (await hasAuditLog(backend)))) return new AuditTrail(null);
  const trail = new AuditTrail(new AuditLog(backend));
  await trail.record({ actor: 'server', action: 'audit', target: 'store', what: 'server start' });
  return trail;
}

async function listen(server: Server, port: number, host: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  }).catch((cause: NodeJS.ErrnoException) => {
    throw new RekindleError('LISTEN_FAILED', `Cannot listen on ${host}, port ${port}: ${messageOf(cause)}.`, {
      details: { host, port, errno: cause.code ?? 'unknown' },
      cause,
    });
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

/** Idle connections end with their last answer; the others after a timeout. */
async function closed(server: Server): Promise<void> {
  const ended = new Promise<void>((resolve) => server.close(() => resolve()));
  const idle = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_MS);
  const timer = setTimeout(() => server.closeAllConnections(), CLOSE_MS);
  server.closeIdleConnections();
  await ended;
  clearInterval(idle);
  clearTimeout(timer);
}
