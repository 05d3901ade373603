import { RekindleError } from '../../core/errors.js';
import type { JsonValue } from '../../core/json.js';
import type { ToolContext, ToolDescription } from '../../core/tool-definition.js';
import type { FitRequest } from '../../memory/fit/context-fitter.js';
import { storeInlineMedia } from '../../memory/inline-media.js';
import type { UserInput } from '../../memory/memory-input.js';
import type { MemoryManager } from '../../memory/memory-manager.js';
import type { OpenMemory } from '../../memory/open-memory.js';
import { embedderOptions } from '../../memory/recall/embedder-options.js';
import type { RestoreReport } from '../../memory/restore/restore-report.js';
import type { LedgerOutcome } from '../../memory/store/tool-call-ledger.js';
import { lookBackTools } from '../../memory/tools/memory-tools.js';
import { readResultTool } from '../../memory/tools/read-result.js';
import { type Message, type Origin, toolResultOf } from '../../messages/message.js';
import type { AiSdkMessage } from '../../messages/projections/ai-sdk.js';
import { project, type RequestOf, type RequestTarget } from '../../messages/projections/project.js';
import type { Projection } from '../../messages/projections/projection.js';
import type { TargetName } from '../../messages/projections/targets.js';
import { toolDescriptionsOf } from '../../messages/projections/tool-descriptions.js';
import type { CallRecorder } from '../tools/call-recorder.js';
import { closeOpenCalls } from '../tools/close-open-calls.js';
import { type GuardableTools, guardTools } from '../tools/guard-tools.js';
import { type HostTool, hostTool } from '../tools/host-tool.js';
import { type HostCall, type RunToolOptions, runHostCall } from '../tools/run-host-call.js';
import type { RecordedAnswer, RecordOptions, StreamedResponse } from './answer.js';
import { ContextArtifacts } from './context-artifacts.js';
import type { HostMessage, HostStep, HostStepToPrepare } from './host-message.js';
import { type HostReading, isHostStep, readHostInput, readHostList } from './host-reading.js';
import { HostTurn } from './host-turn.js';
import { recordAnswer } from './record-answer.js';
import { descriptionsIn } from './sdk-tools.js';
import { streamAnswer } from './stream-answer.js';
import { callOfApproval, waitingCalls } from './waiting-calls.js';

/** Used when the host gives no origin. */
export const DEFAULT_ORIGIN: Origin = { provider: 'ai-sdk' };

/** The maximum size of a request. Default: the known limit of the model, else the policy's budget. */
export type RequestBudget = Pick<FitRequest, 'inputBudgetTokens' | 'reserveTokens' | 'signal'>;

/** The model continues an answer that was cut off only if it is asked to. */
function endingOf(messages: readonly Message[]): 'user-turn' | 'as-is' {
  return messages.at(-1)?.status === undefined ? 'as-is' : 'user-turn';
}

/** The working context of a host with its own loop: turns, requests, answers, tools. See `openWorkingContext`. */
export class WorkingContext {
  /** What the restore found and changed. */
  readonly report: RestoreReport;
  /** The agent did not exist before. */
  readonly isNew: boolean;
  readonly #opened: OpenMemory;
  readonly #origin: Origin;
  readonly #artifacts: ContextArtifacts;
  /** Null: calls are not logged. */
  readonly #log: CallRecorder | null;
  #turn: HostTurn | null = null;
  /** Tools that the host declared without `execute`: the client returns their results. */
  readonly #clientTools = new Set<string>();
  /** Descriptions of the guarded tools, to count their size. */
  #sdkTools: readonly ToolDescription[] = [];
  /** Name of a tool in the last request for a target → the tool's own name. */
  readonly #toolNames = new Map<TargetName, ReadonlyMap<string, string>>();

  constructor(
    opened: OpenMemory,
    report: RestoreReport,
    isNew: boolean,
    origin: Origin,
    log: CallRecorder | null,
  ) {
    this.#log = log;
    this.#opened = opened;
    this.report = report;
    this.isNew = isNew;
    this.#origin = origin;
    this.#artifacts = new ContextArtifacts(opened.memory);
  }

