/**
 * Plans a compaction: what is removed, what stays, and whether the result is worth it. Writes nothing.
 *
 * The system message, pinned messages, the last request and the current step always stay. A plan is refused if the
 * summary is blank, or if the new list is not legal or not smaller than the old one.
 */
import { messageOf, RekindleError } from '../../core/errors.js';
import { checkHistory } from '../../messages/legality/history.js';
import type { Violation } from '../../messages/legality/repairs.js';
import { isBlankMessage, type Message } from '../../messages/message.js';
import { compactionFacts } from '../facts/compaction-facts.js';
import { originsOf } from '../facts/fact-source.js';
import { standingOf } from '../facts/fact-table.js';
import { keepFacts } from '../facts/keep-facts.js';
import type { EpisodicItem, MemoryBundle, SemanticItem } from '../models/memory-items.js';
import type { MemoryRetriever } from '../retrieval/retriever.js';
import type { CompactionPolicy } from './compaction-policy.js';
import { CompactionSnapshotBuilder } from './compaction-snapshot-builder.js';
import { ExtractiveSummarizer } from './extractive-summarizer.js';
import { type FilledTail, filledTail, type Shrinking } from './filled-tail.js';
import { fitBundle } from './fit-bundle.js';
import { currentRecallIndex, keptInFront, turnsCut } from './select-cut.js';
import type { CompactionResult, Summarizer, SummarizerOptions } from './summarizer.js';
import type { TokenCounter } from './token-counter.js';

/** The result of a planned compaction: the new context, and the items for long-term memory. */
export interface CompactionPlan {
  /** The new list without the system message. */
  readonly messages: readonly Message[];
  readonly episodic: EpisodicItem;
  readonly semantic: readonly SemanticItem[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly turnIds: readonly string[];
}

/** The parts of a `Compactor`. */
export interface CompactorOptions {
  readonly policy: CompactionPolicy;
  readonly summarizer: Summarizer;
  readonly retriever: MemoryRetriever;
  readonly counter: TokenCounter;
  /** Maximum items kept in the context. Defaults: 3 summaries (for a request that needs space: as many as fit), and 20 facts. */
  readonly maxEpisodic?: number;
  readonly maxSemantic?: number;
}

export interface PlanContext {
  readonly messages: readonly Message[];
  readonly newId: (prefix: string) => string;
  /** Seconds since 1970. */
  readonly ts: number;
  /**
   * Maximum size of the new list in tokens, including the system message: as much as fits stays, newest first. If
   * omitted, the policy's last turns stay.
   */
  readonly roomTokens?: number;
  /** If omitted, messages that do not fit whole are removed. */
  readonly shrinking?: Shrinking;
  /** Summarize without a model, whatever the summarizer is. Default false. */
  readonly isOffline?: boolean;
  /** Finds the trace of each new fact, and leaves out facts that were forgotten since. Default: no change. */
  readonly settleFacts?: (items: readonly SemanticItem[]) => Promise<readonly SemanticItem[]>;
  readonly signal?: AbortSignal;
}

/** Default number of summaries in the memory message if no size is given. */
export const SUMMARIES_KEPT = 3;
export const FACTS_KEPT = 20;
/** Share of the space that the memory message may take. */
const MEMORY_SHARE = 0.35;
/** Share of the memory message that one summary may take. */
const ITEM_SHARE = 0.8;
/** Maximum number of summaries considered if as many stay as fit. */
const EPISODIC_MAX = 50;
/** Lower than in most texts, so that a memory message stays within its share. */
const CHARS_A_TOKEN = 3;

interface MemoryRoom {
  /** The current content of the memory message. */
  readonly known: MemoryBundle;
  readonly tokens: number;
  readonly chars: number;
  /** Maximum length of a summary or fact, in characters. */
  readonly maxItemChars: number;
}

/** Plans compactions of a context. `MemoryManager.compact` executes the plans. */
export class Compactor {
  readonly policy: CompactionPolicy;
  readonly counter: TokenCounter;
  readonly #options: CompactorOptions;
  readonly #builder = new CompactionSnapshotBuilder();
  readonly #offline = new ExtractiveSummarizer();

