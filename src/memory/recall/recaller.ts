/**
 * Recalls, before a request, what is related to it and has left the context. The recall is recorded as one trace in the
 * same commit as the request, so a restore gives the same list, and nothing is decided twice.
 */
import type { Clock } from '../../core/clock.js';
import { asRekindleError } from '../../core/errors.js';
import type { TypedEvents } from '../../core/events.js';
import { type Message, textOf } from '../../messages/message.js';
import type { TokenCounter } from '../compaction/token-counter.js';
import type { PastIndex } from '../lineage/past-index.js';
import type { MemoryEvents } from '../memory-events.js';
import type { MemoryStore } from '../store/memory-store.js';
import type { TraceBody } from '../trace-bodies.js';
import type { TraceLog } from '../trace-log.js';
import { ContextPassages, recalledIn } from './context-passages.js';
import type { EmbedderOptions } from './embedder.js';
import type { MeaningSearch } from './meaning-search.js';
import type { Passage } from './passage.js';
import type { RecallHit, RecallIndex } from './recall-index.js';
import { type RecalledPassage, reasonToJson } from './recall-report.js';
import { recallCost, recallText } from './recall-text.js';
import { timesIn } from './times-in.js';

/** How much is recalled before a request, and how it is found. */
export interface RecallOptions extends EmbedderOptions {
  /** Maximum tokens recalled before one request. Default: a tenth of the input budget, at most 4,000. */
  readonly tokens?: number;
}

/** What a recall needs from its agent. */
export interface RecallerContext {
  readonly log: TraceLog;
  readonly store: MemoryStore;
  readonly events: TypedEvents<MemoryEvents>;
  readonly clock: Clock;
}

/** The current size of requests, and their maximum. */
export interface RequestSize {
  readonly counter: TokenCounter;
  inputBudgetTokens(): number;
  /** Called before this many tokens are added: whatever does not fit with them leaves the context now. */
  makeRoom(tokens: number): Promise<void>;
}

/** Null if nothing ever leaves the context, or if the host turned recall off. */
export function recallerFor(
  context: RecallerContext,
  size: RequestSize | null,
  options: RecallOptions | null = {},
): Recaller | null {
  return size && options ? new Recaller(context, size, options) : null;
}

const BUDGET_SHARE = 0.1;
const TOKENS_MAX = 4_000;
/** Maximum share of a request's free space. */
const FREE_SHARE = 0.5;
const CHARS_A_TOKEN = 4;
/** Characters of a request that are used as the question; the rest rarely adds to its subject. */
const QUESTION_CHARS_MAX = 4_000;
/** Passages are considered while they score at least this share of the best. */
const SCORE_SHARE = 0.1;
/** Passages that did not fit, or are already in the context, before the search stops. */
const MISSES_MAX = 2_000;
/** Passages in a row that are too long for what is left, before the search stops: each costs a read, and few are shorter. */
const MISFITS_MAX = 64;
/** Maximum number of ranked passages. */
const PASSAGES_MAX = 4_000;
/** With fewer free tokens, no passage fits. */
const ROOM_MIN = 48;

export class Recaller {
  readonly #agent: RecallerContext;
  readonly #size: RequestSize;
  readonly #options: RecallOptions;
  readonly #context = new ContextPassages();
  /** Null without an embedder, and before its first use. */
  #meaning: MeaningSearch | null = null;
  /** Characters of one token in the last recall, at most the usual ones: so the next is rarely counted twice. */
  #charsAToken = CHARS_A_TOKEN;
  #index: Promise<RecallIndex> | null = null;
  #past: Promise<PastIndex> | null = null;
  #refreshing: Promise<void> = Promise.resolve();

  constructor(agent: RecallerContext, size: RequestSize, options: RecallOptions) {
    this.#agent = agent;
    this.#size = size;
    this.#options = options;
  }

  /** The trace to record before the request; none if nothing has left the context, or nothing fits. Never rejects. */
  async before(request: Message, turnId: string): Promise<TraceBody[]> {
    const { log, store } = this.#agent;
    if (!this.#hasLeft() || log.state.snapshot.hasOpenCalls) return [];
    const { telemetry } = store.backend;
    if (!telemetry) return this.#before(request, turnId);
    const init = { operation: 'recall', attributes: { 'gen_ai.agent.id': store.agentId } } as const;
    return telemetry.measure(init, () => this.#before(request, turnId));
  }

  async #before(request: Message, turnId: string): Promise<TraceBody[]> {
    const { events, clock } = this.#agent;
    const started = clock.nowMs();
    try {
      const maxTokens = await this.#room(request);
      const found = await this.#find(request, maxTokens);
      const recalled = await this.#messageWithin(found, maxTokens);
      if (!recalled) return [];
      const { reasonsFor } = await import('./recall-reasons.js');
      const best = await reasonsFor(questionOf(request), recalled.hits);
      const message = withReasons(recalled.message, best);
      const { tokens } = recalled;
      const passages = recalled.hits.length;
      events.emit('recalled', { turnId, passages, best, tokens, tookMs: clock.nowMs() - started });
      return [{ type: 'recall', message, sourceEvent: 'Recall' }];
    } catch (thrown) {
      events.emit('recall_failed', { turnId, error: asRekindleError(thrown) });
      return [];
    }
  }

  /** Indexes new records outside of turns. */
  refresh(): void {
    if (!this.#hasLeft()) return;
    this.#refreshing = this.#opened()
      .then(async (index) => {
        await index.catchUp();
        (await this.#search())?.refresh(index);
      })
      .catch(() => {}); // the next recall reports it
  }

  /** Waits for running work, for an embedder two seconds at most, and closes what it opened. */
  async close(): Promise<void> {
    await this.#refreshing;
    await this.#meaning?.settled();
    await (await this.#past?.catch(() => null))?.close();
  }

  /** Loaded when something leaves the context for the first time. */
  #opened(): Promise<RecallIndex> {
    this.#index ??= import('./recall-index.js').then(({ RecallIndex }) => new RecallIndex(this.#agent.store));
    return this.#index;
  }

  /** With the past of the agents that this one was forked from. */
  #wholePast(): Promise<PastIndex> {
    this.#past ??= this.#openPast().catch((thrown: unknown) => {
      this.#past = null; // the next recall tries again
      throw thrown;
    });
    return this.#past;
  }

