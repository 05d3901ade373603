/**
 * The memory of one agent: takes in what is said and done, keeps the working context, and brings its cache up to date.
 *
 * Each ingest is: append the traces (durable when it resolves), then apply them with the reducer. A failed append leaves the
 * context as it was. Ingests may overlap; they share commits and are applied in the order in which they were called.
 */
import PQueue from 'p-queue';
import { type Clock, systemClock } from '../core/clock.js';
import { isRekindleError, messageOf, RekindleError } from '../core/errors.js';
import { TypedEvents } from '../core/events.js';
import { formatTurnId, newId } from '../core/ids.js';
import type { JsonObject } from '../core/json.js';
import { toJsonValue } from '../core/to-json-value.js';
import type { Message, ToolCallSpec } from '../messages/message.js';
import type { AppendResult, JournalHead } from '../storage/ports.js';
import type { CompactionPlan, Compactor } from './compaction/compactor.js';
import { ContextSize } from './compaction/context-size.js';
import type { MemoryEvents } from './memory-events.js';
import {
  type AssistantResponse,
  answerMessageFrom,
  assertCalls,
  type ToolResultInput,
  type UserInput,
  userMessageFrom,
} from './memory-input.js';
import type { EpisodicItem, SemanticItem } from './models/memory-items.js';
import type { Boundary, Trace } from './models/trace.js';
import { traceFromJson, traceToJson } from './models/trace-serializer.js';
import { type MemoryRetriever, Retriever } from './retrieval/retriever.js';
import type { MemoryStore } from './store/memory-store.js';
import type { SnapshotFooter } from './store/snapshot-file.js';
import { ToolCallLedger } from './store/tool-call-ledger.js';
import { type SavedSnapshot, WorkingContextSnapshotStore } from './store/working-context-snapshot-store.js';
import { TurnSequence } from './turn-sequence.js';
import {
  applyTrace,
  emptyMemoryState,
  type Frontier,
  frontierOf,
  type MemoryState,
} from './working-context-reducer.js';

export interface MemoryManagerOptions {
  readonly store: MemoryStore;
  readonly snapshotStore?: WorkingContextSnapshotStore;
  /** Null: never compact. */
  readonly compactor?: Compactor | null;
  readonly retriever?: MemoryRetriever;
  readonly clock?: Clock;
}

/** A state that a restore made, and what it is worth. */
export interface RestoredMemory {
  readonly state: MemoryState;
  /** The last record that the state holds. */
  readonly head: JournalHead;
  /** Traces that the state already holds but the journal does not: written before the next append. */
  readonly pending: readonly Boundary[];
}

/** How old a look at the lease may be for a cache write: a turn has just made one. */
const CACHE_LEASE_AGE_MS = 100;

type TraceBody = Trace extends infer T
  ? T extends Trace
    ? Omit<T, 'id' | 'ts' | 'turnId' | 'seq'>
    : never
  : never;

