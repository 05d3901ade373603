/** A route as data: its handler and its OpenAPI description in one place. */
import type { CheckpointService } from '../../checkpoints/checkpoint-service.js';
import type { JsonObject, JsonValue } from '../../core/json.js';
import type { TSchema } from '../../core/schema.js';
import type { DocumentPool } from '../../state/durable/document-pool.js';
import type { SharedSessions } from '../../state/shared/shared-sessions.js';
import type { StorageBackend } from '../../storage/ports.js';
import type { OpenWorkspaces } from '../../workspace/open-workspaces.js';
import type { Principal } from '../access/principal.js';
import type { PrometheusMeter } from '../metrics/prometheus-meter.js';

/** What routes work on. */
export interface Services {
  readonly backend: StorageBackend;
  readonly shared: SharedSessions;
  readonly checkpoints: CheckpointService;
  /** Durable documents. */
  readonly pool: DocumentPool;
  readonly workspaces: OpenWorkspaces;
  /** Null: the server keeps none. */
  readonly metrics: PrometheusMeter | null;
  /** Aborted when the server closes. */
  readonly closing: AbortSignal;
}

export interface RouteRequest {
  /** The caller. */
  readonly principal: Principal;
  /** Decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Null if it is missing. */
  header(name: string): string | null;
  /** Aborted when the client has left, or the server closes: for routes that wait. */
  signal(): AbortSignal;
  /** Validated against the route's schema; null if the route has none. */
  readonly body: JsonValue;
}

export interface Reply {
  readonly status: number;
  /** Sent as JSON. */
  readonly body?: JsonValue;
  /** Sent as it is, in place of a body. Its type is in the headers. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RouteParameter {
  readonly name: string;
  readonly in: 'query' | 'header';
  readonly description: string;
  readonly schema: TSchema;
}

export interface RouteResponse {
  readonly description: string;
  /** Of a text, which has no schema. */
  readonly mediaType?: string;
  readonly schema?: TSchema;
}

/**
 * `everyone`: every admitted caller. `store`: callers with access to everything. `part`: the handler shows
 * each caller its part. `agent`, `session`, `checkpoint`: callers with access to the one that the path
 * parameter `id` names.
 */
export type RouteReach = 'everyone' | 'store' | 'part' | 'agent' | 'session' | 'checkpoint';

export interface Route {
  readonly method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  /** With `{name}` for a parameter: one percent-encoded segment. */
  readonly path: string;
  readonly summary: string;
  readonly parameters?: readonly RouteParameter[];
  readonly body?: { readonly mediaType: string; readonly schema: TSchema };
  /** By status. The OpenAPI document adds the refusals that every route has. */
  readonly responses: Readonly<Record<number, RouteResponse>>;
  /** Default true. */
  readonly needsToken?: false;
  /** The required access. A method other than GET also needs the right to write. */
  readonly reach: RouteReach;
  handle(request: RouteRequest, services: Services): Promise<Reply>;
}

export const JSON_TYPE = 'application/json';
export const MERGE_PATCH_TYPE = 'application/merge-patch+json';

export function ok(body: JsonObject, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status: 200, body, headers };
}