  async #openPast(): Promise<PastIndex> {
    const { PastIndex } = await import('../lineage/past-index.js');
    return PastIndex.of(this.#agent.store, await this.#opened());
  }

  async #search(): Promise<MeaningSearch | null> {
    const { embedder, embedderTimeoutMs: timeoutMs } = this.#options;
    if (!embedder || this.#agent.store.readOnly) return null;
    const { MeaningSearch } = await import('./meaning-search.js');
    const { store, events } = this.#agent;
    this.#meaning ??= new MeaningSearch(
      store,
      { embedder, ...(timeoutMs === undefined ? {} : { timeoutMs }) },
      (step, error) => events.emit('vectors_failed', { step, error }),
    );
    return this.#meaning;
  }

  /** True once a compaction has replaced messages by a summary. */
  #hasLeft(): boolean {
    const [first, second] = this.#agent.log.state.snapshot.messages;
    return (first?.role === 'system' ? second : first)?.kind === 'memory';
  }

  async #find(request: Message, maxTokens: number): Promise<RecallHit[]> {
    const { clock } = this.#agent;
    const room = Math.floor(maxTokens * this.#charsAToken) - recallText([]).length;
    const text = questionOf(request);
    if (room < ROOM_MIN) return [];
    const limit = Math.min(PASSAGES_MAX, 200 + Math.ceil(room / 12));
    const nearest = text.trim() === '' ? undefined : (await this.#search())?.ask(text);
    const times = await timesIn(text, clock.nowMs());
    const query = { text, times, limit, ...(nearest ? { nearest } : {}) };
    const hits = (await this.#wholePast()).hits(query);
    const first = await hits.next();
    if (first.done) return [];
    await this.#size.makeRoom(maxTokens + (await this.#size.counter.countMessages([request])));
    this.#context.update(this.#agent.log.state.snapshot);
    return this.#choose(first.value, hits, room);
  }

  /** The best passages that are not in the context, as many as fit. */
  async #choose(best: RecallHit, others: AsyncIterable<RecallHit>, chars: number): Promise<RecallHit[]> {
    const chosen = new Map<string, RecallHit>();
    let room = chars;
    let misses = 0;
    let misfits = 0;
    const take = (hit: RecallHit): void => {
      const { passage } = hit;
      const cost = recallCost(passage);
      const isNews = !chosen.has(passage.text) && !this.#context.has(passage);
      if (isNews && cost <= room) {
        chosen.set(passage.text, hit);
        room -= cost;
        misfits = 0;
        return;
      }
      misses += 1;
      if (isNews) misfits += 1;
    };
    take(best);
    for await (const hit of others) {
      if (hit.score < best.score * SCORE_SHARE || room < ROOM_MIN) break;
      if (misses > MISSES_MAX || misfits > MISFITS_MAX) break;
      take(hit);
    }
    return [...chosen.values()];
  }

  /** In tokens. */
  async #room(request: Message): Promise<number> {
    const { log } = this.#agent;
    const { counter } = this.#size;
    const budget = this.#size.inputBudgetTokens();
    const wanted = this.#options.tokens ?? Math.min(TOKENS_MAX, Math.floor(budget * BUDGET_SHARE));
    const [first] = log.state.snapshot.messages;
    const taken = await counter.countMessages(first?.role === 'system' ? [first, request] : [request]);
    return Math.min(wanted, Math.floor((budget - taken) * FREE_SHARE));
  }

  /** Counts the message and drops its last passages until it fits. Null if none fits. */
  async #messageWithin(found: readonly RecallHit[], maxTokens: number): Promise<Recalled | null> {
    for (let hits = found; hits.length > 0; ) {
      const message = asMessage(hits.map(({ passage }) => passage));
      const tokens = await this.#size.counter.countMessages([message]);
      this.#charsAToken = Math.min(CHARS_A_TOKEN, textOf(message).length / Math.max(1, tokens));
      if (tokens <= maxTokens) return { message, tokens, hits };
      const fitting = Math.floor((hits.length * maxTokens) / tokens);
      hits = hits.slice(0, Math.min(hits.length - 1, fitting));
    }
    return null;
  }
}

interface Recalled {
  readonly message: Message;
  readonly tokens: number;
  readonly hits: readonly RecallHit[];
}

function questionOf(request: Message): string {
  return textOf(request).slice(0, QUESTION_CHARS_MAX).toWellFormed();
}

function asMessage(passages: readonly Passage[]): Message {
  const keys = passages.map(({ seq, piece }) => `${seq}/${piece}`);
  return {
    role: 'user',
    content: recallText(passages),
    kind: 'recall',
    extra: { recall: { passages: keys } },
  };
}

function withReasons(message: Message, best: readonly RecalledPassage[]): Message {
  const passages = [...recalledIn(message)];
  return { ...message, extra: { recall: { passages, best: best.map(reasonToJson) } } };
}
