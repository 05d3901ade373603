/**
 * Keeps the next request within the model's input budget, before it is made.
 *
 * The first of these that suffices: clear old results; compact between steps; trim what is large by itself. Each is one trace,
 * durable before the context changes, so a restore gives the same list. Large results are stored apart when they come in
 * (`withinShare`). The last request, pinned messages, the current step and open calls stay as they are. One exception: when the
 * finished calls and results of the current step alone are larger than the budget, their long texts are trimmed, since nothing
 * else could let the agent continue.
 */
import { isRekindleError, RekindleError } from '../../core/errors.js';
import type { TypedEvents } from '../../core/events.js';
import type { ToolDescription } from '../../core/tool-definition.js';
import { type Message, toolCallsOf, toolResultOf } from '../../messages/message.js';
import type { Blobs } from '../../storage/ports.js';
import type { CompactionPolicy } from '../compaction/compaction-policy.js';
import type { CompactionRunner } from '../compaction/compaction-runner.js';
import { ContextSize } from '../compaction/context-size.js';
import { currentStepStart, keptInFront } from '../compaction/select-cut.js';
import type { TokenCounter } from '../compaction/token-counter.js';
import type { MemoryEvents } from '../memory-events.js';
import type { Boundary } from '../models/trace.js';
import { boundaryBody, type ResultBody } from '../trace-bodies.js';
import type { TraceLog } from '../trace-log.js';
import type { OpenCall } from '../working-context-snapshot.js';
import { partsJson, requestParts } from './request-parts.js';
import { clearResult, isClearable, trimMessage } from './shorten-message.js';
import { storeLargeResult } from './store-apart.js';

export type Rung = 'clear' | 'compact' | 'trim';

export interface FitRequest {
  /** Tokens that the model takes as input. Default: those of the last request, and at first the policy's. */
  readonly inputBudgetTokens?: number;
  /** Kept free for the answer, where the model's window is for both. Default 0. */
  readonly reserveTokens?: number;
  /** Which model is asked: its input size may be known. */
  readonly model?: string;
  /** The tools that go with the request. */
  readonly tools?: readonly ToolDescription[];
  readonly signal?: AbortSignal;
}

export interface FitReport {
  /** What was done, in order; empty when the request fitted. */
  readonly rungs: readonly Rung[];
  /** Tokens of the request; null when it was so small that nothing was counted. */
  readonly tokens: number | null;
  readonly inputBudgetTokens: number;
}

export interface ContextFitterOptions {
  readonly log: TraceLog;
  readonly policy: CompactionPolicy;
  readonly counter: TokenCounter;
  readonly compaction: CompactionRunner;
  readonly events: TypedEvents<MemoryEvents>;
  readonly artifacts: () => Blobs;
}

/** A message that gets smaller, at its place in the list. */
interface Edit {
  readonly at: number;
  readonly message: Message;
}

/** Bytes of a token in a text that is dense (code, JSON, Chinese): limits in bytes are made with it. */
const BYTES_A_TOKEN = 3;
/** Share of the budget that the results of one step may take together. */
const STEP_RATIO = 0.4;
/** The least that a result keeps in the context when it comes in, in bytes. */
const RESULT_BYTES_MIN = 600;
/** What the line between head and tail takes, about. */
const LINE_BYTES = 150;
/** A message below this many tokens is not worth trimming. */
const TRIM_TOKENS_MIN = 200;
/** What the line of a cleared result takes, about. */
const CLEARED_TOKENS = 60;
/** Clearing alone must bring the request near the target; otherwise a compaction follows soon and breaks the prompt cache again. */
const CLEAR_SLACK = 1.2;

export class ContextFitter {
  readonly #options: ContextFitterOptions;
  readonly #size: ContextSize;
  readonly #toolTokens = new WeakMap<readonly ToolDescription[], number>();
  #inputBudget: number;

  constructor(options: ContextFitterOptions) {
    this.#options = options;
    this.#size = new ContextSize(options.counter);
    this.#inputBudget = options.policy.inputBudgetTokens;
  }

