/**
 * The memory of one agent: takes in what is said and done, keeps the working context, and brings its cache up to date.
 *
 * What is taken in is durable when the call resolves; see `TraceLog`. Saves of the cache and compactions run one after the
 * other, and a failure of either is an event, not a failed turn.
 */
import PQueue from 'p-queue';
import { type Clock, systemClock } from '../core/clock.js';
import { TypedEvents } from '../core/events.js';
import { formatTurnId, newId } from '../core/ids.js';
import type { Message, ToolCallSpec, ToolResultPayload } from '../messages/message.js';
import type { Blobs } from '../storage/ports.js';
import { CacheWriter } from './cache-writer.js';
import { CompactionRunner } from './compaction/compaction-runner.js';
import type { CompactionPlan, Compactor } from './compaction/compactor.js';
import { Facts } from './facts/facts.js';
import { ContextFitter, type FitReport, type FitRequest } from './fit/context-fitter.js';
import type { MemoryEvents } from './memory-events.js';
import {
  type AnsweredResponse,
  type AssistantResponse,
  assertCalls,
  type ToolResultInput,
  type UserInput,
  userMessageFrom,
} from './memory-input.js';
import type { Boundary, Trace } from './models/trace.js';
import { RAW_TAIL_TURNS, rawTail } from './raw-tail.js';
import { type Recaller, type RecallOptions, type RequestSize, recallerFor } from './recall/recaller.js';
import { resetBoundary } from './reset-boundary.js';
import { type MemoryRetriever, Retriever } from './retrieval/retriever.js';
import type { MemoryStore } from './store/memory-store.js';
import { ToolCallLedger } from './store/tool-call-ledger.js';
import { type SavedSnapshot, WorkingContextSnapshotStore } from './store/working-context-snapshot-store.js';
import {
  boundaryBody,
  byTurn,
  callBodies,
  type ResultBody,
  responseBodies,
  resultBody,
  type TraceBody,
} from './trace-bodies.js';
import { type RestoredMemory, TraceLog } from './trace-log.js';
import { type Frontier, frontierOf } from './working-context-reducer.js';
import type { ContextView, OpenCall } from './working-context-snapshot.js';

export interface MemoryManagerOptions {
  readonly store: MemoryStore;
  readonly snapshotStore?: WorkingContextSnapshotStore;
  /** Null: never compact. */
  readonly compactor?: Compactor | null;
  readonly retriever?: MemoryRetriever;
  /** Null: nothing comes back by itself. */
  readonly recall?: RecallOptions | null;
  readonly clock?: Clock;
}

export class MemoryManager {
  readonly store: MemoryStore;
  readonly snapshotStore: WorkingContextSnapshotStore;
  readonly ledger: ToolCallLedger;
  readonly retriever: MemoryRetriever;
  readonly facts: Facts;
  /** Turns that stay verbatim, by the compaction policy. */
  readonly rawTailTurns: number;
  readonly events = new TypedEvents<MemoryEvents>();
  readonly #clock: Clock;
  readonly #log: TraceLog;
  readonly #compaction: CompactionRunner;
  readonly #cache: CacheWriter;
  /** Null where nothing is ever made smaller. */
  readonly #fitter: ContextFitter | null;
  readonly #recaller: Recaller | null;
  /** Saves and compactions, one after the other. */
  readonly #maintenance = new PQueue({ concurrency: 1 });

