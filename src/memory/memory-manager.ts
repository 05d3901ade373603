/**
 * The memory of one agent: records messages, calls and results, maintains the working context, and updates its cache.
 *
 * Everything recorded is durable when the call resolves; see `TraceLog`. Saves of the cache and compactions run one at
 * a time. Their failures are events and do not fail the turn.
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
import { ResultIngestion } from './result-ingestion.js';
import { type MemoryRetriever, Retriever } from './retrieval/retriever.js';
import { AnswerParts } from './store/answer-parts.js';
import type { MemoryStore } from './store/memory-store.js';
import { ToolCallLedger } from './store/tool-call-ledger.js';
import { type SavedSnapshot, WorkingContextSnapshotStore } from './store/working-context-snapshot-store.js';
import {
  boundaryBody,
  byTurn,
  callBodies,
  responseBodies,
  resultBody,
  type TraceBody,
} from './trace-bodies.js';
import { type RestoredMemory, TraceLog } from './trace-log.js';
import { type Frontier, frontierOf } from './working-context-reducer.js';
import type { ContextView, OpenCall } from './working-context-snapshot.js';

/** The parts of a `MemoryManager`. Use `openMemory` unless you need to replace one. */
export interface MemoryManagerOptions {
  readonly store: MemoryStore;
  readonly snapshotStore?: WorkingContextSnapshotStore;
  /** Null: never compact. */
  readonly compactor?: Compactor | null;
  readonly retriever?: MemoryRetriever;
  /** Null: no automatic recall. */
  readonly recall?: RecallOptions | null;
  readonly clock?: Clock;
}

type UserFields = { readonly sourceEvent: string; readonly inputId?: string };

/** Records an agent's conversation and maintains its working context. `openMemory` opens one. */
export class MemoryManager {
  readonly store: MemoryStore;
  readonly snapshotStore: WorkingContextSnapshotStore;
  readonly ledger: ToolCallLedger;
  /** Answers that are read while the model writes them. */
  readonly answerParts: AnswerParts;
  readonly retriever: MemoryRetriever;
  readonly facts: Facts;
  /** As it was given; null: no automatic recall. */
  readonly recall: RecallOptions | null;
  /** Turns that stay verbatim, by the compaction policy. */
  readonly rawTailTurns: number;
  readonly events = new TypedEvents<MemoryEvents>();
  readonly #clock: Clock;
  readonly #log: TraceLog;
  readonly #compaction: CompactionRunner;
  readonly #cache: CacheWriter;
  /** Null if the context is never reduced. */
  readonly #fitter: ContextFitter | null;
  readonly #results: ResultIngestion;
  readonly #recaller: Recaller | null;
  /** Serializes saves and compactions. */
  readonly #maintenance = new PQueue({ concurrency: 1 });

