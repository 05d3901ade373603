/** One request on a stream, and its answers. */
import type { DurableStreams } from '../../../streams/durable-streams.js';
import { problem } from '../problem.js';
import type { Reply } from '../route.js';
import type { HeaderOf } from './stream-wire.js';

/** The address below which streams are. */
export const STREAM_PREFIX = '/v1/stream/';

export interface StreamCall {
  readonly streams: DurableStreams;
  /** Of the stream, decoded. */
  readonly path: string;
  readonly url: URL;
  readonly header: HeaderOf;
  /** Aborted when the client has left, or the server closes. */
  readonly signal: AbortSignal;
  /** @throws REQUEST_REFUSED (413) */
  body(): Promise<Uint8Array<ArrayBuffer>>;
}

export function isStreamPath(path: string): boolean {
  return path.startsWith(STREAM_PREFIX) && path.length > STREAM_PREFIX.length;
}

export type AnswerBody = string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null;

export function answered(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: AnswerBody = null,
): Response {
  return new Response(body, { status, headers });
}

/** A problem as the answers of other routes have it. */
export function refusedWith(reply: Reply): Response {
  return answered(reply.status, reply.headers ?? {}, JSON.stringify(reply.body));
}

export function missing(kind: 'missing' | 'gone'): Response {
  if (kind === 'missing')
    return refusedWith(problem(404, { code: 'ENTRY_NOT_FOUND', detail: 'There is no such stream.' }));
  return refusedWith(problem(410, { code: 'HISTORY_GONE', detail: 'The stream was deleted.' }));
}

export function conflict(detail: string, headers: Readonly<Record<string, string>> = {}): Response {
  return refusedWith(problem(409, { code: 'DOCUMENT_CONFLICT', detail }, headers));
}

export function badRequest(detail: string): Response {
  return refusedWith(problem(400, { code: 'INVALID_ARGUMENT', detail }));
}

export function notRead(kind: 'missing' | 'gone' | 'beyond'): Response {
  return kind === 'beyond' ? badRequest('The stream ends before this offset.') : missing(kind);
}
