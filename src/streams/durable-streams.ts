/** Durable streams of bytes or JSON messages: created, appended to, and read from any position by many, in any process. */
import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../core/clock.js';
import { RekindleError } from '../core/errors.js';
import type { StorageBackend } from '../storage/ports.js';
import { type AppendOutcome, type AppendRequest, decideAppend } from './append-decision.js';
import {
  type CreateOutcome,
  type CreateRequest,
  compareExisting,
  decideCreate,
  infoOf,
  type StreamInfo,
} from './create-decision.js';
import { expiresAt } from './read-times.js';
import { payloadOf } from './stream-body.js';
import { StreamLifetimes } from './stream-lifetimes.js';
import type { StreamChange } from './stream-log.js';
import { folderOf, streamPaths } from './stream-name.js';
import { type OpenStream, StreamPool } from './stream-pool.js';
import { Gathered, gather } from './stream-reading.js';
import type { ForkPoint, StreamPayload } from './stream-record.js';
import { DEFAULT_TYPE, isJsonType } from './stream-type.js';

/** An append with its content as it came. */
export type AppendBody = Omit<AppendRequest, 'payload'> & { readonly body: Uint8Array };

/** There is no stream at the path; `gone`: it was deleted, and is kept for its forks. */
export interface NoStream {
  readonly kind: 'missing' | 'gone';
}

/** A part of a stream. */
export interface StreamChunk {
  readonly kind: 'chunk';
  readonly info: StreamInfo;
  readonly start: number;
  /** Where to read on. */
  readonly end: number;
  readonly payload: StreamPayload;
  /** Nothing follows so far. `info.isClosed`: nothing will. */
  readonly isUpToDate: boolean;
}

/** How long to wait for something new. */
export interface WaitOptions {
  readonly ms: number;
  readonly signal: AbortSignal;
}

/** Options of `DurableStreams`. */
export interface DurableStreamsOptions {
  readonly clock?: Clock;
  /** About the largest size of one reading, in bytes. An append is never divided. Default 1 MiB. */
  readonly chunkBytes?: number;
}

const CHUNK_BYTES = 1024 * 1024;

/**
 * The streams of a store. Positions count bytes, or the messages of an `application/json` stream.
 *
 * An append, creation or deletion is durable when it resolves. Concurrent appends keep their order and share one sync. Several
 * processes may use the same stream.
 */
export class DurableStreams {
  readonly #backend: StorageBackend;
  readonly #clock: Clock;
  readonly #chunkBytes: number;
  readonly #pool: StreamPool;
  readonly #lifetimes: StreamLifetimes;
  #told: (path: string) => void = () => {};

  /** Reads nothing yet. */
  constructor(
    backend: StorageBackend,
    { clock = systemClock, chunkBytes = CHUNK_BYTES }: DurableStreamsOptions = {},
  ) {
    this.#backend = backend;
    this.#clock = clock;
    this.#chunkBytes = chunkBytes;
    this.#pool = new StreamPool(backend, clock);
    this.#lifetimes = new StreamLifetimes(this.#pool, clock);
  }