  constructor(options: CompactorOptions) {
    this.#options = options;
    this.policy = options.policy;
    this.counter = options.counter;
  }

  /** Null if nothing may be removed. @throws COMPACTION_REFUSED */
  async plan(context: PlanContext): Promise<CompactionPlan | null> {
    const { messages, shrinking } = context;
    const room = await this.#memoryRoom(context);
    const { cut, smaller } = await this.#tail(context, room);
    const stays = keptInFront(messages);
    const going: Message[] = [];
    const tail: Message[] = [];
    const shortened: Message[] = [];
    for (const [index, message] of messages.entries()) {
      const isOld = message.kind !== undefined && !stays[index]; // includes what was recalled for earlier requests
      if (isOld || (index < cut && message.role === 'system')) continue;
      if (index < cut && !stays[index]) going.push(message);
      else if (shrinking && smaller.has(index)) {
        tail.push(await shrinking.shrink(message));
        shortened.push(message);
      } else tail.push(message);
    }
    if (going.length === 0) return null;
    const result = await this.#summarize(going, { stays: tail, shortened }, room, context);
    // A model takes time, so facts remembered meanwhile are included.
    const now = { ...room, known: await this.#known(context) };
    return this.#planFrom(context, now, result, going, tail);
  }

  /** Index of the first message that stays if the policy's last turns stay; 0 if every legal cut would remove nothing. */
  selectCut(messages: readonly Message[]): number {
    return turnsCut(messages, this.policy.rawTailTurns);
  }

  /** What stays: as much as fits, or the policy's last turns if no size is given. */
  async #tail(context: PlanContext, room: MemoryRoom): Promise<FilledTail> {
    const { messages, roomTokens, shrinking } = context;
    if (roomTokens === undefined) return { cut: this.selectCut(messages), smaller: new Set() };
    const memoryTokens = async (going: readonly Message[]) => {
      const { maxItemChars } = room;
      const { episodicSummary } = await this.#offline.summarize(going, { maxItemChars });
      const item = { id: '', ts: 0, turnIds: [], summary: episodicSummary, salience: 0 };
      return this.counter.countMessages(this.#build(item, [], [], room));
    };
    const size = { tokens: roomTokens, memoryTokensMax: room.tokens };
    return filledTail(messages, size, memoryTokens, this.counter, shrinking);
  }

  /** What the memory message may contain in addition to one more summary. */
  #known({ roomTokens }: PlanContext): Promise<MemoryBundle> {
    const most = roomTokens === undefined ? SUMMARIES_KEPT : EPISODIC_MAX;
    const { maxEpisodic = most, maxSemantic = FACTS_KEPT } = this.#options;
    return this.#options.retriever.retrieve(Math.max(0, maxEpisodic - 1), maxSemantic);
  }

  /** The current content and the maximum size of the memory message: a share of the space that recalled passages leave. */
  async #memoryRoom(context: PlanContext): Promise<MemoryRoom> {
    const { messages, roomTokens } = context;
    const known = await this.#known(context);
    const { maxItemChars } = this.policy;
    if (roomTokens === undefined)
      return { known, tokens: Number.POSITIVE_INFINITY, chars: Number.POSITIVE_INFINITY, maxItemChars };
    const recall = messages[currentRecallIndex(messages)];
    const recalled = recall ? await this.counter.countMessages([recall]) : 0;
    const tokens = Math.max(1, Math.floor((roomTokens - recalled) * MEMORY_SHARE));
    const chars = tokens * CHARS_A_TOKEN;
    // In a larger context an item may be longer, and several still fit.
    const longest = Math.min(chars, Math.max(maxItemChars, Math.floor(chars * ITEM_SHARE)));
    return { known, tokens, chars, maxItemChars: longest };
  }

