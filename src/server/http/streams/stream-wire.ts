/** The headers, positions and cursors of the Durable Streams protocol. */
import { RekindleError } from '../../../core/errors.js';
import type { StreamInfo } from '../../../streams/create-decision.js';
import type { ProducerStamp } from '../../../streams/stream-record.js';

/** Reads one header; null if it is missing. */
export type HeaderOf = (name: string) => string | null;

export const HEADERS = {
  next: 'Stream-Next-Offset',
  cursor: 'Stream-Cursor',
  upToDate: 'Stream-Up-To-Date',
  closed: 'Stream-Closed',
  ttl: 'Stream-TTL',
  expires: 'Stream-Expires-At',
  seq: 'Stream-Seq',
  expected: 'Stream-Expected-Offset',
  forkedFrom: 'Stream-Forked-From',
  forkOffset: 'Stream-Fork-Offset',
  forkSub: 'Stream-Fork-Sub-Offset',
  encoding: 'Stream-SSE-Data-Encoding',
  producerId: 'Producer-Id',
  producerEpoch: 'Producer-Epoch',
  producerSeq: 'Producer-Seq',
  producerExpected: 'Producer-Expected-Seq',
  producerReceived: 'Producer-Received-Seq',
} as const;

const WHOLE = /^(0|[1-9]\d{0,15})$/;
const OFFSET_DIGITS = 16;
const OFFSET = new RegExp(`^0{${OFFSET_DIGITS}}_(\\d{${OFFSET_DIGITS}})$`);
const ANY_OFFSET = new RegExp(`^\\d{${OFFSET_DIGITS}}_\\d{${OFFSET_DIGITS}}$`);
const TEXT_LENGTH_MAX = 256;
const DATE = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;

/** A position as clients see it. Sorts as text like the positions as numbers. */
export function offsetOf(position: number): string {
  return `${'0'.repeat(OFFSET_DIGITS)}_${String(position).padStart(OFFSET_DIGITS, '0')}`;
}

/** The position of an offset; beyond every stream for one that this server does not give. @throws INVALID_ARGUMENT */
export function positionOf(offset: string, field: string): number {
  const digits = OFFSET.exec(offset)?.[1];
  if (digits !== undefined) return Number(digits);
  if (ANY_OFFSET.test(offset)) return Number.MAX_SAFE_INTEGER;
  throw invalid(field, 'must be an offset that the server gave');
}

/** Where to read; null if it is not given. @throws INVALID_ARGUMENT */
export function readFrom(query: URLSearchParams): number | 'end' | null {
  const given = query.getAll('offset');
  if (given.length === 0) return null;
  if (given.length > 1) throw invalid('offset', 'must be given once');
  if (given[0] === '-1') return 0;
  return given[0] === 'now' ? 'end' : positionOf(given[0]!, 'offset');
}

/** Only `true` counts, as the protocol says. */
export function closesStream(header: HeaderOf): boolean {
  return header(HEADERS.closed)?.toLowerCase() === 'true';
}

/** @throws INVALID_ARGUMENT */
export function expiryOf(header: HeaderOf): { ttlSeconds: number | null; expiresMs: number | null } {
  const ttl = header(HEADERS.ttl);
  const expires = header(HEADERS.expires);
  if (ttl !== null && expires !== null)
    throw invalid(HEADERS.ttl, `cannot be combined with ${HEADERS.expires}`);
  return { ttlSeconds: ttl === null ? null : whole(ttl, HEADERS.ttl), expiresMs: dateOf(expires) };
}

function dateOf(text: string | null): number | null {
  if (text === null) return null;
  const ms = DATE.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw invalid(HEADERS.expires, 'must be a time such as 2030-01-31T12:00:00Z');
  return ms;
}

/** Null without any of the three headers. @throws INVALID_ARGUMENT */
export function producerOf(header: HeaderOf): ProducerStamp | null {
  const id = header(HEADERS.producerId);
  const epoch = header(HEADERS.producerEpoch);
  const seq = header(HEADERS.producerSeq);
  if (id === null && epoch === null && seq === null) return null;
  if (id === null || epoch === null || seq === null)
    throw invalid(HEADERS.producerId, `needs ${HEADERS.producerEpoch} and ${HEADERS.producerSeq}`);
  return {
    id: shortText(id, HEADERS.producerId),
    epoch: whole(epoch, HEADERS.producerEpoch),
    seq: whole(seq, HEADERS.producerSeq),
  };
}

/** @throws INVALID_ARGUMENT if it is empty or too long */
export function shortText(text: string, field: string): string {
  if (text === '' || text.length > TEXT_LENGTH_MAX)
    throw invalid(field, `must have 1 to ${TEXT_LENGTH_MAX} characters`);
  return text;
}

/** @throws INVALID_ARGUMENT */
export function whole(text: string, field: string): number {
  const number = WHOLE.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(number)) return number;
  throw invalid(field, `must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`);
}

export function invalid(field: string, what: string): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `${field} ${what}.`, { details: { field } });
}

/** What every answer about a stream says. */
export function infoHeaders({ type, tail, isClosed, ...expiry }: StreamInfo): Record<string, string> {
  const { ttlSeconds, expiresMs } = expiry;
  return {
    'Content-Type': type,
    [HEADERS.next]: offsetOf(tail),
    ...(ttlSeconds === null ? {} : { [HEADERS.ttl]: String(ttlSeconds) }),
    ...(expiresMs === null ? {} : { [HEADERS.expires]: new Date(expiresMs).toISOString() }),
    ...closedHeader(isClosed),
  };
}

export function closedHeader(isClosed: boolean): Record<string, string> {
  return isClosed ? { [HEADERS.closed]: 'true' } : {};
}

const CURSOR_EPOCH_MS = Date.UTC(2024, 9, 9);
const CURSOR_MS = 20_000;
const CURSOR_JITTER_MAX = 180;

/**
 * The number of the current interval, and always more than the client's: so no cache between client and server answers a waiting client
 * with what it had.
 */
export function cursorAfter(given: string | null, nowMs = Date.now()): string {
  const current = Math.floor((nowMs - CURSOR_EPOCH_MS) / CURSOR_MS);
  const known = given !== null && WHOLE.test(given) ? Number(given) : -1;
  if (known < current) return String(current);
  return String(known + 1 + Math.floor(Math.random() * CURSOR_JITTER_MAX));
}
