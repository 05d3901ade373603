/** A route as data: what answers it, and what the OpenAPI document says about it, in one place. */
import type { CheckpointService } from '../../checkpoints/checkpoint-service.js';
import type { JsonObject, JsonValue } from '../../core/json.js';
import type { TSchema } from '../../core/schema.js';
import type { SharedSessions } from '../../state/shared/shared-sessions.js';
import type { StorageBackend } from '../../storage/ports.js';
import type { Principal } from '../access/principal.js';

/** What routes work on. */
export interface Services {
  readonly backend: StorageBackend;
  readonly shared: SharedSessions;
  readonly checkpoints: CheckpointService;
}

export interface RouteRequest {
  /** Who asks. */
  readonly principal: Principal;
  /** Decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Null where there is none. */
  header(name: string): string | null;
  /** Checked against the schema of the route; null where that has none. */
  readonly body: JsonValue;
}

export interface Reply {
  readonly status: number;
  readonly body?: JsonValue;
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
  readonly schema?: TSchema;
}

/**
 * `everyone`: all who are admitted. `store`: those who reach everything. `part`: the handler shows each their part of it.
 * `agent`, `session`, `checkpoint`: those who reach the one that the parameter `id` of the path names.
 */
export type RouteReach = 'everyone' | 'store' | 'part' | 'agent' | 'session' | 'checkpoint';

export interface Route {
  readonly method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  /** With `{name}` for a parameter: one segment, percent-encoded. */
  readonly path: string;
  readonly summary: string;
  readonly parameters?: readonly RouteParameter[];
  readonly body?: { readonly mediaType: string; readonly schema: TSchema };
  /** By status; refusals that every route has are added by the document. */
  readonly responses: Readonly<Record<number, RouteResponse>>;
  /** Default true. */
  readonly needsToken?: false;
  /** Whom it is for. A method other than GET also needs the right to write. */
  readonly reach: RouteReach;
  handle(request: RouteRequest, services: Services): Promise<Reply>;
}

export const JSON_TYPE = 'application/json';
export const MERGE_PATCH_TYPE = 'application/merge-patch+json';

export function ok(body: JsonObject, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status: 200, body, headers };
}