  async #summarize(
    turns: readonly Message[],
    rest: Pick<SummarizerOptions, 'stays' | 'shortened'>,
    { known, maxItemChars }: MemoryRoom,
    { signal, isOffline = false }: PlanContext,
  ): Promise<CompactionResult> {
    const summarizer = isOffline ? this.#offline : this.#options.summarizer;
    let result: CompactionResult;
    try {
      result = await summarizer.summarize(turns, {
        maxItemChars,
        ...rest,
        previous: known.episodic.map(({ summary }) => summary),
        ...(signal ? { signal } : {}),
      });
    } catch (thrown) {
      throw refused('summarizer-failed', `The summarizer failed: ${messageOf(thrown)}`, thrown);
    }
    if (typeof result?.episodicSummary !== 'string' || result.episodicSummary.trim() === '') {
      throw refused('blank-summary', 'The summarizer returned a blank summary.');
    }
    return result;
  }

  async #planFrom(
    context: PlanContext,
    room: MemoryRoom,
    result: CompactionResult,
    turns: readonly Message[],
    tail: readonly Message[],
  ): Promise<CompactionPlan> {
    const clip = (text: string) => text.slice(0, room.maxItemChars).toWellFormed();
    const turnIds = [...new Set(turns.map((message) => message.turnId).filter((id) => id !== undefined))];
    const episodic: EpisodicItem = {
      id: context.newId('ep'),
      ts: context.ts,
      turnIds,
      summary: clip(result.episodicSummary),
      salience: 0,
      origins: originsOf(turns),
    };
    const { ts, newId, settleFacts = async (items) => items } = context;
    const semantic = await settleFacts(
      compactionFacts(turns, result.semanticFacts ?? [], { ts, newId, clip }),
    );
    const messages = this.#build(episodic, semantic, tail, room);
    const tokensBefore = await this.counter.countMessages(
      context.messages.filter(({ role }) => role !== 'system'),
    );
    const tokensAfter = await this.counter.countMessages(messages);
    assertLegal(context.messages, messages);
    assertBetter(messages, tokensBefore, tokensAfter);
    return { messages, episodic, semantic, tokensBefore, tokensAfter, turnIds };
  }

  #build(
    episodic: EpisodicItem,
    semantic: readonly SemanticItem[],
    tail: readonly Message[],
    { known, chars }: MemoryRoom,
  ): Message[] {
    const { maxSemantic = FACTS_KEPT } = this.#options;
    const facts = standingOf([...known.semantic, ...semantic]);
    const bundle = { episodic: [...known.episodic, episodic], semantic: keepFacts(facts, maxSemantic) };
    return this.#builder.build('', fitBundle(bundle, chars), tail);
  }
}

/** Open calls stay open; otherwise the new list must break no rule. */
function assertLegal(before: readonly Message[], after: readonly Message[]): void {
  const keyOf = (violation: Violation) => `${violation.rule} ${violation.callId} ${violation.reason}`;
  const known = new Set(checkHistory(before).map(keyOf));
  const violation = checkHistory(after).find((found) => !known.has(keyOf(found)));
  if (violation)
    throw refused('not-legal', `The compacted list would break ${violation.rule}: ${violation.reason}.`);
}

function assertBetter(messages: readonly Message[], tokensBefore: number, tokensAfter: number): void {
  if (messages.every(isBlankMessage)) throw refused('blank-context', 'The compacted list would be blank.');
  if (tokensAfter >= tokensBefore) {
    throw refused(
      'not-smaller',
      `The compacted list has ${tokensAfter} tokens, the old one ${tokensBefore}.`,
    );
  }
}

function refused(reason: string, message: string, cause?: unknown): RekindleError {
  return new RekindleError('COMPACTION_REFUSED', message, {
    details: { reason },
    ...(cause === undefined ? {} : { cause }),
  });
}
