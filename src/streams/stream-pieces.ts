/** Parts of the content of a stream, with their positions. */
import type { JsonValue } from '../core/json.js';
import { type StreamPayload, type StreamRecord, unitsOf } from './stream-record.js';

/** What one append added, or a part of it. `end` is `start` plus its bytes or messages. */
export interface StreamPiece {
  readonly start: number;
  readonly end: number;
  readonly payload: StreamPayload;
}

/** What a record adds, in order. */
export function piecesOf({ from, ops }: StreamRecord): StreamPiece[] {
  const pieces: StreamPiece[] = [];
  let start = from;
  for (const op of ops) {
    if (op.op === 'create') start = op.fork?.at ?? start;
    if (op.op !== 'append') continue;
    const end = start + unitsOf(op.payload);
    pieces.push({ start, end, payload: op.payload });
    start = end;
  }
  return pieces;
}

/** The part of a piece between two positions; null if there is none. */
export function clipped({ start, end, payload }: StreamPiece, from: number, to: number): StreamPiece | null {
  const [first, last] = [Math.max(start, from), Math.min(end, to)];
  if (first >= last) return null;
  if (first === start && last === end) return { start, end, payload };
  const [begin, finish] = [first - start, last - start];
  const part: StreamPayload =
    payload.kind === 'bytes'
      ? { kind: 'bytes', bytes: payload.bytes.subarray(begin, finish) }
      : { kind: 'messages', messages: payload.messages.slice(begin, finish) };
  return { start: first, end: last, payload: part };
}

/** About how many bytes a payload takes as an answer. */
export function sizeOf(payload: StreamPayload): number {
  return payload.kind === 'bytes' ? payload.bytes.length : messagesText(payload.messages).length;
}

/** A JSON array, without spaces. */
export function messagesText(messages: readonly JsonValue[]): string {
  return JSON.stringify(messages);
}