  /**
   * A result that comes in, stored apart when it is larger than its share. The artifact is durable when it resolves.
   * @param calls of its response, where that is not in the context yet
   */
  withinShare(body: ResultBody, turnId: string, calls: number): Promise<ResultBody> {
    const results = Math.max(1, calls, this.#callsBeside(body.result.toolCallId, turnId));
    return storeLargeResult(body, this.#resultBytesMax(results), this.#options.artifacts());
  }

  #callsBeside(callId: string, turnId: string): number {
    const { snapshot } = this.#options.log.state;
    const isIt = (open: OpenCall) => open.call.id === callId && open.turnId === turnId;
    const open = snapshot.openCalls().findLast(isIt);
    return open ? toolCallsOf(snapshot.messages[open.messageIndex]!).length : 0;
  }

  /** The longest text of a result in the context, in bytes, when so many results come in one step. */
  #resultBytesMax(results: number): number {
    const share = Math.min(this.#options.policy.resultRatio, STEP_RATIO / Math.max(1, results));
    return Math.max(RESULT_BYTES_MIN, Math.floor(this.#inputBudget * share * BYTES_A_TOKEN));
  }

  /**
   * Makes the context small enough for the next request. Durable when it resolves.
   * @throws CONTEXT_TOO_LARGE when what must stay is larger than the budget; what was made smaller stays so
   */
  async fit(request: FitRequest): Promise<FitReport> {
    const { policy, log } = this.#options;
    const inputBudgetTokens = request.inputBudgetTokens ?? this.#inputBudget;
    this.#inputBudget = inputBudgetTokens;
    const overhead = (await this.#tokensOfTools(request.tools)) + (request.reserveTokens ?? 0);
    const trigger = policy.triggerTokensOf(inputBudgetTokens) - overhead;
    const before = await this.#size.tokensNear(log.state.snapshot.messages, trigger);
    if (before === null || before < trigger) return { rungs: [], tokens: before, inputBudgetTokens };
    await log.flushPending();
    const room = {
      target: policy.targetTokensOf(inputBudgetTokens) - overhead,
      limit: policy.limitTokensOf(inputBudgetTokens) - overhead,
    };
    const rungs = await this.#climb(room, request.signal);
    const tokens = await this.#tokens();
    if (tokens > room.limit) throw await this.#tooLarge(tokens, overhead, inputBudgetTokens);
    return { rungs, tokens: tokens + overhead, inputBudgetTokens };
  }

  async #climb(
    room: { readonly target: number; readonly limit: number },
    signal: AbortSignal | undefined,
  ): Promise<Rung[]> {
    const rungs: Rung[] = [];
    const done = (rung: Rung, did: boolean) => {
      if (did) rungs.push(rung);
    };
    done('clear', await this.#clear(room.target, room.target * CLEAR_SLACK));
    if (rungs.length > 0) return rungs;
    done('compact', await this.#compact(room.target, signal));
    if ((await this.#tokens()) <= room.limit) return rungs;
    done('clear', await this.#clear(room.target, Number.POSITIVE_INFINITY));
    if ((await this.#tokens()) <= room.limit) return rungs;
    done('trim', await this.#trim(room.target, room.limit));
    return rungs;
  }

  /** Clears the oldest results until `target` is reached. Does nothing when even all of them would leave more than `atMost`. */
  async #clear(target: number, atMost: number): Promise<boolean> {
    const { messages } = this.#options.log.state.snapshot;
    const before = await this.#tokens();
    const { indexes, left } = await this.#clearable(messages, before - target);
    if (indexes.length === 0 || left > atMost) return false;
    const edits: Edit[] = [];
    let after = before;
    for (const at of indexes) {
      const message = messages[at]!;
      const smaller = await clearResult(message, this.#options.artifacts());
      const saved = (await this.#count(message)) - (await this.#count(smaller));
      if (saved <= 0) continue;
      edits.push({ at, message: smaller });
      after -= saved;
    }
    if (edits.length === 0) return false;
    await this.#apply('clear', edits, before, after);
    return true;
  }

  /** The oldest results that save about `tokens` together, and how many tokens would be left. */
  async #clearable(
    messages: readonly Message[],
    tokens: number,
  ): Promise<{ readonly indexes: readonly number[]; readonly left: number }> {
    const indexes: number[] = [];
    let left = await this.#tokens();
    const enough = left - tokens;
    for (const [at, message] of messages.slice(0, currentStepStart(messages)).entries()) {
      if (left <= enough) break;
      if (!isClearable(message)) continue;
      const saved = (await this.#count(message)) - CLEARED_TOKENS;
      if (saved <= 0) continue;
      indexes.push(at);
      left -= saved;
    }
    return { indexes, left };
  }

  /** A refusal is counted and told as an event by the runner; the next rung follows. */
  async #compact(roomTokens: number, signal: AbortSignal | undefined): Promise<boolean> {
    const { compaction } = this.#options;
    if (compaction.hasStopped()) return false;
    try {
      return (await compaction.run(signal, roomTokens)) !== null;
    } catch (thrown) {
      if (isRekindleError(thrown, 'COMPACTION_REFUSED')) return false;
      throw thrown;
    } finally {
      this.#size.reset();
    }
  }

  /** Trims the largest first: older messages, then what is larger than its share in the current step. */
  async #trim(target: number, limit: number): Promise<boolean> {
    const { messages } = this.#options.log.state.snapshot;
    const before = await this.#tokens();
    const edits: Edit[] = [];
    let after = before;
    for (const { at, maxBytes } of await this.#trimmable(messages, target)) {
      if (after <= limit) break;
      const message = messages[at]!;
      const smaller = await trimMessage(message, maxBytes, this.#options.artifacts());
      const saved = (await this.#count(message)) - (await this.#count(smaller));
      if (saved <= 0) continue;
      edits.push({ at, message: smaller });
      after -= saved;
    }
    if (edits.length === 0) return false;
    await this.#apply('trim', edits, before, after);
    return true;
  }

  async #trimmable(
    messages: readonly Message[],
    target: number,
  ): Promise<{ readonly at: number; readonly maxBytes: number }[]> {
    const kept = keptInFront(messages);
    const step = currentStepStart(messages);
    const results = messages.slice(step).filter((message) => toolResultOf(message)).length;
    const share = Math.floor((target * BYTES_A_TOKEN) / Math.max(1, 2 * results)) - LINE_BYTES; // a call and its result
    const inStep = Math.max(0, Math.min(this.#resultBytesMax(results), share));
    const older = Math.max(RESULT_BYTES_MIN, Math.floor((target * BYTES_A_TOKEN) / 8));
    const open = new Set(
      this.#options.log.state.snapshot.openCalls().map(({ messageIndex }) => messageIndex),
    );
    const found: { at: number; maxBytes: number; tokens: number; isInStep: boolean }[] = [];
    for (const [at, message] of messages.entries()) {
      const isInStep = at >= step;
      const isRequest = isInStep ? message.role === 'user' : kept[at];
      if (message.role === 'system' || message.pinned || isRequest || open.has(at)) continue;
      const tokens = await this.#count(message);
      if (tokens >= TRIM_TOKENS_MIN)
        found.push({ at, maxBytes: isInStep ? inStep : older, tokens, isInStep });
    }
    return found.sort((a, b) => Number(a.isInStep) - Number(b.isInStep) || b.tokens - a.tokens);
  }

  async #apply(rung: 'clear' | 'trim', edits: readonly Edit[], before: number, after: number): Promise<void> {
    const { log, events } = this.#options;
    const inOrder = [...edits].sort((a, b) => a.at - b.at);
    const boundary: Boundary = { kind: 'edit', rung, edits: inOrder };
    await log.append('', [boundaryBody(boundary, 'Fit')], log.head.seq);
    this.#size.reset();
    events.emit('context_fitted', {
      rung,
      messages: edits.length,
      firstIndex: inOrder[0]!.at,
      tokensBefore: before,
      tokensAfter: after,
    });
  }

  #tokens(): Promise<number> {
    return this.#size.tokens(this.#options.log.state.snapshot.messages);
  }

  #count(message: Message): Promise<number> {
    return this.#options.counter.countMessages([message]);
  }

  async #tokensOfTools(tools: readonly ToolDescription[] | undefined): Promise<number> {
    if (!tools || tools.length === 0) return 0;
    let tokens = this.#toolTokens.get(tools);
    if (tokens === undefined) {
      tokens = await this.#count({ role: 'system', content: JSON.stringify(tools) });
      this.#toolTokens.set(tools, tokens);
    }
    return tokens;
  }

  async #tooLarge(tokens: number, overhead: number, inputBudgetTokens: number): Promise<RekindleError> {
    const { log, counter } = this.#options;
    const parts = await requestParts(log.state.snapshot.messages, overhead, counter);
    const [largest] = Object.entries(parts).sort(([, a], [, b]) => b - a);
    return new RekindleError(
      'CONTEXT_TOO_LARGE',
      `The next request needs ${tokens + overhead} tokens and the model takes ${inputBudgetTokens}. Most of it is ${largest![0]} (${largest![1]} tokens).`,
      { details: { tokens: tokens + overhead, inputBudgetTokens, parts: partsJson(parts) } },
    );
  }
}
