/**
 * Delivers a stream so that nothing is read before it is durable.
 *
 * Parts that arrive while a commit runs, or within the delay after it, share the next commit. The model is read on
 * meanwhile.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { AsyncQueue } from '../../core/async-queue.js';
import type { AnswerPart, PartWriter } from '../../memory/store/answer-parts.js';

/** Least time between the beginnings of two commits. */
const DELAY_MS = 25;
/** Items that the reader has not taken before the source is read no further. */
const UNREAD_MAX = 1_000;

/** What the stream needs of a `PartWriter`. */
export type PartSink = Pick<PartWriter, 'byLines' | 'write'>;

/** Ends as the source ends, after everything before is delivered. @throws what the source and the writer throw */
export async function* durableStream<T>(
  source: AsyncIterable<T>,
  sink: PartSink,
  partOf: (item: T) => AnswerPart | null,
): AsyncGenerator<T> {
  const stream = new DurableStream(source, sink, partOf);
  void stream.run();
  try {
    yield* stream.ready;
  } finally {
    await stream.leave();
  }
}

interface Waiting<T> {
  readonly item: T;
  readonly part: AnswerPart | null;
  /** A commit may end after it. */
  isEnd: boolean;
}

class DurableStream<T> {
  readonly ready = new AsyncQueue<T>();
  readonly #source: AsyncIterator<T>;
  readonly #sink: PartSink;
  readonly #partOf: (item: T) => AnswerPart | null;
  readonly #ended = new AbortController();
  #waiting: Waiting<T>[] = [];
  #committing: Promise<void> | null = null;
  #committedAt = Number.NEGATIVE_INFINITY;
  #failure: { readonly thrown: unknown } | null = null;
  #left = false;
  #isDone = false;

  constructor(source: AsyncIterable<T>, sink: PartSink, partOf: (item: T) => AnswerPart | null) {
    this.#source = source[Symbol.asyncIterator]();
    this.#sink = sink;
    this.#partOf = partOf;
  }

  /** Never rejects: errors go to the reader. */
  async run(): Promise<void> {
    const broken = await this.#readAll();
    const last = this.#waiting.at(-1);
    if (last) last.isEnd = true;
    this.#ended.abort();
    this.#commitSoon();
    await this.#committing;
    this.#isDone = true;
    this.ready.end(this.#failure ?? broken);
  }

  /** The reader takes nothing more. The source may still wait for its next item: it is not waited for. */
  async leave(): Promise<void> {
    if (this.#isDone) return;
    this.#left = true;
    this.#waiting = [];
    await this.#committing;
    void Promise.resolve(this.#source.return?.()).catch(() => {}); // the reader has left
  }

  async #readAll(): Promise<{ readonly thrown: unknown } | null> {
    try {
      while (!this.#left && !this.#failure) {
        const next = await this.#source.next();
        if (next.done || this.#left) break;
        this.#take(next.value);
        if (this.#waiting.length + this.ready.size > UNREAD_MAX) await this.#room();
      }
      return null;
    } catch (thrown) {
      return { thrown };
    }
  }

  async #room(): Promise<void> {
    await this.#committing;
    if (!this.#left) await this.ready.drained();
  }

  #take(item: T): void {
    const part = this.#partOf(item);
    if (part === null && this.#waiting.length === 0 && !this.#committing) {
      this.ready.push(item);
      return;
    }
    const before = this.#waiting.at(-1);
    if (before && this.#sink.byLines) before.isEnd ||= endsBetween(before.part, part);
    this.#waiting.push({ item, part, isEnd: !this.#sink.byLines || !isText(part) || endsLine(part) });
    this.#commitSoon();
  }

  #commitSoon(): void {
    this.#committing ??= this.#commitAll();
  }

  async #commitAll(): Promise<void> {
    await null; // so that the caller knows of this run before it ends
    try {
      for (let items = this.#next(); items.length > 0 && !this.#failure; items = this.#next()) {
        const pause = this.#committedAt + DELAY_MS - performance.now();
        if (pause > 0) await this.#pause(pause);
        const batch = this.#cutOff();
        if (batch.length === 0) return; // the reader left
        this.#committedAt = performance.now();
        const part = joined(batch);
        if (part) await this.#sink.write(part);
        this.ready.push(...batch.map(({ item }) => item));
        this.#deliverTextless();
      }
    } catch (thrown) {
      this.#failure = { thrown };
      this.ready.end(this.#failure);
    } finally {
      this.#committing = null;
    }
  }

  /** What has no text need not be written: it waits only for what came before it. */
  #deliverTextless(): void {
    const first = this.#waiting.findIndex(({ part }) => part !== null);
    const items = this.#waiting.splice(0, first < 0 ? this.#waiting.length : first);
    this.ready.push(...items.map(({ item }) => item));
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#ended.signal }).catch(() => {}); // the stream ended: commit at once
  }

  /** What one commit may hold now: parts of one answer. */
  #next(): readonly Waiting<T>[] {
    const ownCommit = this.#waiting.findIndex(
      ({ part }, index) => index > 0 && !isText(part) && part !== null,
    );
    const first = this.#waiting[0];
    const alone = first?.part && !isText(first.part) ? 1 : ownCommit;
    const items = alone < 0 ? this.#waiting : this.#waiting.slice(0, alone);
    const end = items.findLastIndex(({ isEnd }) => isEnd);
    return items.slice(0, end + 1);
  }

  #cutOff(): readonly Waiting<T>[] {
    const items = this.#next();
    this.#waiting = this.#waiting.slice(items.length);
    return items;
  }
}

function isText(part: AnswerPart | null): boolean {
  return part !== null && (part.text !== undefined || part.reasoning !== undefined);
}

function endsLine(part: AnswerPart | null): boolean {
  return (part?.text ?? part?.reasoning ?? '').endsWith('\n');
}

/** A line also ends where the next part begins with its end, or is of another kind. */
function endsBetween(before: AnswerPart | null, after: AnswerPart | null): boolean {
  if (!isText(after) || !isText(before)) return true;
  const isSameKind = (before?.text === undefined) === (after?.text === undefined);
  return !isSameKind || /^\r?\n/.test(after?.text ?? after?.reasoning ?? '');
}

/** Null if there is nothing to write. */
function joined<T>(items: readonly Waiting<T>[]): AnswerPart | null {
  const parts = items.flatMap(({ part }) => part ?? []);
  const [first] = parts;
  if (!first || !isText(first)) return first ?? null;
  const text = parts.map((part) => part.text ?? '').join('');
  const reasoning = parts.map((part) => part.reasoning ?? '').join('');
  return {
    ...(reasoning === '' ? {} : { reasoning }),
    ...(text === '' ? {} : { text }),
  };
}
