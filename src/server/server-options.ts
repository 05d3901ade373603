/** How a server is set up, and what it allows. */
import type { CheckpointService } from '../checkpoints/checkpoint-service.js';
import type { SharedLimits } from '../state/shared/shared-limits.js';
import type { StorageBackend } from '../storage/ports.js';
import type { Authenticate } from './access/access-check.js';

export interface ServerOptions {
  readonly backend: StorageBackend;
  /** Default: checkpoints in the same backend. Stays open when the server closes. */
  readonly checkpoints?: CheckpointService;
  /** Of the owner, who may do everything. At least 16 characters. Tokens of a `TokenBook` reach a part. */
  readonly token: string;
  /** The host's own authentication, such as by OIDC or a gateway, asked before tokens are looked at. */
  readonly authenticate?: Authenticate;
  /** Address to listen on. Default `127.0.0.1`: this machine only. */
  readonly host?: string;
  /** 0: one that is free. Default 4177. */
  readonly port?: number;
  /** Further values of the header `Host` that are answered, as `name` or `name:port`. This machine's own names always are. */
  readonly allowedHosts?: readonly string[];
  /** Further values of the header `Origin` that are answered, such as `https://app.example`. The server's own always are. */
  readonly allowedOrigins?: readonly string[];
  /** Requests in a second, for each address; a burst may be twice as large. Default 5,000. */
  readonly requestsPerSecond?: number;
  readonly limits?: Partial<SharedLimits>;
  /** Of the package, for MCP clients. */
  readonly version?: string;
  /** Told what went wrong beside what clients are told. Default: nothing. */
  readonly onUnexpected?: (thrown: unknown) => void;
}

export const DEFAULT_HOST = '127.0.0.1';
export const DEFAULT_PORT = 4177;

export const SERVER_LIMITS = {
  /** A request's body, and a WebSocket message from a client, in bytes. */
  bodyBytes: 1024 * 1024,
  /** Lists and objects of a body that lie in each other: more than any value may have. */
  bodyDepth: 600,
  /** Until the headers are there; until the whole request is; between two requests: milliseconds. */
  headersMs: 10_000,
  requestMs: 30_000,
  idleMs: 5_000,
  /** How often connections are looked at for the above. */
  checkMs: 1_000,
  connections: 1_024,
  /** Connections of those that have not shown the token; a new one ends the oldest of them. */
  unprovenConnections: 256,
  /** A WebSocket message that a client does not take within this time ends its connection. */
  stalledMs: 10_000,
  /** A connection that does not answer a ping until the next one is ended. */
  pingMs: 30_000,
  requestsPerSecond: 5_000,
} as const;