export class MemoryManager {
  readonly store: MemoryStore;
  readonly snapshotStore: WorkingContextSnapshotStore;
  readonly ledger: ToolCallLedger;
  readonly retriever: MemoryRetriever;
  readonly events = new TypedEvents<MemoryEvents>();
  readonly #compactor: Compactor | null;
  readonly #clock: Clock;
  readonly #size: ContextSize | null;
  /** Saves and compactions, one after the other. */
  readonly #maintenance = new PQueue({ concurrency: 1 });
  readonly #sequence = new TurnSequence();
  #state: MemoryState = emptyMemoryState();
  #head: JournalHead = { seq: 0, cursor: null, crc: null };
  #pending: JsonObject[] = [];
  /** Items of the last compaction that are not in their journals yet. */
  #unwritten: { episodic: readonly EpisodicItem[]; semantic: readonly SemanticItem[] } = {
    episodic: [],
    semantic: [],
  };
  #flushing: Promise<void> | null = null;
  #saySoftStop = true;

  constructor(options: MemoryManagerOptions) {
    this.store = options.store;
    this.snapshotStore =
      options.snapshotStore ?? new WorkingContextSnapshotStore(options.store.backend, options.store.agentId);
    this.#compactor = options.compactor ?? null;
    this.#size = this.#compactor ? new ContextSize(this.#compactor.counter) : null;
    this.retriever = options.retriever ?? new Retriever(options.store);
    this.#clock = options.clock ?? systemClock;
    this.ledger = new ToolCallLedger(
      () => options.store.journal('pending_calls'),
      () => this.#clock.nowMs(),
    );
  }

  get agentId(): string {
    return this.store.agentId;
  }

  get epochId(): number {
    return this.#state.snapshot.epochId;
  }

  get lastCompactionTs(): number | null {
    return this.#state.snapshot.lastCompactionTs;
  }

  get frontier(): Frontier {
    return frontierOf(this.#state.snapshot);
  }

  /** The number of the last turn that was started. */
  get lastTurn(): number {
    return this.#state.lastTurn;
  }

  /** A copy of the list that the model gets next. */
  getWorkingContextMessages(): Message[] {
    return this.#state.snapshot.buildMessages();
  }

  openCalls(): ReturnType<MemoryState['snapshot']['openCalls']> {
    return this.#state.snapshot.openCalls();
  }

  /** The id of a new turn; turn ids are never used again, also after a restore. */
  startTurn(): string {
    this.#state.lastTurn += 1;
    return formatTurnId(this.#state.lastTurn);
  }

  /** Durable before the model is called. @throws MESSAGE_INVALID, and what `Journal.append` throws */
  async ingestUserMessage(
    input: UserInput | string,
    turnId: string,
    sourceEvent = 'UserMessage',
  ): Promise<void> {
    const message = await userMessageFrom(
      input,
      this.store.backend.blobs(['agents', this.agentId, 'artifacts']),
    );
    await this.#ingest(turnId, [{ type: 'user', message, sourceEvent }]);
  }

  /** Calls of one response, durable before a tool starts. Calls under one `messageId` become one message. */
  async ingestToolIntents(calls: readonly ToolCallSpec[], turnId: string, messageId?: string): Promise<void> {
    assertCalls(calls);
    await this.#ingest(turnId, callTraces(calls, messageId));
  }

  /** Results, durable before the model sees them. */
  async ingestToolResults(
    results: readonly ToolResultInput[],
    turnId: string,
    sourceEvent = 'ToolResult',
  ): Promise<void> {
    for (const [turn, group] of groupBy(results, (result) => result.turnId ?? turnId)) {
      await this.#ingest(
        turn,
        group.map((result) => resultTrace(result, sourceEvent)),
      );
    }
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
    const calls = response.toolCalls ?? [];
    assertCalls(calls);
    const messageId = response.messageId ?? newId('msg', this.#clock.nowMs());
    const message = answerMessageFrom(response, messageId);
    const said: TraceBody[] = message ? [{ type: 'assistant', message, sourceEvent }] : [];
    await this.#ingest(turnId, [...said, ...callTraces(calls, messageId)]);
    if (response.final ?? calls.length === 0) await this.endTurn();
  }

  /** Compacts if it is time, and brings the cache up to date. Never rejects: both are no part of the turn's success. */
  async endTurn(): Promise<void> {
    await this.compactIfNeeded();
    await this.persistWorkingContextSnapshot();
  }

  /** The first trace of a new agent: its system prompt, durable, so that the agent exists from now on. */
  async begin(systemPrompt: string): Promise<void> {
    const boundary: Boundary = { kind: 'system', systemPrompt };
    await this.#ingest('', [{ type: 'boundary', boundary, sourceEvent: 'AgentCreated' }]);
  }

  /** For the restore: results of interrupted calls. With a store that only reads they are applied in memory. */
  async closeCalls(results: readonly ToolResultInput[]): Promise<void> {
    for (const [turn, group] of groupBy(results, (result) => result.turnId ?? '')) {
      await this.#ingestRepair(
        turn,
        group.map((result) => resultTrace(result, 'Restore')),
      );
    }
  }

  /** For the restore: a repair of the list. With a store that only reads it is applied in memory. */
  async repairList(boundary: Boundary): Promise<void> {
    await this.#ingestRepair('', [{ type: 'boundary', boundary, sourceEvent: 'Restore' }]);
  }

  async #ingestRepair(turnId: string, bodies: readonly TraceBody[]): Promise<void> {
    if (this.store.readOnly) for (const body of bodies) this.#apply(this.#rowFor(turnId, body));
    else await this.#ingest(turnId, bodies);
  }

  /** Sets the context as a whole: a new epoch. Durable when it resolves. */
  async resetWorkingContextSnapshot(messages: Iterable<Message>, reason = 'host'): Promise<void> {
    const { snapshot } = this.#state;
    const boundary: Boundary = {
      kind: 'base',
      reason,
      messages: [...messages],
      epochId: snapshot.epochId + 1,
      lastCompactionTs: this.#clock.nowMs() / 1000,
      lastTurn: this.#state.lastTurn,
    };
    await this.#ingest('', [{ type: 'boundary', boundary, sourceEvent: 'ContextReset' }]);
    await this.persistWorkingContextSnapshot();
  }

  /** Takes over what a restore made. Writes nothing. */
  adopt(restored: RestoredMemory): void {
    this.#state = restored.state;
    this.#head = restored.head;
    this.#pending = restored.pending.map((boundary) =>
      this.#rowFor('', { type: 'boundary', boundary, sourceEvent: 'Restore' }),
    );
  }

  /** The traces of the last turns, oldest first. */
  async getRawTail(tailTurns: number, excludeTurnId?: string): Promise<Trace[]> {
    const tail: Trace[] = [];
    const turns = new Set<string>();
    for await (const entry of (await this.store.journal('raw_traces')).readBackward()) {
      if (entry.kind !== 'record') continue;
      const trace = tryTrace(entry.record);
      if (!trace || trace.turnId === '' || trace.turnId === excludeTurnId) continue;
      if (!turns.has(trace.turnId) && turns.size === tailTurns) break;
      turns.add(trace.turnId);
      tail.push(trace);
    }
    return tail.reverse();
  }

  /** The bytes behind a `sha256:` reference; null when they are not here. @throws BLOB_DAMAGED */
  getArtifact(ref: string): Promise<Uint8Array | null> {
    const digest = /^sha256:([0-9a-f]{64})$/.exec(ref)?.[1];
    if (digest === undefined) return Promise.resolve(null);
    return this.store.backend.blobs(['agents', this.agentId, 'artifacts']).get(digest);
  }

  /** Brings the cache up to date. A failure is an event; null then, and with a store that only reads. */
  persistWorkingContextSnapshot(): Promise<SavedSnapshot | null> {
    return this.#maintenance.add(() => this.#save());
  }

  async #save(): Promise<SavedSnapshot | null> {
    if (this.store.readOnly) return null;
    try {
      await this.#flushPending();
      await this.#flushItems(); // a cache that covers the compaction would hide from a restore that they are missing
      await this.store.lease?.check({ maxAgeMs: CACHE_LEASE_AGE_MS }); // a fenced writer must not touch the successor's cache
      const saved = await this.snapshotStore.save(this.#state.snapshot, this.#footer());
      this.events.emit('snapshot_saved', saved);
      return saved;
    } catch (thrown) {
      this.events.emit('snapshot_failed', { error: asRekindleError(thrown) });
      return null;
    }
  }

  #footer(): SnapshotFooter {
    const { snapshot, lastTurn, turnId, turnSeq, compactionFailures } = this.#state;
    const { epochId, lastCompactionTs } = snapshot;
    const { seq, crc, cursor } = this.#head;
    return {
      epochId,
      lastCompactionTs,
      coversSeq: seq,
      coversCrc: crc,
      cursor,
      lastTurn,
      turnId,
      turnSeq,
      compactionFailures,
    };
  }

  /** Compacts when the policy says so. Refusals are counted and told as events; after several in a row it stops. */
  async compactIfNeeded(): Promise<void> {
    const compactor = this.#compactor;
    if (!compactor || !this.#size) return;
    const { policy } = compactor;
    try {
      const tokens = await this.#size.tokensNear(this.#state.snapshot.messages, policy.triggerTokens);
      if (tokens === null || !policy.shouldCompact(tokens)) return;
      if (this.#state.compactionFailures >= policy.failuresMax) {
        if (this.#saySoftStop)
          this.events.emit('compaction_stopped', { failures: this.#state.compactionFailures });
        this.#saySoftStop = false;
        return;
      }
      await this.compact();
    } catch {
      // Told as an event; the turn itself succeeded.
    }
  }

  /**
   * Compacts now, whatever the size. Null when nothing may be taken away.
   * @throws COMPACTION_REFUSED with the context unchanged
   */
  compact(signal?: AbortSignal): Promise<CompactionPlan | null> {
    return this.#maintenance.add(() => this.#compact(signal));
  }

  async #compact(signal: AbortSignal | undefined): Promise<CompactionPlan | null> {
    if (!this.#compactor) {
      throw new RekindleError('COMPACTION_REFUSED', 'This agent has no compactor.', {
        details: { reason: 'no-compactor' },
      });
    }
    await this.#flushPending();
    await this.#flushItems();
    const { seq } = this.#head;
    const messages = this.#state.snapshot.buildMessages();
    try {
      const plan = await this.#compactor.plan({
        messages,
        ts: this.#clock.nowMs() / 1000,
        newId: (prefix) => newId(prefix, this.#clock.nowMs()),
        ...(signal ? { signal } : {}),
      });
      if (plan) await this.#applyPlan(plan, messages, seq);
      return plan;
    } catch (thrown) {
      if (!signal?.aborted) await this.#countRefusal(thrown);
      throw thrown;
    }
  }

  /** The record first: from here on every crash restores the new epoch. Items and cache follow, and can be redone from it. */
  async #applyPlan(plan: CompactionPlan, before: readonly Message[], seq: number): Promise<void> {
    const system = before.filter((message) => message.role === 'system');
    const body: TraceBody = {
      type: 'compaction',
      sourceEvent: 'Compaction',
      epochId: this.epochId + 1,
      lastCompactionTs: this.#clock.nowMs() / 1000,
      messages: [...system, ...plan.messages],
      episodic: [plan.episodic],
      semantic: plan.semantic,
      lastTurn: this.#state.lastTurn,
    };
    await this.#append([this.#rowFor('', body)], seq);
    this.#saySoftStop = true;
    this.#unwritten = { episodic: [plan.episodic], semantic: plan.semantic };
    await this.#save();
    const { tokensBefore, tokensAfter, turnIds } = plan;
    this.events.emit('compacted', { epochId: this.epochId, tokensBefore, tokensAfter, turnIds });
    if (!this.#state.snapshot.hasOpenCalls) await this.ledger.archive();
  }

  async #flushItems(): Promise<void> {
    const { episodic, semantic } = this.#unwritten;
    await this.store.addEpisodic(episodic);
    this.#unwritten = { episodic: [], semantic };
    await this.store.addSemantic(semantic);
    this.#unwritten = { episodic: [], semantic: [] };
  }

  async #countRefusal(thrown: unknown): Promise<void> {
    if (!isRekindleError(thrown, 'COMPACTION_REFUSED')) return;
    const reason = String(thrown.details['reason'] ?? 'refused');
    const boundary: Boundary = { kind: 'compaction_failed', reason };
    await this.#ingest('', [{ type: 'boundary', boundary, sourceEvent: 'Compaction' }]);
    this.events.emit('compaction_refused', {
      reason,
      message: thrown.message,
      failures: this.#state.compactionFailures,
    });
  }

  async #ingest(turnId: string, bodies: readonly TraceBody[]): Promise<void> {
    if (bodies.length === 0) return;
    const rows = bodies.map((body) => this.#rowFor(turnId, body));
    if (this.#pending.length > 0 || this.#flushing) await this.#flushPending();
    await this.#append(rows);
  }

  /** A row in JSON normal form: what is applied now equals what a restore reads later. */
  #rowFor(turnId: string, body: TraceBody): JsonObject {
    const nowMs = this.#clock.nowMs();
    const seq = this.#sequence.next(turnId, this.#state);
    const trace = { id: newId('rt', nowMs), ts: nowMs / 1000, turnId, seq, ...body } as Trace;
    return toJsonValue(traceToJson(trace)).value as JsonObject;
  }

  async #append(rows: readonly JsonObject[], expectedSeq?: number): Promise<void> {
    const result: AppendResult = await this.store.addTraces(rows, expectedSeq);
    this.#head = { seq: result.seq, cursor: result.cursor, crc: result.crc };
    for (const row of rows) this.#apply(row);
  }

  #apply(row: JsonObject): void {
    const trace = traceFromJson(row);
    const placement = applyTrace(this.#state, trace);
    if ((placement === 'duplicate' || placement === 'orphan') && trace.type === 'tool_result') {
      this.events.emit('result_ignored', { callId: trace.result.toolCallId, placement });
    }
  }

  /** Writes what a restore left for the first append: alone and before everything else, so that it cannot come after it. */
  async #flushPending(): Promise<void> {
    if (this.#flushing) return this.#flushing;
    if (this.#pending.length === 0 || this.store.readOnly) return;
    const rows = this.#pending;
    this.#flushing = this.store
      .addTraces(rows)
      .then((result) => {
        this.#pending = [];
        this.#head = { seq: result.seq, cursor: result.cursor, crc: result.crc };
      })
      .finally(() => {
        this.#flushing = null;
      });
    return this.#flushing;
  }

  /** Waits for saves under way and closes the journals. The lease stays with its owner. */
  async close(): Promise<void> {
    await this.#maintenance.onIdle();
    await this.store.close();
  }
}

function callTraces(calls: readonly ToolCallSpec[], messageId: string | undefined): TraceBody[] {
  return calls.map((call) => ({
    type: 'tool_call',
    call,
    sourceEvent: 'ToolCall',
    ...(messageId === undefined ? {} : { messageId }),
  }));
}

function resultTrace(input: ToolResultInput, sourceEvent: string): TraceBody {
  const error = input.error ?? null;
  const toolResult = error === null ? toJsonValue(input.result).value : null;
  return {
    type: 'tool_result',
    result: { toolCallId: input.callId, toolName: input.toolName, toolResult, toolError: error },
    sourceEvent,
    ...(input.parts ? { parts: input.parts } : {}),
    ...(input.synthetic ? { synthetic: true } : {}),
  };
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

function tryTrace(row: JsonObject): Trace | null {
  try {
    return traceFromJson(row);
  } catch {
    return null;
  }
}

function asRekindleError(thrown: unknown): RekindleError {
  if (isRekindleError(thrown)) return thrown;
  return new RekindleError('STORAGE_FAILED', messageOf(thrown), { cause: thrown });
}
