/**
 * Commits of one process, in order. Waiting commits are decided one after the other and share one record and
 * its sync.
 */
import { type Clock, systemClock } from '../../core/clock.js';
import { RekindleError } from '../../core/errors.js';
import { payloadBytes } from './key-change.js';
import { KeyLayer } from './key-layer.js';
import type { Decide } from './shared-commit.js';
import type { SharedLog } from './shared-log.js';
import type { Commit } from './shared-record.js';

interface Waiting {
  decide(layer: KeyLayer, at: string): { readonly commit: Commit; readonly touched: number };
  settle(): void;
  fail(thrown: unknown): void;
}

/** Limits of one record: the number of commits, and the bytes after which no further commit is added. */
const GROUP_MAX = 256;
const GROUP_BYTES = 4 * 1024 * 1024;
/** Making a value costs time; writing the new part of it also costs space. */
const TOUCHED_PER_BYTE = 4;
const BY_LENGTH_MAX = 512;

export class CommitQueue {
  readonly #log: SharedLog;
  readonly #clock: Clock;
  #waiting: Waiting[] = [];
  #flushing: Promise<void> | null = null;

  constructor(log: SharedLog, clock: Clock = systemClock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Durable when it resolves. @throws what `decide` throws, INVALID_ARGUMENT, and as `SharedLog.change` */
  perform<T>(by = 'unknown', decide: Decide<T>): Promise<T> {
    const done = new Promise<T>((resolve, reject) => {
      assertBy(by);
      let result: T;
      this.#waiting.push({
        decide: (layer, at) => {
          const decided = decide(layer, { by, at });
          result = decided.result;
          return { commit: { by, changes: decided.changes }, touched: decided.touched };
        },
        settle: () => resolve(result),
        fail: reject,
      });
    });
    this.#flushing ??= this.#flush();
    return done;
  }

  /** Writes one record after the other until no commit waits. */
  async #flush(): Promise<void> {
    await Promise.resolve(); // collect commits that are requested in the same tick
    while (this.#waiting.length > 0) await this.#writeGroup();
    this.#flushing = null; // here, not later: a notified caller may request more at once
  }

  async #writeGroup(): Promise<void> {
    let group: readonly Waiting[] = [];
    // Refusals are reported only then, too: they may depend on what this record makes durable.
    let tell: () => void = () => {};
    try {
      await this.#log.change(() => {
        if (group.length === 0) group = this.#waiting.splice(0, GROUP_MAX);
        const decided = this.#decide(group);
        this.#waiting.unshift(...group.slice(decided.count));
        group = group.slice(0, decided.count);
        tell = decided.tell;
        return decided.record;
      });
      tell();
    } catch (thrown) {
      if (group.length === 0) group = this.#waiting.splice(0); // it failed before their turn came
      for (const waiting of group) waiting.fail(thrown);
    }
  }

  #decide(group: readonly Waiting[]) {
    const at = new Date(this.#clock.nowMs()).toISOString();
    const layer = new KeyLayer(this.#log.table.keys);
    const commits: Commit[] = [];
    const tellers: (() => void)[] = [];
    let bytes = 0;
    for (const waiting of group) {
      if (bytes > GROUP_BYTES) break;
      try {
        const { commit, touched } = waiting.decide(layer, at);
        bytes += touched / TOUCHED_PER_BYTE;
        if (commit.changes.length > 0) commits.push(commit);
        for (const change of commit.changes) bytes += payloadBytes(change);
        tellers.push(() => waiting.settle());
      } catch (thrown) {
        tellers.push(() => waiting.fail(thrown));
      }
    }
    const tell = () => {
      for (const teller of tellers) teller();
    };
    return { record: commits.length === 0 ? null : { at, commits }, tell, count: tellers.length };
  }

  /** Waits for commits in progress. */
  async close(): Promise<void> {
    await this.#flushing;
  }
}

function assertBy(by: string): void {
  if (typeof by === 'string' && by !== '' && by.length <= BY_LENGTH_MAX && by.isWellFormed()) return;
  throw new RekindleError('INVALID_ARGUMENT', 'by must be the id of a session.', {
    details: { field: 'by' },
  });
}
