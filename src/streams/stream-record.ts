/** What one record of a stream's journal holds: what happened in one commit, in order. */
import { isUtf8 } from 'node:buffer';
import { RekindleError } from '../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.js';

/** What an append adds: bytes, or the messages of a JSON stream. */
export type StreamPayload =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'messages'; readonly messages: readonly JsonValue[] };

/** Identifies one request of a producer, so that it is stored once however often it is sent. */
export interface ProducerStamp {
  readonly id: string;
  /** Grows with each start of the producer. A lower one is refused. */
  readonly epoch: number;
  /** From 0 on in each epoch, without gaps. */
  readonly seq: number;
}

/** Where a fork leaves its source. */
export interface ForkPoint {
  readonly path: string;
  /** The source's own id: another stream at its path is not its source. */
  readonly id: string;
  /** The fork has what the source has before this position. */
  readonly at: number;
  /** The part of `at` that was asked for as a sub-position. */
  readonly sub: number;
}

export type StreamOp =
  | {
      readonly op: 'create';
      readonly id: string;
      readonly type: string;
      readonly ttlSeconds: number | null;
      readonly expiresMs: number | null;
      readonly fork: ForkPoint | null;
    }
  | {
      readonly op: 'append';
      readonly payload: StreamPayload;
      readonly closes: boolean;
      readonly seq: string | null;
      readonly producer: ProducerStamp | null;
    }
  | { readonly op: 'close'; readonly producer: ProducerStamp | null }
  /** A fork refers to this stream, or no longer does. */
  | { readonly op: 'hold' | 'release'; readonly fork: string; readonly path: string }
  | { readonly op: 'delete' };

export interface StreamRecord {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  /** The position before the first operation. A higher one than the last position means that records are lost. */
  readonly from: number;
  readonly ops: readonly StreamOp[];
}

/** How far a payload moves the end of a stream: bytes, or messages. */
export function unitsOf(payload: StreamPayload): number {
  return payload.kind === 'bytes' ? payload.bytes.length : payload.messages.length;
}

export function encodeRecord({ atMs, from, ops }: StreamRecord): JsonObject {
  return { at: new Date(atMs).toISOString(), from, ops: ops.map(encodeOp) };
}

function encodeOp(op: StreamOp): JsonObject {
  switch (op.op) {
    case 'create': {
      const { id, type, ttlSeconds, expiresMs, fork } = op;
      return {
        ...{ op: 'create', id, type },
        ...(ttlSeconds === null ? {} : { ttl_s: ttlSeconds }),
        ...(expiresMs === null ? {} : { expires_ms: expiresMs }),
        ...(fork === null ? {} : { fork: { ...fork } }),
      };
    }
    case 'append':
      return {
        ...{ op: 'append', ...encodePayload(op.payload) },
        ...(op.closes ? { closes: true } : {}),
        ...(op.seq === null ? {} : { seq: op.seq }),
        ...(op.producer === null ? {} : { producer: { ...op.producer } }),
      };
    case 'close':
      return { op: 'close', ...(op.producer === null ? {} : { producer: { ...op.producer } }) };
    case 'delete':
      return { op: 'delete' };
    default:
      return { op: op.op, fork: op.fork, path: op.path };
  }
}

/** Text stays text, so that people can read it and redaction sees it. */
function encodePayload(payload: StreamPayload): JsonObject {
  if (payload.kind === 'messages') return { messages: [...payload.messages] };
  const bytes = Buffer.from(payload.bytes.buffer, payload.bytes.byteOffset, payload.bytes.byteLength);
  return isUtf8(bytes) ? { text: bytes.toString('utf8') } : { base64: bytes.toString('base64') };
}

/** @throws UNSUPPORTED_VERSION for an operation of a newer release, JOURNAL_DAMAGED for what is no record of a stream */
export function decodeRecord(record: JsonObject): StreamRecord {
  const { at, from, ops } = record;
  const atMs = typeof at === 'string' ? Date.parse(at) : Number.NaN;
  if (Number.isNaN(atMs) || !isPosition(from) || !Array.isArray(ops)) throw damaged();
  return { atMs, from, ops: ops.map(decodeOp) };
}

function decodeOp(given: JsonValue): StreamOp {
  if (!isJsonObject(given)) throw damaged();
  const { op, id, type, ttl_s: ttl, expires_ms: expires, fork, path, seq } = given;
  switch (op) {
    case 'create': {
      if (typeof id !== 'string' || typeof type !== 'string') throw damaged();
      const ttlSeconds = isPosition(ttl) ? ttl : null;
      return { op, id, type, ttlSeconds, expiresMs: numberOr(expires), fork: decodeFork(fork) };
    }
    case 'append': {
      const producer = decodeProducer(given['producer']);
      const closes = given['closes'] === true;
      const known = typeof seq === 'string' ? seq : null;
      return { op, payload: decodePayload(given), closes, seq: known, producer };
    }
    case 'close':
      return { op, producer: decodeProducer(given['producer']) };
    case 'hold':
    case 'release':
      if (typeof fork !== 'string' || typeof path !== 'string') throw damaged();
      return { op, fork, path };
    case 'delete':
      return { op };
    default:
      throw new RekindleError('UNSUPPORTED_VERSION', 'A newer release wrote this stream.', {
        details: { operation: typeof op === 'string' ? op : null },
      });
  }
}

function decodePayload({ text, base64, messages }: JsonObject): StreamPayload {
  if (Array.isArray(messages)) return { kind: 'messages', messages };
  if (typeof text === 'string') return { kind: 'bytes', bytes: Buffer.from(text, 'utf8') };
  if (typeof base64 === 'string') return { kind: 'bytes', bytes: Buffer.from(base64, 'base64') };
  throw damaged();
}

function decodeFork(given: JsonValue | undefined): ForkPoint | null {
  if (given === undefined) return null;
  if (!isJsonObject(given)) throw damaged();
  const { path, id, at, sub } = given;
  if (typeof path !== 'string' || typeof id !== 'string' || !isPosition(at) || !isPosition(sub))
    throw damaged();
  return { path, id, at, sub };
}

function decodeProducer(given: JsonValue | undefined): ProducerStamp | null {
  if (given === undefined) return null;
  if (!isJsonObject(given)) throw damaged();
  const { id, epoch, seq } = given;
  if (typeof id !== 'string' || !isPosition(epoch) || !isPosition(seq)) throw damaged();
  return { id, epoch, seq };
}

function numberOr(value: JsonValue | undefined): number | null {
  return typeof value === 'number' ? value : null;
}

function isPosition(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function damaged(): RekindleError {
  return new RekindleError('JOURNAL_DAMAGED', 'A record of a stream does not have the expected shape.');
}
