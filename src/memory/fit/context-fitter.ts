/**
 * Keeps the next request within the model's input budget, before it is made.
 *
 * It tries three rungs and stops at the first that suffices: clear old results; compact between steps (if a step is too
 * large to stay, it stays without its results); trim messages that are large by themselves. Each rung goes down to the
 * target at once. Each is one trace, durable before the context changes, so a restore gives the same list. Large
 * results are stored separately when they arrive (`withinShare`). The last request, pinned messages, the current step
 * and open calls stay unchanged. One exception: if the finished calls and results of the current step alone exceed the
 * budget, their long texts are trimmed, since nothing else could let the agent continue.
 */
import { isRekindleError, type RekindleError } from '../../core/errors.js';
import type { TypedEvents } from '../../core/events.js';
import type { ToolDescription } from '../../core/tool-definition.js';
import { type Message, toolCallsOf } from '../../messages/message.js';
import type { CompactionPolicy } from '../compaction/compaction-policy.js';
import type { CompactionRunner } from '../compaction/compaction-runner.js';
import type { Compactor } from '../compaction/compactor.js';
import { ContextSize } from '../compaction/context-size.js';
import { currentRecallIndex } from '../compaction/select-cut.js';
import type { TokenCounter } from '../compaction/token-counter.js';
import type { MemoryEvents } from '../memory-events.js';
import type { MemoryStore } from '../store/memory-store.js';
import type { ResultBody } from '../trace-bodies.js';
import type { TraceLog } from '../trace-log.js';
import type { OpenCall } from '../working-context-snapshot.js';
import { boundariesOf, type Edit, type Found } from './edit-boundaries.js';
import { type BudgetRequest, InputBudget } from './input-budget.js';
import { climb, type Ladder, type Room, type Rung, roomOf } from './ladder.js';
import { ModelSizes } from './model-sizes.js';
import { lengthRefusalOf } from './provider-refusal.js';
import { contextTooLarge, requestParts } from './request-parts.js';
import { clearResult, trimMessage } from './shorten-message.js';
import { BYTES_A_TOKEN, clearable, recallsIn, resultBytesMax, trimmable } from './shrinkable.js';
import { storeLargeResult } from './store-apart.js';
import { ToolTokens } from './tool-tokens.js';

export type { Rung } from './ladder.js';

/** The next request, as far as its size depends on it. */
export interface FitRequest extends BudgetRequest {
  /** Tokens kept free for the answer, if the model's window covers both. Default 0. */
  readonly reserveTokens?: number;
  /** The tools that are sent with the request. */
  readonly tools?: readonly ToolDescription[];
  readonly signal?: AbortSignal;
}

/** What `fit` did. */
export interface FitReport {
  /** The rungs used, in order; empty if the request already fitted. */
  readonly rungs: readonly Rung[];
  /** Tokens of the request; null if it was so small that nothing was counted. */
  readonly tokens: number | null;
  readonly inputBudgetTokens: number;
}

export interface ContextFitterOptions {
  readonly log: TraceLog;
  readonly store: MemoryStore;
  readonly compactor: Compactor;
  readonly compaction: CompactionRunner;
  readonly events: TypedEvents<MemoryEvents>;
}

const NOTHING: Found = { smaller: [], drops: [] };

/** New records, mostly late results, may interrupt the decision on a rung. */
const TRIES_MAX = 5;

export class ContextFitter {
  readonly #log: TraceLog;
  readonly #store: MemoryStore;
  readonly #policy: CompactionPolicy;
  readonly #counter: TokenCounter;
  readonly #compaction: CompactionRunner;
  readonly #events: TypedEvents<MemoryEvents>;
  readonly #size: ContextSize;
  readonly #toolTokens: ToolTokens;
  readonly #budget: InputBudget;
  /** Tokens of tools and reserve in the last request. */
  #overhead = 0;
  /** Size of the last request by our own count; null if nothing was counted. */
  #lastTokens: number | null = null;
  /** The provider's refusal for length that the next rungs respond to. */
  #refusal: unknown;

  constructor({ log, store, compactor, compaction, events }: ContextFitterOptions) {
    this.#log = log;
    this.#store = store;
    this.#policy = compactor.policy;
    this.#counter = compactor.counter;
    this.#compaction = compaction;
    this.#events = events;
    this.#size = new ContextSize(compactor.counter);
    this.#toolTokens = new ToolTokens(compactor.counter);
    this.#budget = new InputBudget(compactor.policy, new ModelSizes(store.backend.documents, store.agentId));
  }

  get counter(): TokenCounter {
    return this.#counter;
  }

  /** The budget of the last request, or of the policy before the first request. */
  get inputBudgetTokens(): number {
    return this.#budget.tokens;
  }