  constructor(options: MemoryManagerOptions) {
    const { store } = options;
    this.store = store;
    this.snapshotStore =
      options.snapshotStore ?? new WorkingContextSnapshotStore(store.backend, store.agentId);
    this.retriever = options.retriever ?? new Retriever(store);
    this.rawTailTurns = options.compactor?.policy.rawTailTurns ?? RAW_TAIL_TURNS;
    this.#clock = options.clock ?? systemClock;
    this.facts = new Facts(store, this.#clock);
    this.ledger = new ToolCallLedger(
      () => store.journal('pending_calls'),
      () => this.#clock.nowMs(),
    );
    this.#log = new TraceLog(
      store,
      this.#clock,
      (callId, placement) => this.events.emit('result_ignored', { callId, placement }),
      (code, reason, callId) =>
        this.events.emit('history_mended', { code, reason, ...(callId === undefined ? {} : { callId }) }),
    );
    const shared = { log: this.#log, store, events: this.events };
    const { ledger, snapshotStore } = this;
    const { compactor = null } = options;
    const saveCache = () => this.#cache.save();
    const compaction = new CompactionRunner({ ...shared, ledger, clock: this.#clock, compactor, saveCache });
    this.#compaction = compaction;
    this.#cache = new CacheWriter({ ...shared, snapshotStore, flushItems: () => compaction.flushItems() });
    this.#fitter = compactor ? new ContextFitter({ ...shared, compactor, compaction }) : null;
    this.#recaller = recallerFor({ ...shared, clock: this.#clock }, this.#requestSize(), options.recall);
  }

  get agentId(): string {
    return this.store.agentId;
  }

  get epochId(): number {
    return this.#log.state.snapshot.epochId;
  }

  get lastCompactionTs(): number | null {
    return this.#log.state.snapshot.lastCompactionTs;
  }

  get frontier(): Frontier {
    return frontierOf(this.#log.state.snapshot);
  }

  /** Where its artifacts are. */
  get blobs(): Blobs {
    return this.store.artifacts;
  }

  /** The number of the last turn that was started. */
  get lastTurn(): number {
    return this.#log.state.lastTurn;
  }

  /** The context itself, not to be changed: for a look that copies nothing. */
  get context(): ContextView {
    return this.#log.state.snapshot;
  }

  /** A copy of the list that the model gets next. */
  getWorkingContextMessages(): Message[] {
    return this.#log.state.snapshot.buildMessages();
  }

  openCalls(): OpenCall[] {
    return this.#log.state.snapshot.openCalls();
  }

  /** The id of a new turn; turn ids are never used again, also after a restore. */
  startTurn(): string {
    return formatTurnId(++this.#log.state.lastTurn);
  }

  /**
   * Durable before the model is called, in one commit with what comes back for it. @throws MESSAGE_INVALID, and what
   * `Journal.append` throws
   */
  async ingestUserMessage(
    input: UserInput | string,
    turnId: string,
    sourceEvent = 'UserMessage',
  ): Promise<void> {
    const message = await userMessageFrom(input, this.blobs);
    const recalled = (await this.#recaller?.before(message, turnId)) ?? [];
    await this.#log.append(turnId, [...recalled, { type: 'user', message, sourceEvent }]);
  }

  /** Calls of one response, durable before a tool starts. Calls under one `messageId` become one message. */
  async ingestToolIntents(calls: readonly ToolCallSpec[], turnId: string, messageId?: string): Promise<void> {
    assertCalls(calls);
    await this.#log.append(turnId, callBodies(calls, messageId));
  }

  /**
   * Results, durable before the model sees them. One that is larger than its share of the input budget becomes an artifact, and
   * the context holds its head, its tail, and how to read the rest. Gives the results as they were recorded, by turns.
   */
  async ingestToolResults(
    results: readonly ToolResultInput[],
    turnId: string,
    sourceEvent = 'ToolResult',
  ): Promise<readonly ToolResultPayload[]> {
    const groups: [turn: string, bodies: ResultBody[]][] = [];
    for (const [turn, group] of byTurn(results, turnId)) {
      groups.push([turn, await this.#resultBodies(group, turn, sourceEvent)]);
    }
    if (groups.length > 1) for (const [turn, bodies] of groups) this.#log.check(turn, bodies);
    for (const [turn, bodies] of groups) await this.#log.append(turn, bodies);
    return groups.flatMap(([, bodies]) => bodies.map(({ result }) => result));
  }

  /** @param calls of the response that the results belong to, where it is not recorded yet */
  async #resultBodies(
    results: readonly ToolResultInput[],
    turnId: string,
    sourceEvent: string,
    calls = 0,
  ): Promise<ResultBody[]> {
    const bodies = results.map((result) => resultBody(result, sourceEvent, this.store.backend.redactor));
    const fitter = this.#fitter;
    return fitter ? Promise.all(bodies.map((body) => fitter.withinShare(body, turnId, calls))) : bodies;
  }

  /**
   * A model response: its text and its calls in one commit. A final answer (by default: one without calls) ends the turn,
   * and the cache is brought up to date. Durable when it resolves.
   */
  async ingestAssistantResponse(
    response: AssistantResponse,
    turnId: string,
    sourceEvent = 'ModelResponse',
  ): Promise<void> {
    await this.#log.append(turnId, this.#responseBodies(response, sourceEvent));
    if (response.final ?? !response.toolCalls?.length) await this.endTurn();
  }

  /**
   * Responses, each with results of its calls, in one commit: all of it is durable when it resolves, or nothing is. Ends no turn.
   * @throws MESSAGE_INVALID, and what `Journal.append` throws
   */
  async ingestResponses(responses: readonly AnsweredResponse[], turnId: string): Promise<void> {
    const bodies: TraceBody[] = [];
    for (const { response, results } of responses) {
      if (response) bodies.push(...this.#responseBodies(response, 'ModelResponse'));
      const calls = response?.toolCalls?.length ?? 0;
      bodies.push(...(await this.#resultBodies(results, turnId, 'ToolResult', calls)));
    }
    await this.#log.append(turnId, bodies);
  }

  #requestSize(): RequestSize | null {
    const fitter = this.#fitter;
    if (!fitter) return null;
    const makeRoom = (tokens: number) => this.#maintenance.add(() => fitter.makeRoom(tokens));
    return { counter: fitter.counter, inputBudgetTokens: () => fitter.inputBudgetTokens, makeRoom };
  }

  #responseBodies(response: AssistantResponse, sourceEvent: string): TraceBody[] {
    return responseBodies(response, response.messageId ?? newId('msg', this.#clock.nowMs()), sourceEvent);
  }

  /**
   * Makes the context smaller if it is time, and brings the cache up to date. Never rejects: the turn succeeded, and events report
   * what failed.
   */
  async endTurn(): Promise<void> {
    await this.fit().catch(() => null);
    await this.#fitter?.saveSizes().catch(() => {}); // the next usage tells it again
    await this.persistWorkingContextSnapshot();
    this.#recaller?.refresh();
  }

  /**
   * Makes the context small enough for the next request; see `ContextFitter`. Call it before each request. It costs a look at
   * what is new. Nothing happens with a store that only reads, or without compaction.
   * @throws CONTEXT_TOO_LARGE when what must stay is larger than the budget
   */
  async fit(request: FitRequest = {}): Promise<FitReport | null> {
    const fitter = this.#fitter;
    if (!fitter || this.store.readOnly) return null;
    return this.#maintenance.add(() => fitter.fit(request));
  }

  /** What the provider counted as input of the last request: later budgets are corrected by it. */
  async learnUsage(inputTokens: number): Promise<void> {
    await this.#fitter?.learnUsage(inputTokens);
  }

  /**
   * After a model call that failed: where the provider refused it for its length, the size is learned and the context made smaller.
   * True when it is worth asking again. @throws CONTEXT_TOO_LARGE when what must stay is larger than the size
   */
  async fitAfter(thrown: unknown, request: FitRequest = {}): Promise<boolean> {
    const fitter = this.#fitter;
    if (!fitter || this.store.readOnly || !(await fitter.learnRefusal(thrown))) return false;
    return ((await this.fit(request))?.rungs.length ?? 0) > 0;
  }

  /** The first trace of a new agent: its system prompt, durable, so that the agent exists from now on. */
  async begin(systemPrompt: string): Promise<void> {
    await this.#log.append('', [boundaryBody({ kind: 'system', systemPrompt }, 'AgentCreated')]);
  }

  /** The first trace of an agent that begins with a whole context, durable. The context is taken as it is: a restore comes next. */
  async beginWith(base: Omit<Extract<Boundary, { kind: 'base' }>, 'kind'>): Promise<void> {
    await this.#log.append('', [boundaryBody({ kind: 'base', ...base }, 'AgentCreated')]);
  }

  /** For the restore: results of interrupted calls. With a store that only reads they are applied in memory. */
  async closeCalls(results: readonly ToolResultInput[]): Promise<void> {
    for (const [turn, group] of byTurn(results, '')) {
      const bodies = group.map((result) => resultBody(result, 'Restore'));
      await this.#log.appendRepair(turn, bodies);
    }
  }

  /** For the restore: a repair of the list; null where it was taken over repaired. With a store that only reads it is in memory. */
  async repairList(mended: Boundary | null): Promise<void> {
    await (mended ? this.#log.appendRepair('', [boundaryBody(mended, 'Restore')]) : this.#log.flushPending());
  }

  /** Sets the context as a whole: a new epoch. Durable when it resolves. */
  async resetWorkingContextSnapshot(messages: Iterable<Message>, reason = 'host'): Promise<void> {
    const onMended = (repair: MemoryEvents['history_mended']) => this.events.emit('history_mended', repair);
    const boundary = resetBoundary(this.#log.state, messages, reason, this.#clock.nowMs(), onMended);
    await this.#log.append('', [boundaryBody(boundary, 'ContextReset')]);
    await this.persistWorkingContextSnapshot();
  }

  /** Takes over what a restore made. Writes nothing. */
  adopt(restored: RestoredMemory): void {
    this.#log.adopt(restored);
  }

  /** The traces of the last turns, oldest first. */
  async getRawTail(tailTurns: number, excludeTurnId?: string): Promise<Trace[]> {
    return rawTail(await this.store.journal('raw_traces'), tailTurns, excludeTurnId);
  }

  /** The bytes behind a `sha256:` reference; null when they are not here. @throws BLOB_DAMAGED */
  getArtifact(ref: string): Promise<Uint8Array | null> {
    const digest = /^sha256:([0-9a-f]{64})$/.exec(ref)?.[1];
    return digest === undefined ? Promise.resolve(null) : this.blobs.get(digest);
  }

  /** Brings the cache up to date. A failure is an event; null then, and with a store that only reads. */
  persistWorkingContextSnapshot(): Promise<SavedSnapshot | null> {
    return this.#maintenance.add(() => this.#cache.save());
  }

  /**
   * Compacts now, whatever the size. Null when nothing may be taken away.
   * @throws COMPACTION_REFUSED with the context unchanged
   */
  compact(signal?: AbortSignal): Promise<CompactionPlan | null> {
    return this.#maintenance.add(() => this.#compaction.run(signal));
  }

  /** What `compact` would do now. Writes nothing. @throws COMPACTION_REFUSED */
  planCompaction(): Promise<CompactionPlan | null> {
    return this.#compaction.plan();
  }

  /** Waits for saves under way and closes the journals. The lease stays with its owner. */
  async close(): Promise<void> {
    await this.#maintenance.onIdle();
    await this.#recaller?.settled();
    await this.store.close();
  }
}
