/** One stream in its journal. Changes of one process that wait share one record and its sync. */
import type { Clock } from '../core/clock.js';
import { isRekindleError } from '../core/errors.js';
import type { JsonObject } from '../core/json.js';
import type { Name, StorageBackend } from '../storage/ports.js';
import { type Decision, SharedJournal } from '../storage/shared-journal.js';
import { StreamFold } from './stream-fold.js';
import { LEASE, LOG } from './stream-name.js';
import { StreamNews } from './stream-news.js';
import { piecesOf, type StreamPiece } from './stream-pieces.js';
import { decodeRecord, encodeRecord, type StreamOp } from './stream-record.js';
import { applyOp, copyOf, type StreamState } from './stream-state.js';

/** The operations of one change, and its result once they are durable. `end`: the position after them. */
export interface StreamChange<T> {
  readonly ops: readonly StreamOp[];
  result(end: number): T;
}

interface Waiting {
  decide(state: StreamState | null, nowMs: number): { ops: readonly StreamOp[]; settle(end: number): void };
  fail(thrown: unknown): void;
}

/** Limits of one record: the number of changes, and the bytes after which no further change is added. */
const GROUP_MAX = 256;
const GROUP_BYTES = 4 * 1024 * 1024;

export class StreamLog {
  readonly #backend: StorageBackend;
  readonly #folder: Name;
  readonly #clock: Clock;
  readonly #fold: StreamFold;
  readonly #journal: SharedJournal<JsonObject>;
  readonly news: StreamNews;
  #waiting: Waiting[] = [];
  #flushing: Promise<void> | null = null;

  constructor(backend: StorageBackend, folder: Name, clock: Clock) {
    this.#backend = backend;
    this.#folder = folder;
    this.#clock = clock;
    this.news = new StreamNews(() => this.#journal.watch());
    this.#fold = new StreamFold(() => this.news.tell());
    this.#journal = new SharedJournal(backend, {
      journal: [...folder, LOG],
      lease: [...folder, LEASE],
      fold: this.#fold,
    });
  }

  /** The newest state known here; null: there is no such stream. */
  get state(): StreamState | null {
    return this.#fold.state;
  }

  /** The newest state. */
  async current(): Promise<StreamState | null> {
    await this.#journal.refresh();
    return this.#fold.state;
  }

  /**
   * Makes one change, decided on the newest state. Durable when it resolves. @throws what `decide` throws, and as
   * `SharedJournal.change`
   */
  change<T>(decide: (state: StreamState | null, nowMs: number) => StreamChange<T>): Promise<T> {
    const done = new Promise<T>((resolve, reject) => {
      this.#waiting.push({
        decide: (state, nowMs) => {
          const { ops, result } = decide(state, nowMs);
          return { ops, settle: (end) => resolve(result(end)) };
        },
        fail: reject,
      });
    });
    this.#flushing ??= this.#flush();
    return done;
  }

  async #flush(): Promise<void> {
    await Promise.resolve(); // collect changes that are requested in the same tick
    while (this.#waiting.length > 0) await this.#writeGroup();
    this.#flushing = null;
  }

  async #writeGroup(): Promise<void> {
    let group: readonly Waiting[] = [];
    try {
      await this.#journal.change(async () => {
        if (group.length === 0) group = this.#waiting.splice(0, GROUP_MAX);
        const decided = this.#decide(group);
        this.#waiting.unshift(...group.slice(decided.count));
        group = group.slice(0, decided.count);
        return decided.decision;
      });
    } catch (thrown) {
      if (group.length === 0) group = this.#waiting.splice(0); // it failed before their turn came
      for (const waiting of group) waiting.fail(thrown);
    }
  }

  #decide(group: readonly Waiting[]): {
    readonly count: number;
    readonly decision: Decision<JsonObject, void>;
  } {
    const atMs = this.#clock.nowMs();
    const from = this.#fold.nextFrom;
    let draft = this.#fold.state && { ...copyOf(this.#fold.state), tail: from };
    const ops: StreamOp[] = [];
    const tellers: (() => void)[] = [];
    let bytes = 0;
    for (const waiting of group) {
      if (bytes > GROUP_BYTES) break;
      try {
        const { ops: own, settle } = waiting.decide(draft, atMs);
        for (const op of own) draft = applyOp(draft, op, atMs);
        ops.push(...own);
        bytes += own.reduce((sum, op) => sum + bytesOf(op), 0);
        const last = ops.length - 1;
        tellers.push(() =>
          settle((last < 0 ? undefined : this.#fold.ends[last]) ?? this.#fold.state?.tail ?? 0),
        );
      } catch (thrown) {
        tellers.push(() => waiting.fail(thrown));
      }
    }
    const done = () => {
      for (const tell of tellers) tell();
    };
    // A refusal and a repeated request also depend on what is durable.
    if (ops.length === 0) return { count: tellers.length, decision: { secure: true, done } };
    return { count: tellers.length, decision: { record: encodeRecord({ atMs, from, ops }), done } };
  }

  /** The stored pieces that end after a position, in order, from the newest state known here. */
  async *piecesFrom(position: number): AsyncGenerator<StreamPiece> {
    const recent = this.#fold.recentFrom(position);
    if (recent) {
      yield* recent;
      return;
    }
    const mark = this.#fold.markAt(position);
    const reader = await this.#journal.reader();
    let passed = position;
    try {
      const options = mark ? { after: mark.seq - 1, cursor: mark.cursor } : {};
      for await (const entry of reader.read(options)) {
        if (entry.kind !== 'record') continue;
        for (const piece of piecesOf(decodeRecord(entry.record))) {
          if (piece.end <= passed) continue;
          passed = piece.end;
          yield piece;
        }
      }
    } catch (thrown) {
      if (!mark || !isRekindleError(thrown, 'INVALID_ARGUMENT')) throw thrown;
      await this.#journal.reload(); // a repair moved the records
      yield* this.piecesFrom(passed);
    }
  }

  /** Removes the stream with all its content if it is still the one with this id. @throws LEASE_HELD */
  async remove(id: string): Promise<boolean> {
    const isRemoved = await this.#journal.replaced(async (lease) => {
      await this.#journal.refresh();
      if (this.#fold.state?.id !== id) return false;
      await this.#backend.removeBelow(this.#folder, lease);
      return true;
    });
    await this.#journal.refresh();
    return isRemoved;
  }

  /** Waits for changes in progress. */
  async close(): Promise<void> {
    await this.#flushing;
    await this.news.close();
    await this.#journal.close();
  }
}

function bytesOf(op: StreamOp): number {
  if (op.op !== 'append') return 0;
  const { payload } = op;
  return payload.kind === 'bytes' ? payload.bytes.length : JSON.stringify(payload.messages).length;
}
