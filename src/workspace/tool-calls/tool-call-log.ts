import { type Clock, systemClock } from '../../core/clock.js';
import { isRekindleError, RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import type { Blobs, Journal, Lease, Name, StorageBackend } from '../../storage/ports.js';
import { SharedLease } from '../../storage/shared-lease.js';
import { type CallChunk, chunkAt, dayOf, listChunks } from './call-chunks.js';
import { CallMatcher, type ToolCallQuery } from './call-matcher.js';
import {
  decodeCall,
  encodeCall,
  type PreparedCall,
  prepareCall,
  type ToolCallEntry,
  type ToolCallRecord,
} from './tool-call-record.js';

/** Options of `ToolCallLog`. */
export interface ToolCallLogOptions {
  /** Folder of the workspace. Default `['workspace']`; the log is stored in `tool_calls/` below it. */
  readonly folder?: Name;
  readonly clock?: Clock;
  /** Limits that are applied whenever a chunk is begun. Default: only `prune` removes calls. */
  readonly bounds?: PruneOptions;
  /** Called after the limits removed calls. */
  readonly onPruned?: (report: PruneReport) => void;
}

export type { ToolCallQuery } from './call-matcher.js';

/** How many calls to keep. */
export interface PruneOptions {
  /** Minimum of calls to keep. Whole chunks are removed: 1,000 calls or one day. */
  readonly callsMax?: number;
  /** Days to keep, including today. */
  readonly daysMax?: number;
}

/** What `prune` removed. */
export interface PruneReport {
  readonly callsRemoved: number;
  readonly callsKept: number;
  /** Removed chunks, oldest first. */
  readonly chunks: readonly string[];
  /** Removed values that no remaining call references; `bytesRemoved` is their size. */
  readonly valuesRemoved: number;
  readonly bytesRemoved: number;
}

/** A value with more bytes of JSON is stored by its digest. */
const INLINE_BYTES_MAX = 4 * 1024;
const CHUNK_CALLS_MAX = 1_000;
/** Give up after this many lost leases: the process is being suspended for seconds at a time. */
const LOST_MAX = 5;

/**
 * A log of tool calls with their inputs and outputs, for people and agents to look back. Several processes
 * may write one log. It does not prevent repeated calls; the ledger does.
 */
export class ToolCallLog {
  readonly #backend: StorageBackend;
  readonly #folder: Name;
  readonly #clock: Clock;
  readonly #options: ToolCallLogOptions;
  readonly #turns: SharedLease;
  #open: { readonly chunk: CallChunk; readonly journal: Journal<JsonObject> } | null = null;
  #pending = new Set<PreparedCall>();
  #flushing: Promise<void> | null = null;

  constructor(backend: StorageBackend, options: ToolCallLogOptions = {}) {
    const folder = options.folder ?? ['workspace'];
    this.#backend = backend;
    this.#folder = [...folder, 'tool_calls'];
    this.#clock = options.clock ?? systemClock;
    this.#options = options;
    assertBounds(options.bounds ?? {});
    this.#turns = new SharedLease(backend.leases, [...folder, 'tool_calls.lease'], {
      onEnd: () => this.#closeChunk(),
    });
  }

  /**
   * Records a call. Durable when it resolves; calls at the same time share one commit.
   * @throws INVALID_ARGUMENT, LEASE_HELD, STORAGE_FULL, STORAGE_FAILED
   */
  async record(entry: ToolCallEntry): Promise<void> {
    this.#pending.add(prepareCall(entry)); // check here, so that an invalid call does not fail the others
    this.#flushing ??= this.#flush();
    await this.#flushing;
  }

  async #flush(): Promise<void> {
    await Promise.resolve(); // collect calls that end in the same tick
    let batch: Set<PreparedCall> | null = null;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#turns.run(async (lease) => {
          batch ??= this.#take();
          await this.#write(batch, lease);
        });
        return;
      } catch (thrown) {
        if (isRekindleError(thrown, 'LEASE_LOST') && attempt < LOST_MAX) continue;
        batch ??= this.#take(); // the callers of these records get the error
        throw thrown;
      }
    }
  }

  #take(): Set<PreparedCall> {
    const taken = this.#pending;
    this.#pending = new Set();
    this.#flushing = null;
    return taken;
  }

  /**
   * Removes what it wrote from the batch. Values are written first and under the same lease, so that no
   * clean-up can come between a value and its call.
   */
  async #write(batch: Set<PreparedCall>, lease: Lease): Promise<void> {
    for (let [first] = batch; first; [first] = batch) {
      const { day } = first;
      const journal = await this.#journalFor(day, lease);
      const room = CHUNK_CALLS_MAX - (await journal.head()).seq;
      const calls = [...batch].filter((call) => call.day === day).slice(0, room);
      await journal.append(
        await Promise.all(calls.map((call) => encodeCall(call, (text) => this.#offload(text)))),
      );
      for (const call of calls) batch.delete(call);
    }
  }

  async #offload(text: string): Promise<string | null> {
    const bytes = Buffer.from(text);
    return bytes.length <= INLINE_BYTES_MAX ? null : `sha256:${(await this.#values.put(bytes)).digest}`;
  }

  get #values(): Blobs {
    return this.#backend.blobs([...this.#folder, 'values']);
  }

  async #journalFor(day: string, lease: Lease): Promise<Journal<JsonObject>> {
    if (this.#open?.chunk.day === day && (await this.#open.journal.head()).seq < CHUNK_CALLS_MAX)
      return this.#open.journal;
    await this.#closeChunk();
    const journal = await this.#openChunk(day, lease);
    if ((await journal.head()).seq > 0 || !this.#options.bounds) return journal;
    const report = await this.#prune(this.#options.bounds, lease);
    if (report.chunks.length > 0) this.#options.onPruned?.(report);
    return this.#openChunk(day, lease);
  }

  async #openChunk(day: string, lease: Lease): Promise<Journal<JsonObject>> {
    const chunks = (await listChunks(this.#backend, this.#folder)).filter((chunk) => chunk.day === day);
    let chunk = chunks.at(-1) ?? chunkAt(this.#folder, day, 1);
    let journal = await this.#backend.openJournal<JsonObject>(chunk.name, { lease });
    if ((await journal.head()).seq >= CHUNK_CALLS_MAX) {
      await journal.close();
      chunk = chunkAt(this.#folder, day, chunk.number + 1);
      journal = await this.#backend.openJournal<JsonObject>(chunk.name, { lease });
    }
    this.#open = { chunk, journal };
    return journal;
  }

  async #closeChunk(): Promise<void> {
    const { journal } = this.#open ?? {};
    this.#open = null;
    await journal?.close();
  }

  /** Matching calls, newest first. Reads only as many chunks as needed. */
  async search(query: ToolCallQuery = {}): Promise<ToolCallRecord[]> {
    const found: ToolCallRecord[] = [];
    const limit = query.limit ?? 10;
    const matcher = new CallMatcher(query, (ref) => this.value(ref));
    for (const chunk of (await listChunks(this.#backend, this.#folder)).reverse()) {
      if (!matcher.mayHold(chunk.day)) continue;
      for await (const record of this.#backward(chunk)) {
        if (found.length >= limit) return found;
        if (await matcher.matches(record)) found.push(record);
      }
    }
    return found.slice(0, limit);
  }

  /** The last calls, newest first. @param tool only calls of this tool */
  recent(limit = 10, tool?: string): Promise<ToolCallRecord[]> {
    return this.search(tool === undefined ? { limit } : { limit, tool });
  }

  /** A value stored by reference, as JSON text; null if it is missing. @throws BLOB_DAMAGED */
  async value(ref: string): Promise<string | null> {
    const digest = /^sha256:([0-9a-f]{64})$/.exec(ref)?.[1];
    const bytes = digest === undefined ? null : await this.#values.get(digest);
    return bytes && Buffer.from(bytes).toString('utf8');
  }

  async *#backward(chunk: CallChunk): AsyncGenerator<ToolCallRecord> {
    let journal: Journal<JsonObject> | null = null;
    try {
      journal = await this.#backend.openJournal<JsonObject>(chunk.name, { readOnly: true });
      for await (const entry of journal.readBackward()) {
        const record = entry.kind === 'record' ? decodeCall(entry.record) : null;
        if (record) yield record;
      }
    } catch (thrown) {
      if (!isGone(thrown)) throw thrown; // pruned meanwhile
    } finally {
      await journal?.close();
    }
  }

  /**
   * Removes the oldest calls beyond the limits, and values that only they reference. @throws
   * INVALID_ARGUMENT, LEASE_HELD
   */
  async prune(options: PruneOptions): Promise<PruneReport> {
    assertBounds(options);
    return this.#turns.run((lease) => this.#prune(options, lease));
  }

  async #prune(options: PruneOptions, lease: Lease): Promise<PruneReport> {
    await this.#closeChunk();
    const chunks = await this.#counted();
    const gone = chunks.slice(0, this.#countOfOld(chunks, options));
    for (const { chunk } of gone) await this.#backend.removeJournal(chunk.name, lease);
    const kept = chunks.slice(gone.length);
    const values = gone.length > 0 ? await this.#removeValues(kept.map(({ chunk }) => chunk)) : [];
    return {
      callsRemoved: gone.reduce((sum, { calls }) => sum + calls, 0),
      callsKept: kept.reduce((sum, { calls }) => sum + calls, 0),
      chunks: gone.map(({ chunk }) => chunk.name.at(-1)!),
      valuesRemoved: values.length,
      bytesRemoved: values.reduce((sum, bytes) => sum + bytes, 0),
    };
  }

  async #counted(): Promise<{ readonly chunk: CallChunk; readonly calls: number }[]> {
    const counted = [];
    for (const chunk of await listChunks(this.#backend, this.#folder)) {
      const journal = await this.#backend.openJournal<JsonObject>(chunk.name, { readOnly: true });
      counted.push({ chunk, calls: (await journal.head()).seq });
      await journal.close();
    }
    return counted;
  }

  /** The number of oldest chunks beyond one of the limits. */
  #countOfOld(
    chunks: readonly { readonly chunk: CallChunk; readonly calls: number }[],
    bounds: PruneOptions,
  ): number {
    const { callsMax = Number.POSITIVE_INFINITY, daysMax = Number.POSITIVE_INFINITY } = bounds;
    const days = Math.min(daysMax, 100_000);
    const oldestDay = days >= 1 ? dayOf(this.#clock.nowMs() - (days - 1) * 86_400_000) : '9999-12-31';
    let after = 0;
    let count = 0;
    for (const [index, { chunk, calls }] of [...chunks.entries()].reverse()) {
      if (chunk.day < oldestDay || after >= callsMax) {
        count = index + 1;
        break;
      }
      after += calls;
    }
    return count;
  }

  async #removeValues(kept: readonly CallChunk[]): Promise<number[]> {
    const named = new Set<string>();
    for (const chunk of kept)
      for await (const { inputRef, outputRef } of this.#backward(chunk))
        for (const ref of [inputRef, outputRef]) if (ref !== null) named.add(ref.slice('sha256:'.length));
    const removed: number[] = [];
    for await (const { digest, size } of this.#values.list())
      if (!named.has(digest) && (await this.#values.delete(digest))) removed.push(size);
    return removed;
  }

  /** Writes waiting calls. */
  async close(): Promise<void> {
    await this.#flushing?.catch(() => {}); // record() reported it to its caller
    await this.#turns.close();
  }
}

/** A limit that is not a number would remove everything, or nothing. */
function assertBounds({ callsMax = 0, daysMax = 0 }: PruneOptions): void {
  for (const [field, bound] of Object.entries({ callsMax, daysMax })) {
    if (bound === Number.POSITIVE_INFINITY || (Number.isInteger(bound) && bound >= 0)) continue;
    throw new RekindleError('INVALID_ARGUMENT', `${field} must be a whole number, 0 or more.`, {
      details: { field, value: String(bound) },
    });
  }
}

function isGone(thrown: unknown): boolean {
  return isRekindleError(thrown, 'STORAGE_FAILED') && thrown.details['errno'] === 'ENOENT';
}