  get memory(): MemoryManager {
    return this.#opened.memory;
  }

  get messages(): Message[] {
    return this.memory.getWorkingContextMessages();
  }

  /**
   * Begins a turn with a text, or with a user message in any supported shape. Durable when it resolves. Calls that still wait are
   * closed, and the model reads why.
   * @throws AGENT_STATE while a turn is open; MESSAGE_INVALID before anything is written
   */
  async beginTurn(input: UserInput | string | HostMessage): Promise<string> {
    if (this.#turn) {
      throw new RekindleError('AGENT_STATE', 'A turn is open. Call endTurn() first.', {
        details: { turnId: this.#turn.turnId },
      });
    }
    const { input: said, results } = readHostInput(input, this.#origin);
    for (const { call, turnId } of this.memory.openCalls()) {
      const given = results.find((message) => toolResultOf(message)?.toolCallId === call.id);
      if (given) await new HostTurn(this.memory, turnId ?? '').ingest([await this.#stored(given)]);
    }
    await closeOpenCalls(this.memory);
    const turnId = this.memory.startTurn();
    await this.memory.ingestUserMessage(await this.#storedInput(said), turnId);
    this.#turn = new HostTurn(this.memory, turnId);
    await this.loadArtifacts();
    return turnId;
  }

  /** Continues the turn that a crash interrupted, or whose calls wait, without new input. @throws AGENT_STATE if there is none */
  resumeTurn(): string {
    const { kind, turnId } = this.memory.frontier;
    if (kind === 'idle' || this.#turn) {
      throw new RekindleError('AGENT_STATE', 'No turn was interrupted.', { details: { frontier: kind } });
    }
    this.#turn = new HostTurn(this.memory, turnId ?? this.memory.startTurn());
    return this.#turn.turnId;
  }

  /** The messages of the next request. Call it before each request; it is cheap. */
  messagesFor(target: 'ai-sdk'): AiSdkMessage[] {
    return this.requestFor(target, { ending: endingOf(this.memory.context.messages) }).request.messages;
  }

  /**
   * The whole request in the shape of a provider's API, with notes on what was dropped or changed. Writes nothing, unless a `budget`
   * is given: the context is then first made small enough, durably.
   * @throws TOOL_INVALID for an unreadable tool; CONTEXT_TOO_LARGE if the budget is too small for what must stay
   */
  requestFor<Name extends TargetName>(
    name: Name,
    target: RequestTarget & { readonly budget: RequestBudget },
  ): Promise<Projection<RequestOf<Name>>>;
  requestFor<Name extends TargetName>(name: Name, target?: RequestTarget): Projection<RequestOf<Name>>;
  requestFor<Name extends TargetName>(
    name: Name,
    target: RequestTarget & { readonly budget?: RequestBudget } = {},
  ): Projection<RequestOf<Name>> | Promise<Projection<RequestOf<Name>>> {
    const { budget, ...rest } = target;
    if (!budget) return this.#project(name, rest);
    const tools = rest.tools === undefined ? [] : toolDescriptionsOf(rest.tools);
    const model = rest.model ?? this.#origin.model;
    return this.#fit({ ...budget, tools, ...(model === undefined ? {} : { model }) }).then(() =>
      this.#project(name, rest),
    );
  }

  /**
   * Keeps each request of the AI SDK within the budget: pass it as `prepareStep: ctx.prepareStep`. Records the earlier steps, each
   * once, and returns the messages to send. @throws CONTEXT_TOO_LARGE if the budget is too small
   */
  readonly prepareStep = async ({
    steps,
    model,
  }: HostStepToPrepare): Promise<{ messages: AiSdkMessage[] }> => {
    const last = steps.at(-1);
    if (last) {
      await this.memory.learnUsage(last.usage?.inputTokens ?? 0);
      await this.step(last);
    }
    const name = typeof model === 'string' ? model : model?.modelId;
    await this.#fit({ tools: this.#sdkTools, ...(name === undefined ? {} : { model: name }) });
    return { messages: this.messagesFor('ai-sdk') };
  };

  /**
   * Call it after a failed model call. If the provider refused the request for its length, learns the size and makes the context
   * smaller, durably. True if one retry with a new request is worthwhile. @throws CONTEXT_TOO_LARGE
   */
  async fitAfter(thrown: unknown): Promise<boolean> {
    const turn = this.#turn;
    const isSmaller = turn ? await turn.fitAfter(thrown) : await this.memory.fitAfter(thrown);
    await this.loadArtifacts();
    return isSmaller;
  }

  async #fit(request: FitRequest): Promise<void> {
    await (this.#turn ?? this.memory).fit(request);
    await this.loadArtifacts();
  }

  #project<Name extends TargetName>(name: Name, target: RequestTarget): Projection<RequestOf<Name>> {
    const own = name === 'ai-sdk' ? this.#origin : {};
    const given = {
      ...own,
      artifacts: this.#artifacts.loaded,
      waiting: waitingCalls(this.memory),
      ...target,
    };
    const projection = project(name, this.memory.context.messages, given);
    this.#toolNames.set(name, projection.toolNames);
    return projection;
  }

  /** The same tools, with each call in the ledger before it starts and each result durable before the model sees it. */
  guardTools<Tools extends GuardableTools>(tools: Tools): Tools {
    for (const [name, tool] of Object.entries(tools)) {
      if (typeof (tool as { execute?: unknown }).execute !== 'function') this.#clientTools.add(name);
    }
    this.#sdkTools = descriptionsIn(tools);
    return guardTools(tools, { memory: this.memory, log: this.#log }, () => this.#openTurn());
  }

  /**
   * The tool that reads results that were left out of the context, in the AI SDK's shape: `guardTools({ ...tools, read_result:
   * ctx.readResult })`. `requestFor` and `runTool` accept it, too.
   */
  get readResult(): HostTool {
    return hostTool(readResultTool({ backend: this.memory.store.backend, agentId: this.memory.agentId }));
  }

  /**
   * The tools that find what left the context (`read_result`, `memory_search`, `memory_read`), in the AI SDK's shape: `guardTools({
   * ...tools, ...ctx.lookBackTools })`.
   */
  get lookBackTools(): Record<string, HostTool> {
    const { backend } = this.memory.store;
    const { agentId, recall } = this.memory;
    const tools = lookBackTools({ backend, agentId, ...embedderOptions(recall) });
    return Object.fromEntries(tools.map((tool) => [tool.name, hostTool(tool)]));
  }

  /**
   * Records an answer of a provider's client: a response, or a stream, which is read to its end. Durable when it resolves. If a
   * stream breaks or ends early, its text is recorded as an aborted answer and the error is thrown.
   * @throws MESSAGE_INVALID for an object that is not an answer of this target, and what stream and journal throw
   */
  recordResponse(target: TargetName, response: object, options: RecordOptions = {}): Promise<RecordedAnswer> {
    const turn = this.#openTurn();
    const toolNames = this.#toolNames.get(target) ?? new Map<string, string>();
    const { memory } = this;
    const origin = this.#origin.provider === DEFAULT_ORIGIN.provider ? null : this.#origin;
    const ingest = (list: readonly HostMessage[]) => this.#ingest(turn, list);
    return recordAnswer({ turn, memory, target, response, toolNames, origin, options, ingest });
  }

  /**
   * Streams an answer to a reader: yields the chunks of a provider's stream, or of the `fullStream` of the AI SDK's `streamText`, and
   * records the answer as `recordResponse` does. A chunk is yielded once its text is durable, so that a restore after a crash knows
   * what was read. Commits are at least 25 ms apart. The generator returns the recorded answer. If the reader leaves early, what it
   * read is recorded as an aborted answer.
   * @throws as `recordResponse`
   */
  stream<Chunk>(
    target: TargetName,
    response: StreamedResponse<Chunk>,
  ): AsyncGenerator<Chunk, RecordedAnswer> {
    return streamAnswer((options) => this.recordResponse(target, response, options));
  }

  /**
   * Runs one recorded call: in the ledger before it starts, its result durable when this resolves. What comes back is what the
   * model will see. What `run` throws becomes the call's error. A call with a result is not run again.
   * @throws MESSAGE_INVALID for a call that is not recorded; OUTCOME_UNKNOWN for one that an earlier process started
   */
  runTool(
    call: HostCall,
    run: (args: JsonValue, context: ToolContext) => unknown,
    options: RunToolOptions = {},
  ): Promise<LedgerOutcome> {
    return runHostCall({ memory: this.memory, log: this.#log }, this.#openTurn(), call, run, options);
  }

  /** Records messages of the open turn, each once: for `onStepFinish`, and for what comes from a client. Durable. @throws MESSAGE_INVALID */
  readonly step = async (step: HostStep | readonly HostMessage[]): Promise<void> => {
    const turn = this.#openTurn();
    const list = isHostStep(step) ? step.response.messages : step;
    await this.#ingest(turn, list as readonly HostMessage[]);
    await turn.leaveToClient((name) => this.#clientTools.has(name));
    await this.loadArtifacts();
  };

  /** Records decisions of the inbox on calls that wait (`decideApproval`). Durable when it resolves. Returns how many. */
  async takeDecisions(): Promise<number> {
    const { takeDecisions } = await import('./take-decisions.js');
    return takeDecisions(this.memory, this.step);
  }

  /**
   * Ends the turn and records the new messages. Pass those of the last step or of the whole turn: recorded ones are recognised by
   * content. Calls without a result wait from now on. Durable when it resolves; the cache is then current.
   * @throws MESSAGE_INVALID before anything is written, and what the journal throws
   */
  async endTurn(messages: readonly HostMessage[] = []): Promise<void> {
    const turn = this.#openTurn();
    await this.#ingest(turn, messages);
    await turn.leaveToClient();
    this.#turn = null;
    await this.memory.endTurn();
    await this.#log?.flush();
  }

  async #ingest(turn: HostTurn, list: readonly HostMessage[]): Promise<void> {
    const input = this.memory.context.messages.findLast(
      ({ role, turnId }) => role === 'user' && turnId === turn.turnId,
    );
    const callOf = (id: string) => callOfApproval(this.memory, id);
    const { redactor } = this.memory.store.backend;
    const reading: HostReading = readHostList(list, this.#origin, input, callOf, redactor);
    const messages = await Promise.all(reading.messages.map((message) => this.#stored(message)));
    await turn.ingest(messages, reading.approvals);
  }

  /** Gives up the turn. What is durable stays. Calls without a result get one, so that another request may follow. */
  async abandonTurn(): Promise<void> {
    this.#turn = null;
    const results = this.memory.openCalls().map(({ call, turnId }) => ({
      callId: call.id,
      toolName: call.name,
      ...(turnId === undefined ? {} : { turnId }),
      error: 'Cancelled by the host, so its outcome is unknown. Check its effects before you repeat it.',
      synthetic: true,
    }));
    await this.memory.ingestToolResults(results, '');
    await this.memory.endTurn();
  }

  /** Flushes and releases the lease, so that another process can open the agent at once. */
  async close(): Promise<void> {
    await this.#log?.flush();
    await this.#opened.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Loads the artifacts that the next request needs. @throws STORAGE_FAILED */
  loadArtifacts(): Promise<void> {
    return this.#artifacts.load();
  }

  #stored(message: Message): Promise<Message> {
    return storeInlineMedia(message, this.memory.blobs);
  }

  async #storedInput(input: UserInput | string): Promise<UserInput | string> {
    if (typeof input === 'string' || !input.parts) return input;
    const { parts } = await this.#stored({ role: 'user', content: null, parts: input.parts });
    return parts ? { ...input, parts } : input;
  }

  #openTurn(): HostTurn {
    if (this.#turn) return this.#turn;
    throw new RekindleError('AGENT_STATE', 'No turn is open. Call beginTurn() first.', { details: {} });
  }
}
