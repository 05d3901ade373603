/** The state of one stream, and the reducer that derives it from the records. What is live and what is restored come from it alike. */
import { RekindleError } from '../core/errors.js';
import { type ForkPoint, type ProducerStamp, type StreamOp, unitsOf } from './stream-record.js';

/** One stream, without its content. */
export interface StreamState {
  /** Random: a stream that is created again at the same path has another one. */
  readonly id: string;
  readonly type: string;
  /** The stream expires when it is neither read nor written for so long; null: never. */
  readonly ttlSeconds: number | null;
  /** The stream expires then, in milliseconds since 1970; null: never. */
  readonly expiresMs: number | null;
  readonly fork: ForkPoint | null;
  lastWriteMs: number;
  /** The position after the last byte or message. */
  tail: number;
  isClosed: boolean;
  /** The request that closed it. */
  closedBy: ProducerStamp | null;
  /** Of the last append that had one. */
  seq: string | null;
  readonly producers: Map<string, { readonly epoch: number; readonly seq: number }>;
  /** Forks that refer to it, by id. */
  readonly forks: Map<string, { readonly path: string; readonly sinceMs: number }>;
  /** Deleted, but kept for its forks. */
  isDeleted: boolean;
}

/** A copy to try operations on. */
export function copyOf(state: StreamState): StreamState {
  return { ...state, producers: new Map(state.producers), forks: new Map(state.forks) };
}

/** Applies one operation in place. Returns the state: a new one for `create`. @throws JOURNAL_DAMAGED */
export function applyOp(state: StreamState | null, op: StreamOp, atMs: number): StreamState {
  if (op.op === 'create') return created(op, atMs);
  if (state === null)
    throw new RekindleError('JOURNAL_DAMAGED', 'The record that created the stream is missing.');
  switch (op.op) {
    case 'append':
      state.tail += unitsOf(op.payload);
      state.seq = op.seq ?? state.seq;
      written(state, op.producer, op.closes, atMs);
      return state;
    case 'close':
      written(state, op.producer, true, atMs);
      return state;
    case 'hold':
      state.forks.set(op.fork, { path: op.path, sinceMs: atMs });
      return state;
    case 'release':
      state.forks.delete(op.fork);
      return state;
    case 'delete':
      state.isDeleted = true;
      return state;
  }
}

function created(op: StreamOp & { readonly op: 'create' }, atMs: number): StreamState {
  const { id, type, ttlSeconds, expiresMs, fork } = op;
  return {
    ...{ id, type, ttlSeconds, expiresMs, fork, lastWriteMs: atMs, tail: fork?.at ?? 0 },
    ...{ isClosed: false, closedBy: null, seq: null, isDeleted: false },
    ...{ producers: new Map(), forks: new Map() },
  };
}

function written(state: StreamState, producer: ProducerStamp | null, closes: boolean, atMs: number): void {
  state.lastWriteMs = atMs;
  if (producer) state.producers.set(producer.id, { epoch: producer.epoch, seq: producer.seq });
  if (!closes) return;
  state.isClosed = true;
  state.closedBy = producer;
}
