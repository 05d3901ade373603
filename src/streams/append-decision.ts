/** Whether an append is accepted: a pure decision on the newest state. */
import { RekindleError } from '../core/errors.js';
import type { ProducerStamp, StreamOp, StreamPayload } from './stream-record.js';
import type { StreamState } from './stream-state.js';
import { isSameType } from './stream-type.js';

/** What a writer asks for. */
export interface AppendRequest {
  /** Media type of the content; compared with the stream's. Ignored without content. */
  readonly type: string;
  /** Null: only closes the stream. */
  readonly payload: StreamPayload | null;
  /** Closes the stream, in the same commit. */
  readonly closes?: boolean;
  /** Must be higher than that of the last append that had one, byte by byte. One order for all writers of the stream. */
  readonly seq?: string | null;
  /** A repeated request of a producer is stored once. */
  readonly producer?: ProducerStamp | null;
  /** Refuses the append unless the stream ends at this position. */
  readonly expected?: number | null;
}

/** How an append ended. `next`: the end of the stream, to read on from. */
export type AppendOutcome =
  /** `appended`: durable. `repeated`: an earlier request stored the same; `producer` is then the producer's last accepted request. */
  | {
      readonly kind: 'appended' | 'repeated';
      readonly next: number;
      readonly isClosed: boolean;
      readonly producer: ProducerStamp | null;
    }
  | { readonly kind: 'closed'; readonly next: number }
  | { readonly kind: 'conflict'; readonly why: 'type' | 'seq' | 'position'; readonly next: number }
  /** Another start of the producer has taken over. */
  | { readonly kind: 'stale'; readonly epoch: number }
  /** A new epoch must begin with request 0. */
  | { readonly kind: 'epoch-start' }
  /** Requests before it did not arrive. */
  | { readonly kind: 'gap'; readonly expected: number; readonly received: number }
  | { readonly kind: 'missing' | 'gone' };

type Accepted = { readonly op: StreamOp; readonly producer: ProducerStamp | null };
type Refused = { readonly outcome: AppendOutcome };

/** Producers that one stream remembers. */
export const PRODUCERS_MAX = 10_000;

/**
 * Returns the operation to store, or an outcome without one. Checks in this order: the stream is closed, the type differs, the request
 * is a repetition, `seq`, `expected`. So a repeated request is recognized although its first arrival moved `seq` and the end.
 * @throws LIMIT_EXCEEDED for too many producers
 */
export function decideAppend(state: StreamState | null, request: AppendRequest): Accepted | Refused {
  if (!state) return { outcome: { kind: 'missing' } };
  if (state.isDeleted) return { outcome: { kind: 'gone' } };
  const { type, payload, closes = false, seq = null, producer = null, expected = null } = request;
  const next = state.tail;
  if (state.isClosed) return { outcome: onClosed(state, request) };
  if (payload && !isSameType(type, state.type)) return { outcome: { kind: 'conflict', why: 'type', next } };
  const refused = producer && checkProducer(state, producer);
  if (refused) return { outcome: refused };
  if (seq !== null && state.seq !== null && seq <= state.seq)
    return { outcome: { kind: 'conflict', why: 'seq', next } };
  if (expected !== null && expected !== next) return { outcome: { kind: 'conflict', why: 'position', next } };
  return {
    op: payload ? { op: 'append', payload, closes, seq, producer } : { op: 'close', producer },
    producer,
  };
}

function onClosed(
  { tail: next, closedBy }: StreamState,
  { payload, producer = null }: AppendRequest,
): AppendOutcome {
  const isRepeated = producer ? isSameStamp(producer, closedBy) : !payload;
  return isRepeated ? { kind: 'repeated', next, isClosed: true, producer } : { kind: 'closed', next };
}

function isSameStamp(one: ProducerStamp, other: ProducerStamp | null): boolean {
  return one.id === other?.id && one.epoch === other.epoch && one.seq === other.seq;
}

function checkProducer(
  { producers, tail: next }: StreamState,
  { id, epoch, seq }: ProducerStamp,
): AppendOutcome | null {
  const known = producers.get(id);
  if (known && epoch < known.epoch) return { kind: 'stale', epoch: known.epoch };
  if (known && epoch === known.epoch) {
    const producer = { id, ...known };
    if (seq <= known.seq) return { kind: 'repeated', next, isClosed: false, producer };
    return seq === known.seq + 1 ? null : { kind: 'gap', expected: known.seq + 1, received: seq };
  }
  if (seq !== 0) return known ? { kind: 'epoch-start' } : { kind: 'gap', expected: 0, received: seq };
  if (known || producers.size < PRODUCERS_MAX) return null;
  throw new RekindleError('LIMIT_EXCEEDED', `A stream has at most ${PRODUCERS_MAX} producers.`, {
    details: { limit: 'producers', allowed: PRODUCERS_MAX },
  });
}
