/**
 * Plans a compaction: which turns go, what stays, and whether the result is worth having. Writes nothing.
 *
 * What stays: the system message, pinned messages, the last turns, and the last user request in any case. The cut lies where
 * a turn begins and no call before it is open. A plan is refused when the summary is blank, or the new list is not legal
 * or not smaller than the old one.
 */
import { messageOf, RekindleError } from '../../core/errors.js';
import { checkHistory } from '../../messages/legality/history.js';
import type { Violation } from '../../messages/legality/repairs.js';
import { isBlankMessage, type Message, toolCallsOf, toolResultOf } from '../../messages/message.js';
import type { EpisodicItem, SemanticItem } from '../models/memory-items.js';
import type { MemoryRetriever } from '../retrieval/retriever.js';
import type { CompactionPolicy } from './compaction-policy.js';
import { CompactionSnapshotBuilder } from './compaction-snapshot-builder.js';
import type { CompactionResult, Summarizer } from './summarizer.js';
import type { TokenCounter } from './token-counter.js';

export interface CompactionPlan {
  /** Without the system message. */
  readonly messages: readonly Message[];
  readonly episodic: EpisodicItem;
  readonly semantic: readonly SemanticItem[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly turnIds: readonly string[];
}

export interface CompactorOptions {
  readonly policy: CompactionPolicy;
  readonly summarizer: Summarizer;
  readonly retriever: MemoryRetriever;
  readonly counter: TokenCounter;
  /** Items kept in the context. Defaults 3 and 20. */
  readonly maxEpisodic?: number;
  readonly maxSemantic?: number;
}

export interface PlanContext {
  readonly messages: readonly Message[];
  readonly newId: (prefix: string) => string;
  /** Seconds. */
  readonly ts: number;
  readonly signal?: AbortSignal;
}

export class Compactor {
  readonly policy: CompactionPolicy;
  readonly counter: TokenCounter;
  readonly #options: CompactorOptions;
  readonly #builder = new CompactionSnapshotBuilder();

  constructor(options: CompactorOptions) {
    this.#options = options;
    this.policy = options.policy;
    this.counter = options.counter;
  }

  /** Null when there is nothing that may be taken away. @throws COMPACTION_REFUSED */
  async plan(context: PlanContext): Promise<CompactionPlan | null> {
    const cut = this.selectCut(context.messages);
    const head = context.messages.slice(0, cut).filter((message) => message.role !== 'system');
    const turns = head.filter((message) => message.kind !== 'memory');
    const kept = keptWhole(turns);
    if (kept.length === turns.length) return null;
    const result = await this.#summarize(turns, context.signal);
    return this.#planFrom(context, result, turns, [...kept, ...context.messages.slice(cut)]);
  }

  /** Index of the first message that stays; 0 when no legal cut leaves anything to take. */
  selectCut(messages: readonly Message[]): number {
    const starts = turnStarts(messages);
    const lastRequest = messages.findLastIndex(
      (message) => message.role === 'user' && message.kind !== 'memory',
    );
    const wanted = starts[Math.max(0, starts.length - this.policy.rawTailTurns)] ?? messages.length;
    const latest = Math.min(wanted, Math.max(lastRequest, 0));
    return starts.findLast((start) => start <= latest && allClosedBefore(messages, start)) ?? 0;
  }

  async #summarize(turns: readonly Message[], signal: AbortSignal | undefined): Promise<CompactionResult> {
    let result: CompactionResult;
    try {
      result = await this.#options.summarizer.summarize(turns, {
        maxItemChars: this.policy.maxItemChars,
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
    result: CompactionResult,
    turns: readonly Message[],
    tail: readonly Message[],
  ): Promise<CompactionPlan> {
    const { maxItemChars } = this.policy;
    const clip = (text: string) => text.slice(0, maxItemChars).toWellFormed();
    const turnIds = [...new Set(turns.map((message) => message.turnId).filter((id) => id !== undefined))];
    const episodic: EpisodicItem = {
      id: context.newId('ep'),
      ts: context.ts,
      turnIds,
      summary: clip(result.episodicSummary),
      salience: 0,
    };
    const semantic = (result.semanticFacts ?? [])
      .filter((fact) => typeof fact.fact === 'string' && fact.fact.trim() !== '')
      .map((fact) => ({
        id: context.newId('sem'),
        ts: context.ts,
        fact: clip(fact.fact),
        ...(fact.category === undefined ? {} : { category: fact.category }),
        salience: 0,
      }));
    const messages = await this.#build(episodic, semantic, tail);
    const tokensBefore = await this.counter.countMessages(
      context.messages.filter(({ role }) => role !== 'system'),
    );
    const tokensAfter = await this.counter.countMessages(messages);
    assertLegal(context.messages, messages);
    assertBetter(messages, tokensBefore, tokensAfter);
    return { messages, episodic, semantic, tokensBefore, tokensAfter, turnIds };
  }

  async #build(
    episodic: EpisodicItem,
    semantic: readonly SemanticItem[],
    tail: readonly Message[],
  ): Promise<Message[]> {
    const { maxEpisodic = 3, maxSemantic = 20 } = this.#options;
    const known = await this.#options.retriever.retrieve(Math.max(0, maxEpisodic - 1), maxSemantic);
    const facts = new Map([...known.semantic, ...semantic].map((item) => [item.fact, item]));
    const bundle = {
      episodic: [...known.episodic, episodic],
      semantic: [...facts.values()].slice(-maxSemantic),
    };
    return this.#builder.build('', bundle, tail);
  }
}

/** Calls that are open stay open; beyond that the new list breaks nothing. */
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

/** Where turns begin: at a user message that is no memory and does not follow another user message of its turn. */
function turnStarts(messages: readonly Message[]): number[] {
  const starts: number[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'user' || message.kind === 'memory') continue;
    const before = messages[index - 1];
    const goesOn = before?.role === 'user' && before.kind !== 'memory' && before.turnId === message.turnId;
    if (!goesOn) starts.push(index);
  }
  return starts;
}

function allClosedBefore(messages: readonly Message[], cut: number): boolean {
  const open = new Map<string, number>();
  for (const message of messages.slice(0, cut)) {
    for (const call of toolCallsOf(message)) open.set(call.id, (open.get(call.id) ?? 0) + 1);
    const result = toolResultOf(message);
    if (result) {
      const left = (open.get(result.toolCallId) ?? 0) - 1;
      if (left > 0) open.set(result.toolCallId, left);
      else open.delete(result.toolCallId);
    }
  }
  return open.size === 0;
}

/** Pinned messages, and with a pinned call its results (and the other way round): a block stays whole or goes whole. */
function keptWhole(turns: readonly Message[]): Message[] {
  const keep = new Set<Message>();
  let block: Message[] = [];
  for (const message of [...turns, null]) {
    if (message?.role === 'tool') {
      block.push(message);
      continue;
    }
    if (block.some((member) => member.pinned)) for (const member of block) keep.add(member);
    block = message ? [message] : [];
  }
  return turns.filter((message) => keep.has(message));
}

function refused(reason: string, message: string, cause?: unknown): RekindleError {
  return new RekindleError('COMPACTION_REFUSED', message, {
    details: { reason },
    ...(cause === undefined ? {} : { cause }),
  });
}
