/** Whether a stream may be created: a pure decision on what is at its path. */
import type { StreamChange } from './stream-log.js';
import type { ForkPoint, StreamOp, StreamPayload } from './stream-record.js';
import type { StreamState } from './stream-state.js';
import { isSameType } from './stream-type.js';

/** Where a fork leaves its source, as it is asked for. */
export interface ForkRequest {
  /** Path of the source. */
  readonly path: string;
  /** A position of the source; null: its end. */
  readonly at: number | null;
  /** So many bytes or messages of the append after `at`, too. */
  readonly sub: number;
}

/** What to create. */
export interface CreateRequest {
  /** Media type. Null: that of the source, or `application/octet-stream`. */
  readonly type: string | null;
  /** Expires when it is neither read nor written for so long. */
  readonly ttlSeconds: number | null;
  /** Expires then, in milliseconds since 1970. Not together with `ttlSeconds`. */
  readonly expiresMs: number | null;
  /** Creates it closed. */
  readonly closes: boolean;
  /** First content; may be empty. */
  readonly body: Uint8Array;
  readonly fork: ForkRequest | null;
}

/** A stream without its content. */
export interface StreamInfo {
  readonly id: string;
  readonly type: string;
  readonly ttlSeconds: number | null;
  readonly expiresMs: number | null;
  /** The position after the last byte or message. */
  readonly tail: number;
  readonly isClosed: boolean;
}

/** How a creation ended. */
export type CreateOutcome =
  /** `created`: durable. `exists`: it was there with the same settings; nothing was changed. */
  | { readonly kind: 'created' | 'exists'; readonly info: StreamInfo }
  /** Another stream is there, or a deleted one that forks still need, or the source has another type or was deleted. */
  | { readonly kind: 'conflict'; readonly why: 'differs' | 'deleted' | 'source-type' | 'source-deleted' }
  | { readonly kind: 'source-missing' }
  /** The source ends, or its append ends, before the position. */
  | { readonly kind: 'beyond' };

export function infoOf(state: StreamState, tail = state.tail): StreamInfo {
  const { id, type, ttlSeconds, expiresMs, isClosed } = state;
  return { id, type, ttlSeconds, expiresMs, tail, isClosed };
}

/** What is there, compared with what is asked for; null if nothing is there. */
export function compareExisting(state: StreamState | null, request: CreateRequest): CreateOutcome | null {
  if (!state) return null;
  if (state.isDeleted) return { kind: 'conflict', why: 'deleted' };
  if (!isSameStream(state, request)) return { kind: 'conflict', why: 'differs' };
  return { kind: 'exists', info: infoOf(state) };
}

/** A fork takes over what is not asked for, so only what is asked for is compared. */
function isSameStream(state: StreamState, request: CreateRequest): boolean {
  const { type, ttlSeconds, expiresMs, closes, fork } = request;
  if (closes !== state.isClosed) return false;
  if (fork === null) {
    if (state.fork !== null) return false;
    const isSameExpiry = ttlSeconds === state.ttlSeconds && expiresMs === state.expiresMs;
    return isSameExpiry && isSameType(type ?? state.type, state.type);
  }
  const { path, at, sub } = fork;
  if (state.fork?.path !== path || state.fork.sub !== sub) return false;
  if (at !== null && state.fork.at !== at + sub) return false;
  if (type !== null && !isSameType(type, state.type)) return false;
  if (ttlSeconds === null && expiresMs === null) return true;
  return ttlSeconds === state.ttlSeconds && expiresMs === state.expiresMs;
}

export interface NewStream {
  readonly id: string;
  readonly type: string;
  readonly ttlSeconds: number | null;
  readonly expiresMs: number | null;
  readonly fork: ForkPoint | null;
  readonly payload: StreamPayload | null;
}

export function decideCreate(
  state: StreamState | null,
  request: CreateRequest,
  { payload, ...stream }: NewStream,
): StreamChange<CreateOutcome> {
  const known = compareExisting(state, request);
  if (known) return { ops: [], result: () => known };
  const { closes } = request;
  const ops: StreamOp[] = [{ op: 'create', ...stream }];
  if (payload) ops.push({ op: 'append', payload, closes, seq: null, producer: null });
  else if (closes) ops.push({ op: 'close', producer: null });
  const { id, type, ttlSeconds, expiresMs } = stream;
  return {
    ops,
    result: (tail) => ({
      kind: 'created',
      info: { id, type, ttlSeconds, expiresMs, tail, isClosed: closes },
    }),
  };
}