  /**
   * Stores an arriving result as an artifact if it is larger than its share. The artifact is durable when it resolves.
   * @param calls number of calls in its response, if that is not in the context yet
   */
  withinShare(body: ResultBody, turnId: string, calls: number): Promise<ResultBody> {
    const results = Math.max(1, calls, this.#callsBeside(body.result.toolCallId, turnId));
    return storeLargeResult(body, this.#resultBytesMax(results), this.#store.artifacts);
  }

  #callsBeside(callId: string, turnId: string): number {
    const { snapshot } = this.#log.state;
    const isIt = (open: OpenCall) => open.call.id === callId && open.turnId === turnId;
    const open = snapshot.openCalls().findLast(isIt);
    return open ? toolCallsOf(snapshot.messages[open.messageIndex]!).length : 0;
  }

  /** Maximum bytes of a result's text in the context, if this many results arrive in one step. */
  #resultBytesMax(results: number): number {
    return resultBytesMax(this.#policy, this.#budget.tokens, results);
  }

  /**
   * Makes the context small enough for the next request. Durable when it resolves.
   * @throws CONTEXT_TOO_LARGE if what must stay exceeds the budget; reductions made so far stay
   */
  async fit(request: FitRequest): Promise<FitReport> {
    const inputBudgetTokens = await this.#budget.of(request);
    const overhead = await this.#overheadOf(request);
    const near = this.#policy.triggerTokensOf(inputBudgetTokens) - overhead;
    const before = await this.#size.tokensNear(this.#log.state.snapshot, near);
    this.#lastTokens = before === null ? null : before + overhead;
    const recalled = this.#lastTokens === null ? 0 : await this.#recalledTokens();
    const room = this.#roomOf(inputBudgetTokens, overhead, recalled);
    if (before === null || (before <= room.limit && before < near + recalled))
      return { rungs: [], tokens: this.#lastTokens, inputBudgetTokens };
    await this.#log.flushPending();
    const rungs = await this.#climb(room, request.signal);
    const tokens = await this.#tokens();
    if (tokens > room.limit) throw await this.#tooLarge(tokens, overhead, inputBudgetTokens);
    this.#refusal = undefined;
    this.#lastTokens = tokens + overhead;
    return { rungs, tokens: this.#lastTokens, inputBudgetTokens };
  }

  /** Called before this many tokens are added: whatever does not fit with them is removed now, so that it is known what stays. */
  async makeRoom(tokens: number): Promise<void> {
    const inputBudgetTokens = await this.#budget.of({});
    const room = this.#roomOf(inputBudgetTokens, this.#overhead, 0);
    const limit = Math.max(1, room.limit - tokens);
    if ((await this.#size.tokensNear(this.#log.state.snapshot, limit)) === null) return;
    if ((await this.#tokens()) <= limit) return;
    await this.#log.flushPending();
    await this.#edit('clear', limit, async (messages) => ({ smaller: [], drops: recallsIn(messages) }));
    if ((await this.#tokens()) <= limit) return;
    await this.#climb({ target: Math.min(room.target, limit), limit }, undefined);
  }

  /** What was recalled for the current request counts only against the limit, not against the target. */
  #roomOf(inputBudgetTokens: number, overhead: number, recalled: number): Room {
    return roomOf(this.#policy, inputBudgetTokens, overhead, recalled);
  }

  async #recalledTokens(): Promise<number> {
    const { messages } = this.#log.state.snapshot;
    const recall = messages[currentRecallIndex(messages)];
    return recall ? this.#count(recall) : 0;
  }

  /** Tokens of tools and reserve; if the request names neither, those of the request before it. */
  async #overheadOf({ tools, reserveTokens }: FitRequest): Promise<number> {
    if (tools || reserveTokens !== undefined)
      this.#overhead = (await this.#toolTokens.of(tools ?? [])) + (reserveTokens ?? 0);
    return this.#overhead;
  }

  /** The provider's count for the last request. Ignored for a request that was too small to be counted. */
  async learnUsage(inputTokens: number): Promise<void> {
    if (this.#lastTokens !== null) await this.#budget.seen(this.#lastTokens, inputTokens);
  }

  /** True if the failure was a refusal for length: the size is known from now on. Durable when it resolves. */
  async learnRefusal(thrown: unknown): Promise<boolean> {
    const refusal = lengthRefusalOf(thrown);
    if (!refusal) return false;
    await this.#budget.refused((await this.#tokens()) + this.#overhead, refusal);
    this.#refusal = thrown;
    return true;
  }

  /** Makes the learned model sizes durable. */
  saveSizes(): Promise<void> {
    return this.#budget.save();
  }

  #climb(room: Room, signal: AbortSignal | undefined): Promise<Rung[]> {
    const ladder: Ladder = {
      tokens: () => this.#tokens(),
      clear: (target, atMost) => this.#clear(target, atMost),
      compact: (target, isOffline) =>
        isOffline
          ? this.#tryCompact({ roomTokens: target, isOffline }, signal)
          : this.#compact(target, signal),
      trim: (target, limit) => this.#trim(target, limit),
    };
    return climb(ladder, room);
  }

  /**
   * Drops what was recalled for earlier requests, and clears the oldest results until `target` is reached. Does nothing
   * if all of that would leave more than `atMost`.
   */
  #clear(target: number, atMost: number): Promise<boolean> {
    const shrink = (message: Message) => clearResult(message, this.#store.artifacts);
    return this.#edit('clear', Number.NEGATIVE_INFINITY, async (messages) => {
      const { places, drops, left } = await clearable(messages, target, this.#counter);
      return left > atMost ? NOTHING : { smaller: places.map((at) => ({ at, shrink })), drops };
    });
  }

  /** The runner counts a refusal and reports it as an event; the next rung follows. */
  async #compact(roomTokens: number, signal: AbortSignal | undefined): Promise<boolean> {
    return !this.#compaction.hasStopped() && this.#tryCompact({ roomTokens }, signal);
  }

  async #tryCompact(
    room: { readonly roomTokens: number; readonly isOffline?: boolean },
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    try {
      return await this.#undisturbed(async () => (await this.#compaction.run(signal, room)) !== null);
    } catch (thrown) {
      if (isRekindleError(thrown, 'COMPACTION_REFUSED')) return false;
      throw thrown;
    }
  }

  /** Trims the largest first: older messages, then messages of the current step that exceed their share. */
  #trim(target: number, limit: number): Promise<boolean> {
    return this.#edit('trim', limit, async (messages) => {
      const open = new Set(this.#log.state.snapshot.openCalls().map(({ messageIndex }) => messageIndex));
      const bounds = {
        targetBytes: target * BYTES_A_TOKEN,
        resultBytesMax: (n: number) => this.#resultBytesMax(n),
      };
      const found = await trimmable(messages, open, bounds, this.#counter);
      const smaller = found.map(({ at, maxBytes }) => ({
        at,
        shrink: (message: Message) => trimMessage(message, maxBytes, this.#store.artifacts),
      }));
      return { smaller, drops: [] };
    });
  }

  /** Shortens messages one after the other until `downTo` tokens are left, as one trace. False if none got shorter. */
  #edit(
    rung: 'clear' | 'trim',
    downTo: number,
    find: (messages: readonly Message[]) => Promise<Found>,
  ): Promise<boolean> {
    return this.#undisturbed(async () => {
      const { seq } = this.#log.head;
      const messages = this.#log.state.snapshot.buildMessages();
      const tokensBefore = await this.#counter.countMessages(messages);
      const edits: Edit[] = [];
      const { smaller, drops } = await find(messages);
      let tokensAfter = tokensBefore - (await this.#counter.countMessages(drops.map((at) => messages[at]!)));
      for (const { at, shrink } of smaller) {
        if (tokensAfter <= downTo) break;
        const message = await shrink(messages[at]!);
        const saved = (await this.#count(messages[at]!)) - (await this.#count(message));
        if (saved <= 0) continue;
        edits.push({ at, message });
        tokensAfter -= saved;
      }
      if (edits.length + drops.length === 0) return false;
      await this.#log.append('', boundariesOf(rung, edits, drops), seq);
      const firstIndex = Math.min(...drops.slice(0, 1), ...edits.map(({ at }) => at));
      this.#events.emit('context_fitted', {
        rung,
        messages: edits.length + drops.length,
        firstIndex,
        tokensLost: await this.#counter.countMessages(messages.slice(firstIndex)),
        tokensBefore,
        tokensAfter,
      });
      return true;
    });
  }

  /** Decides again if something was recorded meanwhile, because positions in the list may have changed. */
  async #undisturbed(decide: () => Promise<boolean>): Promise<boolean> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await decide();
      } catch (thrown) {
        if (tries === TRIES_MAX || !isRekindleError(thrown, 'JOURNAL_CONFLICT')) throw thrown;
      }
    }
  }

  #tokens(): Promise<number> {
    return this.#size.tokens(this.#log.state.snapshot);
  }

  #count(message: Message): Promise<number> {
    return this.#counter.countMessages([message]);
  }

  async #tooLarge(tokens: number, overhead: number, inputBudgetTokens: number): Promise<RekindleError> {
    const parts = await requestParts(this.#log.state.snapshot.messages, overhead, this.#counter);
    return contextTooLarge(parts, tokens + overhead, inputBudgetTokens, this.#refusal);
  }
}
