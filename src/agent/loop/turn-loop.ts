/**
 * One turn: ask the model, run the tools it calls, ask again, until it answers without calls.
 *
 * A trace is durable before its effect is visible: the input before the model is called, the calls before a
 * tool starts, a result before the model sees it, the answer before the turn's promise resolves.
 */
import { systemClock } from '../../core/clock.js';
import type { TypedEvents } from '../../core/events.js';
import type { MemoryManager } from '../../memory/memory-manager.js';
import type { InterruptedCall } from '../../memory/restore/restore-report.js';
import type { AnswerPart } from '../../memory/store/answer-parts.js';
import { type ToolCallSpec, toolCallsOf } from '../../messages/message.js';
import type { AgentEvents, TurnResult } from '../agent-events.js';
import type { AgentConfig } from '../context/agent-config.js';
import { ResponseCollector } from '../model/collect-response.js';
import { durableStream } from '../model/durable-stream.js';
import type { LanguageModel, ModelRequest, TokenUsage } from '../model/language-model.js';
import { type RetryingEvent, retryingStream } from '../model/retrying-stream.js';
import { CallRecorder } from '../tools/call-recorder.js';
import type { ToolRegistry } from '../tools/tool-registry.js';
import { ToolRunner } from '../tools/tool-runner.js';

const STEPS_MAX = 50;
const PARALLEL_TOOLS_MAX = 8;

type Steer = (turnId: string) => Promise<void> | undefined;

export class TurnLoop {
  readonly #memory: MemoryManager;
  readonly #registry: ToolRegistry;
  readonly #config: AgentConfig;
  readonly #events: TypedEvents<AgentEvents>;
  readonly #runner: ToolRunner;
  readonly #recorder: CallRecorder | null;