  /**
   * Creates a stream, or finds that the same one exists. Durable when it resolves.
   * @throws INVALID_NAME, INVALID_ARGUMENT for a body that is no JSON, LIMIT_EXCEEDED, and as `SharedJournal.change`
   */
  async create(path: string, request: CreateRequest): Promise<CreateOutcome> {
    folderOf(path);
    return this.#pool.use(path, async (stream) => {
      const known = compareExisting(await this.#lifetimes.live(stream), request);
      if (known) return known;
      const id = randomBytes(9).toString('base64url');
      if (request.fork) return this.#fork(stream, id, request);
      const { ttlSeconds, expiresMs } = request;
      return this.#begin(stream, request, {
        id,
        type: request.type ?? DEFAULT_TYPE,
        ttlSeconds,
        expiresMs,
        fork: null,
      });
    });
  }

  /** Calls back after each creation and append by this process, once it is durable. Replaces an earlier callback. */
  onChange(told: (path: string) => void): void {
    this.#told = told;
  }

  async #begin(stream: OpenStream, request: CreateRequest, created: StreamInfoOfNew): Promise<CreateOutcome> {
    const payload = payloadOf(created.type, request.body);
    await stream.times.begin(created);
    const outcome = await stream.log.change((state) => decideCreate(state, request, { ...created, payload }));
    if (outcome.kind === 'created') this.#told(stream.path);
    return outcome;
  }

  /** The source knows its fork before the fork exists: so it is kept. */
  async #fork(stream: OpenStream, id: string, request: CreateRequest): Promise<CreateOutcome> {
    const held = await this.#lifetimes.hold(request, { id, path: stream.path });
    if (held.kind !== 'held') return held;
    const { source, point } = held;
    const isOwn = request.ttlSeconds !== null || request.expiresMs !== null;
    const { ttlSeconds, expiresMs } = isOwn ? request : source;
    let outcome: CreateOutcome | null = null;
    try {
      const { type } = source;
      outcome = await this.#begin(stream, request, { id, type, ttlSeconds, expiresMs, fork: point });
      return outcome;
    } finally {
      // A failed write may have been stored: then the fork needs its source.
      if (outcome && outcome.kind !== 'created') await this.#lifetimes.release(point, id);
    }
  }

  /**
   * Adds content, or closes the stream, or both in one commit. Durable when it resolves.
   * @throws INVALID_NAME, INVALID_ARGUMENT for no content without closing and a body that is no JSON, LIMIT_EXCEEDED, and as
   * `SharedJournal.change`
   */
  async append(path: string, { body, ...request }: AppendBody): Promise<AppendOutcome> {
    return this.#pool.use(path, async (stream): Promise<AppendOutcome> => {
      const missing = noStream(await this.#lifetimes.live(stream));
      if (missing) return missing;
      const payload = payloadOf(request.type, body);
      if (!payload && !(request.closes && body.length === 0))
        throw new RekindleError('INVALID_ARGUMENT', 'An append needs content.', {
          details: { field: 'body' },
        });
      const outcome = await stream.log.change((state): StreamChange<AppendOutcome> => {
        const decided = decideAppend(state, { ...request, payload });
        if ('outcome' in decided) return { ops: [], result: () => decided.outcome };
        const { op, producer } = decided;
        const isClosed = request.closes === true;
        return { ops: [op], result: (next) => ({ kind: 'appended', next, isClosed, producer }) };
      });
      if (outcome.kind === 'appended') this.#told(path);
      return outcome;
    });
  }

  /** Whether there is a stream, and its settings and end. Does not count as reading. @throws INVALID_NAME */
  async info(path: string): Promise<StreamInfo | NoStream> {
    return this.#pool.use(path, async (stream) => {
      const state = await this.#lifetimes.live(stream);
      return noStream(state) ?? infoOf(state!);
    });
  }

  /**
   * Reads a part of the stream from a position on; `'end'` returns no content. Restarts the lifetime of the stream.
   * `beyond`: the stream ends before the position.
   * @throws INVALID_NAME, JOURNAL_DAMAGED if content is lost
   */
  async read(
    path: string,
    from: number | 'end',
  ): Promise<StreamChunk | NoStream | { readonly kind: 'beyond' }> {
    return this.#pool.use(path, async (stream) => {
      const state = await this.#lifetimes.live(stream);
      const missing = noStream(state);
      if (missing || !state) return missing ?? { kind: 'missing' };
      const info = infoOf(state);
      const start = from === 'end' ? info.tail : from;
      if (start > info.tail) return { kind: 'beyond' };
      await stream.times.touch(state);
      const gathered = new Gathered(start, this.#chunkBytes);
      try {
        if (start < info.tail) await gather(this.#pool, stream, state, gathered, info.tail);
      } catch (thrown) {
        if ((await stream.log.current())?.id === info.id) throw thrown;
        return { kind: 'missing' }; // deleted meanwhile
      }
      const payload = gathered.payload(isJsonType(info.type) ? 'messages' : 'bytes');
      const end = gathered.position;
      return { kind: 'chunk', info, start, end, payload, isUpToDate: end === info.tail };
    });
  }

  /** Resolves when the stream has more than up to a position, is closed or deleted, or when the wait is over. */
  async wait(path: string, { id }: StreamInfo, after: number, options: WaitOptions): Promise<void> {
    await this.#pool.use(path, async ({ log }) => {
      await log.current();
      const isNews = () => {
        const { state } = log;
        return state?.id !== id || state.isDeleted || state.isClosed || state.tail > after;
      };
      await log.news.wait(isNews, options);
    });
  }

  /** Deletes a stream with its content; kept for its forks as long as there are any. Durable when it resolves. @throws INVALID_NAME */
  async delete(path: string): Promise<NoStream | { readonly kind: 'deleted' }> {
    return this.#pool.use(path, async (stream) => {
      const state = await this.#lifetimes.live(stream);
      const missing = noStream(state);
      if (missing || !state) return missing ?? { kind: 'missing' };
      await this.#lifetimes.delete(stream, state.id);
      return { kind: 'deleted' };
    });
  }

  /** Removes the content of expired streams, which nobody may have asked for since. Returns how many. */
  async removeExpired(signal?: AbortSignal): Promise<number> {
    let removed = 0;
    for (const path of await streamPaths(this.#backend)) {
      if (signal?.aborted) break;
      await this.#pool.use(path, async (stream) => {
        const expiry = await stream.times.stored();
        const at = expiry && expiresAt(expiry, expiry.readMs);
        if (at === null || at > this.#clock.nowMs()) return;
        const isThere = noStream(await stream.log.current()) === null;
        const left = noStream(await this.#lifetimes.live(stream));
        if (isThere && left) removed += 1;
        // Of a creation that was interrupted.
        if (left?.kind === 'missing') await stream.times.forget();
      });
    }
    return removed;
  }

  /** Waits for calls in progress. End waits with their signal. */
  close(): Promise<void> {
    return this.#pool.close();
  }
}

interface StreamInfoOfNew {
  readonly id: string;
  readonly type: string;
  readonly ttlSeconds: number | null;
  readonly expiresMs: number | null;
  readonly fork: ForkPoint | null;
}

function noStream(state: { readonly isDeleted: boolean } | null): NoStream | null {
  if (!state) return { kind: 'missing' };
  return state.isDeleted ? { kind: 'gone' } : null;
}
