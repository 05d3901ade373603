/**
 * Runs compactions crash-safely: first the record that holds everything, then the long-term items, then the cache.
 *
 * A crash at any point restores either the old or the new epoch. Failures are counted in the journal, so that automatic
 * compaction stops after several in a row, even across restarts.
 */
import type { Clock } from '../../core/clock.js';
import { isRekindleError, RekindleError } from '../../core/errors.js';
import type { TypedEvents } from '../../core/events.js';
import { newId } from '../../core/ids.js';
import type { Message } from '../../messages/message.js';
import { settleFacts } from '../facts/fact-traces.js';
import { shrinkingTo } from '../fit/shrinkable.js';
import type { MemoryEvents } from '../memory-events.js';
import type { EpisodicItem, SemanticItem } from '../models/memory-items.js';
import type { MemoryStore } from '../store/memory-store.js';
import type { ToolCallLedger } from '../store/tool-call-ledger.js';
import { boundaryBody } from '../trace-bodies.js';
import type { TraceLog } from '../trace-log.js';
import type { CompactionPlan, Compactor, PlanContext } from './compactor.js';

export interface CompactionRunnerOptions {
  readonly log: TraceLog;
  readonly store: MemoryStore;
  readonly ledger: ToolCallLedger;
  readonly events: TypedEvents<MemoryEvents>;
  readonly clock: Clock;
  /** Null: never compact. */
  readonly compactor: Compactor | null;
  readonly saveCache: () => Promise<unknown>;
}

/**
 * For a compaction that a request needs: the size that the context may have afterwards. If omitted, the policy's last
 * turns stay.
 */
type RoomInit = Pick<PlanContext, 'roomTokens' | 'isOffline'>;

export class CompactionRunner {
  readonly #options: CompactionRunnerOptions;
  /** Items of the last compaction that are not yet in their journals. */
  #episodic: readonly EpisodicItem[] = [];
  #semantic: readonly SemanticItem[] = [];
  #toldOfStop = false;

  constructor(options: CompactionRunnerOptions) {
    this.#options = options;
  }

  /** Automatic compaction stops after too many consecutive failures, and reports it once. */
  hasStopped(): boolean {
    const { compactor, log, events } = this.#options;
    const failures = log.state.compactionFailures;
    if (!compactor || failures < compactor.policy.failuresMax) return false;
    if (!this.#toldOfStop) events.emit('compaction_stopped', { failures });
    this.#toldOfStop = true;
    return true;
  }

  /** @throws COMPACTION_REFUSED, with the context unchanged */
  run(signal: AbortSignal | undefined, room: RoomInit = {}): Promise<CompactionPlan | null> {
    const { backend, agentId } = this.#options.store;
    const { telemetry } = backend;
    if (!telemetry) return this.#run(signal, room);
    const init = { operation: 'compact', attributes: { 'gen_ai.agent.id': agentId } } as const;
    return telemetry.measure(init, async (span) => {
      const plan = await this.#run(signal, room);
      if (plan) {
        const { tokensBefore, tokensAfter } = plan;
        span?.setAttributes({ 'rekindle.tokens.before': tokensBefore, 'rekindle.tokens.after': tokensAfter });
      }
      return plan;
    });
  }

  async #run(signal: AbortSignal | undefined, room: RoomInit): Promise<CompactionPlan | null> {
    const { log } = this.#options;
    const compactor = this.#compactor();
    await log.flushPending();
    await this.flushItems();
    const { seq } = log.head;
    const messages = log.state.snapshot.buildMessages();
    try {
      const context = this.#planContext(messages, signal, room);
      const plan = await compactor.plan({
        ...context,
        shrinking: shrinkingTo(this.#options.store.artifacts),
      });
      if (plan) await this.#apply(plan, messages, seq);
      return plan;
    } catch (thrown) {
      if (!signal?.aborted && !room.isOffline) await this.#countRefusal(thrown);
      throw thrown;
    }
  }

  /** What `run` would do now. Writes nothing. @throws COMPACTION_REFUSED */
  async plan(): Promise<CompactionPlan | null> {
    const messages = this.#options.log.state.snapshot.buildMessages();
    return this.#compactor().plan(this.#planContext(messages, undefined, {}));
  }

  #compactor(): Compactor {
    const { compactor } = this.#options;
    if (compactor) return compactor;
    throw new RekindleError('COMPACTION_REFUSED', 'This agent has no compactor.', {
      details: { reason: 'no-compactor' },
    });
  }

  #planContext(messages: readonly Message[], signal: AbortSignal | undefined, room: RoomInit): PlanContext {
    const { clock, store } = this.#options;
    return {
      messages,
      settleFacts: (items) => settleFacts(store, items),
      ts: clock.nowMs() / 1000,
      newId: (prefix) => newId(prefix, clock.nowMs()),
      ...room,
      ...(signal ? { signal } : {}),
    };
  }

  /** Writes the record first, and only if nothing was recorded meanwhile: from here on every crash restores the new epoch. */
  async #apply(plan: CompactionPlan, before: readonly Message[], seq: number): Promise<void> {
    const { log, ledger, events, clock, saveCache } = this.#options;
    const { snapshot, lastTurn } = log.state;
    const record = {
      type: 'compaction' as const,
      sourceEvent: 'Compaction',
      epochId: snapshot.epochId + 1,
      lastCompactionTs: clock.nowMs() / 1000,
      messages: [...before.filter((message) => message.role === 'system'), ...plan.messages],
      episodic: [plan.episodic],
      semantic: plan.semantic,
      lastTurn,
    };
    const first = before.findIndex((message, index) => message !== record.messages[index]);
    const tokensLost = await this.#compactor().counter.countMessages(before.slice(first));
    await log.append('', [record], seq);
    this.#toldOfStop = false;
    this.#episodic = [plan.episodic];
    this.#semantic = plan.semantic;
    await saveCache();
    const { tokensBefore, tokensAfter, turnIds } = plan;
    events.emit('compacted', { epochId: record.epochId, tokensBefore, tokensAfter, tokensLost, turnIds });
    if (!snapshot.hasOpenCalls) await ledger.archive();
  }

  /**
   * Writes items that are missing in their journals. Must run before a cache is saved: a cache that covers the record
   * would hide that they are missing.
   */
  async flushItems(): Promise<void> {
    await this.#options.store.addEpisodic(this.#episodic);
    this.#episodic = [];
    await this.#options.store.addSemantic(this.#semantic);
    this.#semantic = [];
  }

  async #countRefusal(thrown: unknown): Promise<void> {
    if (!isRekindleError(thrown, 'COMPACTION_REFUSED')) return;
    const { log, events } = this.#options;
    const reason = String(thrown.details['reason'] ?? 'refused');
    await log.append('', [boundaryBody({ kind: 'compaction_failed', reason }, 'Compaction')]);
    const failures = log.state.compactionFailures;
    events.emit('compaction_refused', { reason, message: thrown.message, failures });
  }
}