  constructor(
    memory: MemoryManager,
    registry: ToolRegistry,
    config: AgentConfig,
    events: TypedEvents<AgentEvents>,
  ) {
    this.#memory = memory;
    this.#registry = registry;
    this.#config = config;
    this.#events = events;
    const onFailed = (message: string) => events.emit('tool_log_failed', { message });
    const logging = config.toolCallLog;
    this.#recorder = logging ? new CallRecorder(logging, memory.agentId, onFailed, config.clock) : null;
    this.#runner = new ToolRunner({
      memory,
      registry,
      approve: config.approve ?? null,
      approvalExpiresMs: config.approvalExpiresMs ?? null,
      nowMs: () => (config.clock ?? systemClock).nowMs(),
      parallelMax: config.parallelToolsMax ?? PARALLEL_TOOLS_MAX,
      onStarted: (call, turnId) => {
        this.#recorder?.begun(call);
        events.emit('tool_started', { turnId, callId: call.id, toolName: call.name });
      },
      onApprovalRequested: (call, turnId) => events.emit('tool_approval_requested', describe(call, turnId)),
      onResult: (outcome, turnId) => {
        this.#recorder?.ended(outcome, turnId);
        events.emit('tool_result', { turnId, ...outcome });
      },
    });
  }

  /** Records calls that an earlier process left unfinished in the tool-call log. */
  recordInterrupted(calls: readonly InterruptedCall[]): void {
    this.#recorder?.recordInterrupted(calls, this.#memory.context.messages);
  }

  /** Resolves when everything handed to the tool-call log is written. */
  async flush(): Promise<void> {
    await this.#recorder?.flush();
  }

  /**
   * Runs until the turn ends. The input is already in memory.
   * @param steer called before each request: adds user messages @throws MODEL_FAILED, and what the journal throws
   */
  async run(turnId: string, signal: AbortSignal, steer: Steer): Promise<TurnResult> {
    const stepsMax = this.#config.stepsMax ?? STEPS_MAX;
    let usage: TokenUsage = {};
    let text = '';
    if (signal.aborted) return this.#aborted(turnId, text, 0, usage); // aborted while it waited
    for (let steps = 1; steps <= stepsMax; steps += 1) {
      await steer(turnId);
      const response = await this.#ask(turnId, signal);
      usage = sum(usage, response.usage);
      text = response.text;
      if (signal.aborted) return this.#keepAborted(turnId, response, steps, usage);
      const { toolCalls = [], ...said } = response.response(this.#callIdsOf(turnId));
      await this.#memory.ingestAssistantResponse({ ...said, toolCalls }, turnId);
      if (toolCalls.length === 0) return { turnId, text, status: 'completed', steps, usage };
      await this.runCalls(toolCalls, turnId, signal);
      if (signal.aborted) return this.#aborted(turnId, text, steps, usage);
    }
    await this.#memory.endTurn();
    return { turnId, text, status: 'steps_exceeded', steps: stepsMax, usage };
  }

  /** Runs calls whose traces are already durable. */
  async runCalls(calls: readonly ToolCallSpec[], turnId: string, signal: AbortSignal): Promise<void> {
    for (const call of calls) {
      this.#recorder?.begun(call);
      this.#events.emit('tool_call', describe(call, turnId));
    }
    try {
      await this.#runner.runAll(calls, turnId, signal);
    } finally {
      await this.flush();
    }
  }

  /**
   * Asks for one response. After a cancellation, returns the text received so far. If the provider refuses
   * the request for its length, makes the context smaller and repeats the request, once.
   */
  async #ask(turnId: string, signal: AbortSignal): Promise<ResponseCollector> {
    const fit = { tools: this.#registry.descriptions(), signal, ...modelOf(this.#config.model) };
    await this.#memory.fit(fit);
    try {
      return await this.#askOnce(turnId, signal);
    } catch (thrown) {
      if (signal.aborted || !(await this.#memory.fitAfter(thrown, fit))) throw thrown;
      const reason = 'The provider refused the request for its length. The context was made smaller.';
      this.#events.emit('model_retry', { turnId, attempt: 1, pauseMs: 0, reason });
      return this.#askOnce(turnId, signal);
    }
  }

  async #askOnce(turnId: string, signal: AbortSignal): Promise<ResponseCollector> {
    const { model } = this.#config;
    const request: ModelRequest = {
      messages: this.#memory.getWorkingContextMessages(),
      tools: this.#registry.descriptions(),
      signal,
      loadArtifact: (ref) => this.#memory.getArtifact(ref),
    };
    const events = retryingStream(model, request, this.#config.retry);
    const isHeard = this.#events.isHeard('text_delta') || this.#events.isHeard('reasoning_delta');
    const parts = isHeard ? this.#memory.answerParts.begin(turnId, model.origin) : null;
    let response = new ResponseCollector(model.origin, parts?.messageId);
    try {
      for await (const event of parts ? durableStream(events, parts, partOf) : events) {
        if (signal.aborted) break; // what waits was not delivered
        if (event.type === 'retry') response = new ResponseCollector(model.origin, parts?.messageId);
        else response.add(event);
        if (event.type === 'retry' || parts) this.#emit(turnId, event); // a listener that came later hears the next answer
      }
    } catch (thrown) {
      if (!signal.aborted) {
        if (parts) await this.#keepPartial(turnId, response, 'failed').catch(() => {}); // report the first error
        throw thrown;
      }
    }
    const { inputTokens } = response.usage;
    if (inputTokens !== undefined) await this.#memory.learnUsage(inputTokens);
    return response;
  }

  #emit(turnId: string, event: RetryingEvent): void {
    if (event.type === 'retry') {
      const { attempt, pauseMs, reason } = event;
      this.#events.emit('model_retry', { turnId, attempt, pauseMs, reason });
    } else if (event.type === 'text') this.#events.emit('text_delta', { turnId, delta: event.delta });
    else if (event.type === 'reasoning') this.#events.emit('reasoning_delta', { turnId, delta: event.delta });
  }

  #callIdsOf(turnId: string): Set<string> {
    const own = this.#memory.context.messages.filter((message) => message.turnId === turnId);
    return new Set(own.flatMap(toolCallsOf).map((call) => call.id));
  }

  async #keepAborted(
    turnId: string,
    response: ResponseCollector,
    steps: number,
    usage: TokenUsage,
  ): Promise<TurnResult> {
    await this.#keepPartial(turnId, response, 'aborted');
    return this.#aborted(turnId, response.text, steps, usage);
  }

  /** Keeps the text received so far; unfinished calls are dropped. */
  async #keepPartial(
    turnId: string,
    response: ResponseCollector,
    status: 'aborted' | 'failed',
  ): Promise<void> {
    const partial = response.partial(status);
    if (partial) await this.#memory.ingestAssistantResponse(partial, turnId);
  }

  async #aborted(turnId: string, text: string, steps: number, usage: TokenUsage): Promise<TurnResult> {
    await this.#memory.endTurn();
    return { turnId, text, status: 'aborted', steps, usage };
  }
}

function partOf(event: RetryingEvent): AnswerPart | null {
  if (event.type === 'text') return { text: event.delta };
  if (event.type === 'reasoning') return { reasoning: event.delta };
  return event.type === 'retry' ? { discarded: true } : null;
}

function modelOf({ origin }: LanguageModel): { model?: string } {
  return origin.model === undefined ? {} : { model: origin.model };
}

function describe(call: ToolCallSpec, turnId: string): AgentEvents['tool_call'] {
  return { turnId, callId: call.id, toolName: call.name, arguments: call.arguments };
}

function sum(a: TokenUsage, b: TokenUsage): TokenUsage {
  const add = (x: number | undefined, y: number | undefined) =>
    x === undefined && y === undefined ? undefined : (x ?? 0) + (y ?? 0);
  const inputTokens = add(a.inputTokens, b.inputTokens);
  const outputTokens = add(a.outputTokens, b.outputTokens);
  return {
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
  };
}
