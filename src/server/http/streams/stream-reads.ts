/** Reads streams: what is there, and with long polling also what comes. */
import type { StreamChunk } from '../../../streams/durable-streams.js';
import { messagesText } from '../../../streams/stream-pieces.js';
import type { StreamPayload } from '../../../streams/stream-record.js';
import { type AnswerBody, answered, badRequest, missing, notRead, type StreamCall } from './stream-call.js';
import { streamEvents } from './stream-events.js';
import { closedHeader, cursorAfter, HEADERS, infoHeaders, offsetOf, readFrom } from './stream-wire.js';

/** Less than proxies allow for an answer. */
const WAIT_MS = 20_000;

export async function headStream({ streams, path }: StreamCall): Promise<Response> {
  const info = await streams.info(path);
  return 'kind' in info ? missing(info.kind) : answered(200, infoHeaders(info));
}

export async function getStream(call: StreamCall): Promise<Response> {
  const { query, live } = { query: call.url.searchParams, live: call.url.searchParams.get('live') };
  const from = readFrom(query);
  if (live === null) return readOnce(call, from ?? 0);
  if (live !== 'long-poll' && live !== 'sse') return badRequest('live must be long-poll or sse.');
  if (from === null) return badRequest('A live reading needs an offset.');
  return live === 'sse' ? streamEvents(call, from) : longPoll(call, from);
}

async function readOnce({ streams, path, header }: StreamCall, from: number | 'end'): Promise<Response> {
  const chunk = await streams.read(path, from);
  return chunk.kind === 'chunk'
    ? chunkAnswer(chunk, { header, isTagged: from !== 'end' })
    : notRead(chunk.kind);
}

async function longPoll(
  { streams, path, header, signal, url }: StreamCall,
  from: number | 'end',
): Promise<Response> {
  let chunk = await streams.read(path, from);
  if (chunk.kind === 'chunk' && chunk.end === chunk.start && !chunk.info.isClosed) {
    await streams.wait(path, chunk.info, chunk.end, { ms: WAIT_MS, signal });
    chunk = await streams.read(path, chunk.end);
  }
  if (chunk.kind !== 'chunk') return notRead(chunk.kind);
  const cursor = cursorAfter(url.searchParams.get('cursor'));
  if (chunk.end > chunk.start) return chunkAnswer(chunk, { header, isTagged: true, cursor });
  return answered(204, {
    [HEADERS.next]: offsetOf(chunk.end),
    [HEADERS.upToDate]: 'true',
    [HEADERS.cursor]: cursor,
    ...closedHeader(chunk.info.isClosed),
  });
}

interface ChunkOptions {
  readonly header: StreamCall['header'];
  /** Whether the client may ask if it changed. */
  readonly isTagged: boolean;
  readonly cursor?: string;
}

function chunkAnswer(chunk: StreamChunk, { header, isTagged, cursor }: ChunkOptions): Response {
  const { info, start, end, payload, isUpToDate } = chunk;
  const isEnd = isUpToDate && info.isClosed;
  const tag = `"${info.id}:${offsetOf(start)}:${offsetOf(end)}${isEnd ? ':closed' : ''}"`;
  const headers = {
    ...infoHeaders({ ...info, tail: end, isClosed: isEnd }),
    ...(isUpToDate ? { [HEADERS.upToDate]: 'true' } : {}),
    ...(isTagged ? { ETag: tag } : {}),
    ...(cursor === undefined ? {} : { [HEADERS.cursor]: cursor }),
  };
  if (isTagged && isKnown(header('If-None-Match'), tag)) {
    const { 'Content-Type': _, ...rest } = headers as Record<string, string>;
    return answered(304, rest);
  }
  return answered(200, headers, bodyOf(payload));
}

/** `*` and weak tags, too. */
function isKnown(given: string | null, tag: string): boolean {
  const known = (given ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''));
  return known.includes('*') || known.includes(tag);
}

function bodyOf(payload: StreamPayload): AnswerBody {
  return payload.kind === 'messages' ? messagesText(payload.messages) : Uint8Array.from(payload.bytes);
}
