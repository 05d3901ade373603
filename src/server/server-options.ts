import type { CheckpointService } from '../checkpoints/checkpoint-service.js';
import type { PruneReport } from '../checkpoints/maintenance/prune.js';
import type { StateDefinition } from '../state/durable/state-definition.js';
import type { SharedLimits } from '../state/shared/shared-limits.js';
import type { StorageBackend } from '../storage/ports.js';
import type { Authenticate } from './access/access-check.js';

/** Options of `startServer`. */
export interface ServerOptions {
  readonly backend: StorageBackend;
  /** Default: a service over the same backend. A given service stays open when the server closes. */
  readonly checkpoints?: CheckpointService;
  /**
   * The owner's token, with all rights; at least 16 characters. Tokens of a `TokenBook` have access to a
   * part.
   */
  readonly token: string;
  /** The host's own authentication, such as OIDC or a gateway. It is tried before tokens. */
  readonly authenticate?: Authenticate;
  /** Address to listen on. Default `127.0.0.1`: this machine only. */
  readonly host?: string;
  /** 0: any free port. Default 4177. */
  readonly port?: number;
  /**
   * Additional accepted values of the `Host` header, as `name` or `name:port`. This machine's own names are
   * always accepted.
   */
  readonly allowedHosts?: readonly string[];
  /**
   * Additional accepted values of the `Origin` header, such as `https://app.example`. The server's own is
   * always accepted.
   */
  readonly allowedOrigins?: readonly string[];
  /** Requests per second and address; bursts may be twice as large. Default 5,000. */
  readonly requestsPerSecond?: number;
  /**
   * Records every request with a token in the store's audit log, before it is answered. Default: if the store has an audit log.
   * False: never.
   */
  readonly audit?: boolean;
  readonly limits?: Partial<SharedLimits>;
  /** The kinds of durable documents that are served. Default: `agentState` and `taskBoard`. */
  readonly definitions?: readonly StateDefinition[];
  /**
   * Names of durable documents that MCP clients with access to everything may read and change with tools. They must
   * exist. Default: none.
   */
  readonly mcpDocuments?: readonly string[];
  /**
   * Subscriptions of streams may name webhooks on this machine, as `http://localhost:PORT/...`: for development. Default false: webhooks
   * are called at public https addresses only.
   */
  readonly allowLocalWebhooks?: boolean;
  /** Keeps metrics of this process, which `GET /metrics` gives as text for Prometheus. Default false. */
  readonly metrics?: boolean;
  /** Version of the package, shown to MCP clients. */
  readonly version?: string;
  /**
   * Called when the server has pruned the checkpoints, as `pruneEveryHours` of their configuration says. The audit log records each prune before it begins.
   * Default: nothing.
   */
  readonly onPruned?: (report: PruneReport) => void;
  /** Called with unexpected errors, which clients do not see. Default: they are ignored. */
  readonly onUnexpected?: (thrown: unknown) => void;
}

export const DEFAULT_HOST = '127.0.0.1';
export const DEFAULT_PORT = 4177;

export const SERVER_LIMITS = {
  /** Maximum size of a request's body, and of a WebSocket message from a client, in bytes. */
  bodyBytes: 1024 * 1024,
  /** Maximum nesting of a body: more than any value may have. */
  bodyDepth: 600,
  /** Timeouts in ms: for the headers, for the whole request, and between two requests. */
  headersMs: 10_000,
  requestMs: 30_000,
  idleMs: 5_000,
  /** Interval in ms for checking these timeouts. */
  checkMs: 1_000,
  connections: 1_024,
  /** Maximum of connections without a proven token; a new one ends the oldest. */
  unprovenConnections: 256,
  /** A client that does not read a WebSocket message within this time (ms) is disconnected. */
  stalledMs: 10_000,
  /** Interval in ms of pings. A client that does not answer before the next one is disconnected. */
  pingMs: 30_000,
  requestsPerSecond: 5_000,
} as const;
