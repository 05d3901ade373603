/** A stream as server-sent events: what is there, then what comes. */
import type { StreamChunk } from '../../../streams/durable-streams.js';
import { messagesText } from '../../../streams/stream-pieces.js';
import { isTextType } from '../../../streams/stream-type.js';
import { answered, notRead, type StreamCall } from './stream-call.js';
import { cursorAfter, HEADERS, offsetOf } from './stream-wire.js';

/** A connection ends after so long; clients come back to where they were. So that no token outlives its end for long. */
const CONNECTION_MS = 60_000;
/** Proxies end connections on which nothing is sent. */
const QUIET_MS = 15_000;
const QUIET_LINE = ':\n\n';

export async function streamEvents(call: StreamCall, from: number | 'end'): Promise<Response> {
  const first = await call.streams.read(call.path, from);
  if (first.kind !== 'chunk') return notRead(first.kind);
  const isText = isTextType(first.info.type);
  return answered(
    200,
    {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-cache, no-store',
      'X-Accel-Buffering': 'no',
      ...(isText ? {} : { [HEADERS.encoding]: 'base64' }),
    },
    streamOf(events(call, first, isText)),
  );
}

/** Each piece is made when the client has taken the one before. */
function streamOf(texts: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await texts.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await texts.return(undefined);
    },
  });
}

async function* events(call: StreamCall, first: StreamChunk, isText: boolean): AsyncGenerator<string> {
  const { streams, path, url } = call;
  const until = performance.now() + CONNECTION_MS;
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(CONNECTION_MS)]);
  let cursor = url.searchParams.get('cursor');
  let chunk = first;
  let isTold = false;
  while (!signal.aborted) {
    const { info, isUpToDate } = chunk;
    const isEnd = isUpToDate && info.isClosed;
    const held = isText && !isEnd ? unfinished(chunk) : 0;
    const next = chunk.end - held;
    const hasData = next > chunk.start;
    if (hasData) yield dataEvent(chunk, held, isText);
    if (hasData || !isTold || isEnd) {
      cursor = cursorAfter(cursor);
      yield controlEvent({ next, cursor, isUpToDate, isEnd });
      isTold = true;
    }
    if (isEnd) return;
    if (isUpToDate) {
      const ms = Math.min(QUIET_MS, until - performance.now());
      await streams.wait(path, info, chunk.end, { ms, signal });
    }
    const read = await streams.read(path, next);
    if (read.kind !== 'chunk' || read.info.id !== info.id) return; // deleted: the client finds out when it comes back
    if (isUpToDate && read.end === chunk.end && !read.info.isClosed) yield QUIET_LINE;
    chunk = read;
  }
}

/** Bytes at the end that begin a character whose rest has not been written yet. */
function unfinished({ payload }: StreamChunk): number {
  if (payload.kind === 'messages') return 0;
  const { bytes } = payload;
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
  }
  return 0;
}

function dataEvent({ payload }: StreamChunk, held: number, isText: boolean): string {
  if (payload.kind === 'messages') return eventOf('data', messagesText(payload.messages));
  const bytes = Buffer.from(payload.bytes.buffer, payload.bytes.byteOffset, payload.bytes.byteLength - held);
  return eventOf('data', bytes.toString(isText ? 'utf8' : 'base64'));
}

function controlEvent(at: { next: number; cursor: string; isUpToDate: boolean; isEnd: boolean }): string {
  const { next, cursor, isUpToDate, isEnd } = at;
  return eventOf(
    'control',
    JSON.stringify({
      streamNextOffset: offsetOf(next),
      ...(isEnd ? {} : { streamCursor: cursor }),
      ...(isUpToDate ? { upToDate: true } : {}),
      ...(isEnd ? { streamClosed: true } : {}),
    }),
  );
}

/** Every line break of the content begins a line of the event: content cannot end an event. Readers take off one space. */
function eventOf(name: string, data: string): string {
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data:${line.startsWith(' ') ? ' ' : ''}${line}\n`);
  return `event: ${name}\n${lines.join('')}\n`;
}
