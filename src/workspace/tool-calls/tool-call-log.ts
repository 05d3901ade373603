/**
 * Every call of a tool with what went in and what came out: for people who look back, and for agents that learn from it. Several
 * processes may write one log. It is not what keeps a call from running twice; that is the ledger.
 */
import { type Clock, systemClock } from '../../core/clock.js';
import type { JsonObject } from '../../core/json.js';
import type { Blobs, Journal, Lease, Name, StorageBackend } from '../../storage/ports.js';
import { SharedLease } from '../../storage/shared-lease.js';
import { type CallChunk, chunkAt, dayOf, listChunks } from './call-chunks.js';
import { decodeCall, encodeCall, type ToolCallEntry, type ToolCallRecord } from './tool-call-record.js';

export interface ToolCallLogOptions {
  /** Of the workspace. Default `['workspace']`; the log is in `tool_calls/` below it. */
  readonly folder?: Name;
  readonly clock?: Clock;
}

export interface ToolCallQuery {
  readonly tool?: string;
  readonly agent?: string;
  readonly session?: string;
  readonly status?: 'ok' | 'error';
  /** Milliseconds since 1970, both included. */
  readonly fromMs?: number;
  readonly toMs?: number;
  /** Found in the input, the output or the error, in any letter case; also in what was stored by reference. */
  readonly text?: string;
  /** Default 10. */
  readonly limit?: number;
}

export interface PruneOptions {
  /** Calls that stay, at least; whole chunks of 1,000 calls or of a day go. */
  readonly callsMax?: number;
  /** Days that stay, today among them. */
  readonly daysMax?: number;
}

export interface PruneReport {
  readonly callsRemoved: number;
  readonly callsKept: number;
  /** Chunks that are gone, oldest first. */
  readonly chunks: readonly string[];
  /** Values stored by reference that no call names any more, and their bytes. */
  readonly valuesRemoved: number;
  readonly bytesRemoved: number;
}

/** A value with more JSON than this is stored by its digest. */
const INLINE_BYTES_MAX = 4 * 1024;
const CHUNK_CALLS_MAX = 1_000;

export class ToolCallLog {
  readonly #backend: StorageBackend;
  readonly #folder: Name;
  readonly #clock: Clock;
  readonly #turns: SharedLease;
  #open: { readonly chunk: CallChunk; readonly journal: Journal<JsonObject> } | null = null;
  #pending: ToolCallEntry[] = [];
  #flushing: Promise<void> | null = null;

  constructor(backend: StorageBackend, options: ToolCallLogOptions = {}) {
    const folder = options.folder ?? ['workspace'];
    this.#backend = backend;
    this.#folder = [...folder, 'tool_calls'];
    this.#clock = options.clock ?? systemClock;
    this.#turns = new SharedLease(backend.leases, [...folder, 'tool_calls.lease'], {
      onEnd: () => this.#closeChunk(),
    });
  }

  /** Durable when it resolves; calls that come together share one commit. @throws LEASE_HELD, STORAGE_FULL, STORAGE_FAILED */
  async record(entry: ToolCallEntry): Promise<void> {
    this.#pending.push(entry);
    this.#flushing ??= this.#flush();
    await this.#flushing;
  }

  async #flush(): Promise<void> {
    await Promise.resolve(); // calls that end together are written together
    let batch: readonly ToolCallEntry[] | null = null;
    const take = () => {
      const taken = this.#pending;
      this.#pending = [];
      this.#flushing = null;
      return taken;
    };
    try {
      await this.#turns.run(async (lease) => {
        batch = take();
        await this.#write(batch, lease);
      });
    } catch (thrown) {
      if (!batch) take(); // whoever waits for them is told
      throw thrown;
    }
  }

  /** Values go first and in the same turn, so that no clean-up can come between a value and the call that names it. */
  async #write(batch: readonly ToolCallEntry[], lease: Lease): Promise<void> {
    for (const day of new Set(batch.map(({ startedMs }) => dayOf(startedMs)))) {
      const calls = batch.filter(({ startedMs }) => dayOf(startedMs) === day);
      const rows = await Promise.all(calls.map((call) => encodeCall(call, (text) => this.#offload(text))));
      await (await this.#journalFor(day, lease)).append(rows);
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

  /** Newest first. Reads chunks only as far back as it needs to. */
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

  /** The last calls, newest first. */
  recent(limit = 10, tool?: string): Promise<ToolCallRecord[]> {
    return this.search(tool === undefined ? { limit } : { limit, tool });
  }

  /** What was stored by reference, as JSON text; null when it is not here. @throws BLOB_DAMAGED */
  async value(ref: string): Promise<string | null> {
    const digest = /^sha256:([0-9a-f]{64})$/.exec(ref)?.[1];
    const bytes = digest === undefined ? null : await this.#values.get(digest);
    return bytes && Buffer.from(bytes).toString('utf8');
  }

  async *#backward(chunk: CallChunk): AsyncGenerator<ToolCallRecord> {
    const journal = await this.#backend.openJournal<JsonObject>(chunk.name, { readOnly: true });
    try {
      for await (const entry of journal.readBackward()) {
        const record = entry.kind === 'record' ? decodeCall(entry.record) : null;
        if (record) yield record;
      }
    } finally {
      await journal.close();
    }
  }

  /** Removes the oldest calls beyond the bounds, and values that only they name. @throws LEASE_HELD */
  prune(options: PruneOptions): Promise<PruneReport> {
    return this.#turns.run(async (lease) => {
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
    });
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

  /** How many chunks, from the oldest on, are beyond one of the bounds. */
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

  /** Writes what waits. */
  async close(): Promise<void> {
    await this.#flushing?.catch(() => {}); // told to whoever recorded it
    await this.#turns.close();
  }
}

class CallMatcher {
  readonly #query: ToolCallQuery;
  readonly #load: (ref: string) => Promise<string | null>;
  readonly #text: string | null;

  constructor(query: ToolCallQuery, load: (ref: string) => Promise<string | null>) {
    this.#query = query;
    this.#load = load;
    this.#text = query.text === undefined ? null : query.text.toLowerCase();
  }

  mayHold(day: string): boolean {
    const { fromMs, toMs } = this.#query;
    return (fromMs === undefined || day >= dayOf(fromMs)) && (toMs === undefined || day <= dayOf(toMs));
  }

  async matches(record: ToolCallRecord): Promise<boolean> {
    const { tool, agent, session, status, fromMs, toMs } = this.#query;
    const at = Date.parse(record.startedAt);
    if ((fromMs !== undefined && at < fromMs) || (toMs !== undefined && at > toMs)) return false;
    if ((tool ?? record.tool) !== record.tool || (agent ?? record.agent) !== record.agent) return false;
    if ((session ?? record.session) !== record.session || (status ?? record.status) !== record.status)
      return false;
    return this.#text === null || this.#hasText(record, this.#text);
  }

  async #hasText(record: ToolCallRecord, text: string): Promise<boolean> {
    const here = [record.error ?? '', JSON.stringify(record.input), JSON.stringify(record.output)];
    if (here.some((part) => part.toLowerCase().includes(text))) return true;
    for (const ref of [record.inputRef, record.outputRef])
      if (ref !== null && (await this.#load(ref))?.toLowerCase().includes(text)) return true;
    return false;
  }
}