  constructor(options: MemoryManagerOptions) {
    const { store, compactor = null } = options;
    this.store = store;
    this.snapshotStore =
      options.snapshotStore ?? new WorkingContextSnapshotStore(store.backend, store.agentId);
    this.retriever = options.retriever ?? new Retriever(store);
    this.rawTailTurns = compactor?.policy.rawTailTurns ?? RAW_TAIL_TURNS;
    this.recall = options.recall === undefined ? {} : options.recall;
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
    this.answerParts = new AnswerParts(this.#log, store, this.#clock);
    const shared = { log: this.#log, store, events: this.events, clock: this.#clock };
    const saveCache = () => this.#cache.save();
    const flushItems = () => this.#compaction.flushItems();
    this.#compaction = new CompactionRunner({ ...shared, ledger: this.ledger, compactor, saveCache });
    this.#cache = new CacheWriter({ ...shared, snapshotStore: this.snapshotStore, flushItems });
    this.#fitter = compactor && new ContextFitter({ ...shared, compactor, compaction: this.#compaction });
    this.#results = new ResultIngestion(this.#log, store, this.#fitter);
    this.#recaller = recallerFor(shared, this.#requestSize(), this.recall);
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

  /** The store of its artifacts. */
  get blobs(): Blobs {
    return this.store.artifacts;
  }

  /** The number of the last started turn. */
  get lastTurn(): number {
    return this.#log.state.lastTurn;
  }

  /** The context itself, without a copy. Do not change it. */
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

  /** The id of a new turn. Turn ids are never reused, even after a restore. */
  startTurn(): string {
    return formatTurnId(++this.#log.state.lastTurn);
  }

  /**
   * Durable before the model is called, in one commit with what is recalled for it. @throws MESSAGE_INVALID, and what
   * `Journal.append` throws
   */
  async ingestUserMessage(
    input: UserInput | string,
    turnId: string,
    sourceEvent = 'UserMessage',
  ): Promise<void> {
    this.store.assertWritable(); // before media become artifacts
    await this.#ingestUser(await userMessageFrom(input, this.blobs), turnId, { sourceEvent });
  }

  /** As `ingestUserMessage`, for a message of the queue of inputs. Its trace has the input's id. */
  ingestQueuedInput(message: Message, turnId: string, inputId: string): Promise<void> {
    return this.#ingestUser(message, turnId, { sourceEvent: 'UserMessage', inputId });
  }

  async #ingestUser(message: Message, turnId: string, fields: UserFields): Promise<void> {
    const recalled = (await this.#recaller?.before(message, turnId)) ?? [];
    await this.#log.append(turnId, [...recalled, { type: 'user', message, ...fields }]);
  }

  /** Calls of one response, durable before a tool starts. Calls under one `messageId` become one message. */
  async ingestToolIntents(calls: readonly ToolCallSpec[], turnId: string, messageId?: string): Promise<void> {
    assertCalls(calls);
    await this.#log.append(turnId, callBodies(calls, messageId));
  }

  /**
   * Results, durable before the model sees them. A result that exceeds its share of the input budget becomes an
   * artifact; the context holds its head, its tail, and how to read the rest. Returns the results as recorded, by turn.
   */
  ingestToolResults(
    results: readonly ToolResultInput[],
    turnId: string,
    sourceEvent = 'ToolResult',
  ): Promise<readonly ToolResultPayload[]> {
    return this.#results.ingest(results, turnId, sourceEvent);
  }

  /**
   * A model response: its text and its calls in one commit. A final answer (by default: one without calls) ends the
   * turn and updates the cache. Durable when it resolves.
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
   * Responses, each with results of its calls, in one atomic commit. Durable when it resolves. Ends no turn.
   * @throws MESSAGE_INVALID, and what `Journal.append` throws
   */
  async ingestResponses(responses: readonly AnsweredResponse[], turnId: string): Promise<void> {
    const bodies: TraceBody[] = [];
    for (const { response, results } of responses) {
      if (response) bodies.push(...this.#responseBodies(response, 'ModelResponse'));
      const calls = response?.toolCalls?.length ?? 0;
      bodies.push(...(await this.#results.bodies(results, turnId, 'ToolResult', calls)));
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

  /** Reduces the context if needed and updates the cache. Never rejects, because the turn succeeded; events report failures. */
  async endTurn(): Promise<void> {
    await this.fit().catch(() => null);
    await this.#fitter?.saveSizes().catch(() => {}); // the next usage report repeats it
    await this.persistWorkingContextSnapshot();
    await this.answerParts.removeOld().catch(() => {}); // a later turn removes them
    this.#recaller?.refresh();
  }

  /**
   * Makes the context small enough for the next request; see `ContextFitter`. Call it before each request; it looks
   * only at new messages. Does nothing in a read-only store, or without compaction.
   * @throws CONTEXT_TOO_LARGE if what must stay exceeds the budget
   */
  async fit(request: FitRequest = {}): Promise<FitReport | null> {
    const fitter = this.#fitter;
    if (!fitter || this.store.readOnly) return null;
    return this.#maintenance.add(() => fitter.fit(request));
  }

  /** The provider's count of the last request's input tokens, which corrects later budgets. */
  async learnUsage(inputTokens: number): Promise<void> {
    await this.#fitter?.learnUsage(inputTokens);
  }

  /**
   * Call after a failed model call. If the provider refused the request because of its length, the size is learned and
   * the context is reduced. True if a retry makes sense. @throws CONTEXT_TOO_LARGE if what must stay exceeds that size
   */
  async fitAfter(thrown: unknown, request: FitRequest = {}): Promise<boolean> {
    const fitter = this.#fitter;
    if (!fitter || this.store.readOnly || !(await fitter.learnRefusal(thrown))) return false;
    return ((await this.fit(request))?.rungs.length ?? 0) > 0;
  }

  /** Writes the first trace of a new agent: its system prompt. Durable; the agent exists from now on. */
  async begin(systemPrompt: string): Promise<void> {
    await this.#log.append('', [boundaryBody({ kind: 'system', systemPrompt }, 'AgentCreated')]);
  }

  /** Writes the first trace of an agent that starts with a whole context. Durable. A restore follows and checks the context. */
  async beginWith(base: Omit<Extract<Boundary, { kind: 'base' }>, 'kind'>): Promise<void> {
    await this.#log.append('', [boundaryBody({ kind: 'base', ...base }, 'AgentCreated')]);
  }

  /** For the restore: records results of interrupted calls. In a read-only store they are applied in memory only. */
  async closeCalls(results: readonly ToolResultInput[]): Promise<void> {
    for (const [turn, group] of byTurn(results, '')) {
      const bodies = group.map((result) => resultBody(result, 'Restore'));
      await this.#log.appendRepair(turn, bodies);
    }
  }

  /** For the restore: records a repair of the list; null if it was already repaired. In a read-only store only in memory. */
  async repairList(mended: Boundary | null): Promise<void> {
    await (mended ? this.#log.appendRepair('', [boundaryBody(mended, 'Restore')]) : this.#log.flushPending());
  }

  /** Replaces the whole context: a new epoch. Durable when it resolves. */
  async resetWorkingContextSnapshot(messages: Iterable<Message>, reason = 'host'): Promise<void> {
    const onMended = (repair: MemoryEvents['history_mended']) => this.events.emit('history_mended', repair);
    const boundary = resetBoundary(this.#log.state, messages, reason, this.#clock.nowMs(), onMended);
    await this.#log.append('', [boundaryBody(boundary, 'ContextReset')]);
    await this.persistWorkingContextSnapshot();
  }

  /** Takes over a restored state. Writes nothing. */
  adopt(restored: RestoredMemory): void {
    this.#log.adopt(restored);
  }

  /** The traces of the last turns, oldest first. */
  async getRawTail(tailTurns: number, excludeTurnId?: string): Promise<Trace[]> {
    return rawTail(await this.store.journal('raw_traces'), tailTurns, excludeTurnId);
  }

  /** The bytes of a `sha256:` reference; null if they are not stored. @throws BLOB_DAMAGED */
  getArtifact(ref: string): Promise<Uint8Array | null> {
    const digest = /^sha256:([0-9a-f]{64})$/.exec(ref)?.[1];
    return digest === undefined ? Promise.resolve(null) : this.blobs.get(digest);
  }

  /** Updates the cache. Returns null after a failure, which is reported as an event, and in a read-only store. */
  persistWorkingContextSnapshot(): Promise<SavedSnapshot | null> {
    return this.#maintenance.add(() => this.#cache.save());
  }

  /**
   * Compacts now, whatever the size. Null if nothing may be removed.
   * @throws COMPACTION_REFUSED with the context unchanged
   */
  compact(signal?: AbortSignal): Promise<CompactionPlan | null> {
    return this.#maintenance.add(() => this.#compaction.run(signal));
  }

  /** What `compact` would do now. Writes nothing. @throws COMPACTION_REFUSED */
  planCompaction(): Promise<CompactionPlan | null> {
    return this.#compaction.plan();
  }

  /** Waits for running saves and closes the journals. Does not release the lease. */
  async close(): Promise<void> {
    await this.#maintenance.onIdle();
    await this.#recaller?.close();
    await this.store.close();
  }
}
