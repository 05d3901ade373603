/**
 * Brings back, before a request, what was said about it and has left the context. What comes is recorded as one trace in the same
 * commit as the request, so a restore gives the same list, and nothing is decided twice.
 */
import type { Clock } from '../../core/clock.js';
import { asRekindleError } from '../../core/errors.js';
import type { TypedEvents } from '../../core/events.js';
import { type Message, textOf } from '../../messages/message.js';
import type { TokenCounter } from '../compaction/token-counter.js';
import type { MemoryEvents } from '../memory-events.js';
import type { MemoryStore } from '../store/memory-store.js';
import type { TraceBody } from '../trace-bodies.js';
import type { TraceLog } from '../trace-log.js';
import { ContextPassages, recalledIn } from './context-passages.js';
import type { Passage } from './passage.js';
import type { RecallHit, RecallIndex } from './recall-index.js';
import { recallCost, recallText } from './recall-text.js';
import { timesIn } from './times-in.js';

export interface RecallOptions {
  /** What comes back before one request takes at most so many tokens. Default: a tenth of the input budget, at most 4,000. */
  readonly tokens?: number;
}

/** What a recall needs of its agent. */
export interface RecallerContext {
  readonly log: TraceLog;
  readonly store: MemoryStore;
  readonly events: TypedEvents<MemoryEvents>;
  readonly clock: Clock;
}

/** How large requests are and may be. */
export interface RequestSize {
  readonly counter: TokenCounter;
  inputBudgetTokens(): number;
  /** Before so many tokens are added: what does not fit beside them leaves the context now. */
  makeRoom(tokens: number): Promise<void>;
}

/** Null where nothing ever leaves the context, and where the host wants none. */
export function recallerFor(
  context: RecallerContext,
  size: RequestSize | null,
  options: RecallOptions | null = {},
): Recaller | null {
  return size && options ? new Recaller(context, size, options) : null;
}

const BUDGET_SHARE = 0.1;
const TOKENS_MAX = 4_000;
/** What comes back takes at most this share of what a request leaves free. */
const FREE_SHARE = 0.5;
const CHARS_A_TOKEN = 4;
/** Of a request: what follows does not say more about what it is about. */
const QUESTION_CHARS_MAX = 4_000;
/** Passages are looked at while they score at least this share of the best. */
const SCORE_SHARE = 0.1;
/** Passages that did not fit, or are there already, before looking stops. */
const MISSES_MAX = 2_000;
/** Passages that are ranked at most. */
const PASSAGES_MAX = 4_000;
/** Less room than this takes no passage. */
const ROOM_MIN = 48;

export class Recaller {
  readonly #agent: RecallerContext;
  readonly #size: RequestSize;
  readonly #options: RecallOptions;
  readonly #context = new ContextPassages();
  #index: Promise<RecallIndex> | null = null;
  #refreshing: Promise<void> = Promise.resolve();

  constructor(agent: RecallerContext, size: RequestSize, options: RecallOptions) {
    this.#agent = agent;
    this.#size = size;
    this.#options = options;
  }

  /** The trace that goes before the request; none where nothing has left the context, or nothing fits. Never rejects. */
  async before(request: Message, turnId: string): Promise<TraceBody[]> {
    const { events, clock, log } = this.#agent;
    if (!this.#hasLeft() || log.state.snapshot.hasOpenCalls) return [];
    const started = clock.nowMs();
    try {
      const maxTokens = await this.#room(request);
      const found = await this.#find(request, maxTokens);
      const message = await this.#messageWithin(found, maxTokens);
      if (!message) return [];
      const tokens = await this.#size.counter.countMessages([message]);
      const passages = recalledIn(message).length;
      events.emit('recalled', { turnId, passages, tokens, tookMs: clock.nowMs() - started });
      return [{ type: 'recall', message, sourceEvent: 'Recall' }];
    } catch (thrown) {
      events.emit('recall_failed', { turnId, error: asRekindleError(thrown) });
      return [];
    }
  }

  /** Takes in what was said since, beside the turns. */
  refresh(): void {
    if (!this.#hasLeft()) return;
    this.#refreshing = this.#opened()
      .then((index) => index.catchUp())
      .catch(() => {}); // the next recall tells of it
  }

  /** Waits for what is under way. */
  async settled(): Promise<void> {
    await this.#refreshing;
  }

  /** Loaded when something has left the context for the first time. */
  #opened(): Promise<RecallIndex> {
    this.#index ??= import('./recall-index.js').then(({ RecallIndex }) => new RecallIndex(this.#agent.store));
    return this.#index;
  }

  /** A compaction has put a summary in the place of what went. */
  #hasLeft(): boolean {
    const [first, second] = this.#agent.log.state.snapshot.messages;
    return (first?.role === 'system' ? second : first)?.kind === 'memory';
  }

  async #find(request: Message, maxTokens: number): Promise<Passage[]> {
    const { clock } = this.#agent;
    const room = maxTokens * CHARS_A_TOKEN - recallText([]).length;
    const text = textOf(request).slice(0, QUESTION_CHARS_MAX);
    if (room < ROOM_MIN) return [];
    const limit = Math.min(PASSAGES_MAX, 200 + Math.ceil(room / 12));
    const times = await timesIn(text, clock.nowMs());
    const hits = (await this.#opened()).hits({ text, times, limit });
    const first = await hits.next();
    if (first.done) return [];
    await this.#size.makeRoom(maxTokens + (await this.#size.counter.countMessages([request])));
    this.#context.update(this.#agent.log.state.snapshot);
    return this.#choose(first.value, hits, room);
  }

  /** The best of those that are not in the context, as many as fit. */
  async #choose(best: RecallHit, others: AsyncIterable<RecallHit>, chars: number): Promise<Passage[]> {
    const chosen = new Map<string, Passage>();
    let room = chars;
    const take = ({ passage }: RecallHit): boolean => {
      const cost = recallCost(passage);
      const isNews = cost <= room && !chosen.has(passage.text) && !this.#context.has(passage);
      if (isNews) chosen.set(passage.text, passage);
      if (isNews) room -= cost;
      return isNews;
    };
    let misses = take(best) ? 0 : 1;
    for await (const hit of others) {
      if (hit.score < best.score * SCORE_SHARE || room < ROOM_MIN || misses > MISSES_MAX) break;
      misses += take(hit) ? 0 : 1;
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

  /** Counted, and made smaller by its last passages until it fits. Null when none fits. */
  async #messageWithin(found: readonly Passage[], maxTokens: number): Promise<Message | null> {
    for (let passages = found; passages.length > 0; ) {
      const message = asMessage(passages);
      const tokens = await this.#size.counter.countMessages([message]);
      if (tokens <= maxTokens) return message;
      const fitting = Math.floor((passages.length * maxTokens) / tokens);
      passages = passages.slice(0, Math.min(passages.length - 1, fitting));
    }
    return null;
  }
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
