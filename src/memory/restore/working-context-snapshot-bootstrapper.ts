/**
 * The restore strategy: cache first, otherwise rebuild; then close interrupted calls and make the list legal.
 *
 * It runs no tool and calls no model. On a clean folder it writes nothing. Repairs are appended to the journal, so the
 * next restore needs none. Epoch and time of the last compaction do not change. In a read-only store nothing is
 * written, and repairs are made in memory.
 */
import { RekindleError } from '../../core/errors.js';
import { abortedTurns, unfinishedCalls } from '../../messages/legality/aborted-turns.js';
import { repairHistory } from '../../messages/legality/history.js';
import type { Repair } from '../../messages/legality/repairs.js';
import { isBlankMessage, type Message } from '../../messages/message.js';
import { roughTokens } from '../compaction/token-counter.js';
import { erasedRecords } from '../erasure/erased-records.js';
import type { MemoryManager } from '../memory-manager.js';
import type { Boundary } from '../models/trace.js';
import { recallsIn } from '../recall/recall-report.js';
import { frontierOf, type MemoryState, setSystemPrompt, systemPromptOf } from '../working-context-reducer.js';
import { closeInterruptedCalls, ledgerCall } from './close-interrupted-calls.js';
import { keepCutOffAnswers } from './keep-cut-off-answers.js';
import { type LoadedState, loadState } from './load-state.js';
import type { DamageReport, InterruptedCall, RestoreReport } from './restore-report.js';
import { toDamageReport } from './trace-replay.js';

/** Options of a restore, as a plain object. An instance of `WorkingContextSnapshotBootstrapOptions` is one, too. */
export interface WorkingContextSnapshotBootstrapOptionsInit {
  /** Maximum items that a rebuild without a compaction record includes. Defaults 3 and 20. */
  readonly maxEpisodic?: number;
  readonly maxSemantic?: number;
  /** Turns that are restored verbatim even if an item covers them. Default: the compaction policy's, which is 4. */
  readonly rawTailTurns?: number | null;
  /** Leave calls that wait for an approval or a client's result open. Default true; false closes them. */
  readonly keepPendingApprovals?: boolean;
  /** Rebuild from the journals even if the cache is good; the next save rewrites it. Default false. */
  readonly ignoreCache?: boolean;
}

/** Restore options with their defaults. */
export class WorkingContextSnapshotBootstrapOptions {
  readonly maxEpisodic: number;
  readonly maxSemantic: number;
  readonly rawTailTurns: number | null;
  readonly keepPendingApprovals: boolean;
  readonly ignoreCache: boolean;

  constructor(init: WorkingContextSnapshotBootstrapOptionsInit = {}) {
    this.maxEpisodic = init.maxEpisodic ?? 3;
    this.maxSemantic = init.maxSemantic ?? 20;
    this.rawTailTurns = init.rawTailTurns ?? null;
    this.keepPendingApprovals = init.keepPendingApprovals ?? true;
    this.ignoreCache = init.ignoreCache ?? false;
  }
}

/** Restores the working context of an agent. */
export class WorkingContextSnapshotBootstrapper {
  /**
   * Restores the context into `memory`, and reports what was done. Repairs are durable when it resolves.
   * ```ts
   * const report = await new WorkingContextSnapshotBootstrapper().bootstrap(memory, 'Be kind.', { maxEpisodic: 3 });
   * ```
   * @param givenPrompt the current one; null keeps the agent's own
   * @param given what is left out has its default
   * @throws CONTEXT_BLANK, and what the journal throws
   */
  bootstrap(
    memory: MemoryManager,
    givenPrompt: string | null,
    given: WorkingContextSnapshotBootstrapOptionsInit = {},
  ): Promise<RestoreReport> {
    const { telemetry } = memory.store.backend;
    if (!telemetry) return this.#bootstrap(memory, givenPrompt, given);
    const init = { operation: 'restore', attributes: { 'gen_ai.agent.id': memory.agentId } } as const;
    return telemetry.measure(init, async (span) => {
      const report = await this.#bootstrap(memory, givenPrompt, given);
      span?.setAttributes({ 'rekindle.source': report.source, 'rekindle.messages': report.messages });
      return report;
    });
  }

  async #bootstrap(
    memory: MemoryManager,
    givenPrompt: string | null,
    given: WorkingContextSnapshotBootstrapOptionsInit,
  ): Promise<RestoreReport> {
    const start = performance.now();
    const options = new WorkingContextSnapshotBootstrapOptions(given);
    const { redactor } = memory.store.backend;
    const systemPrompt = givenPrompt === null ? null : (redactor?.text(givenPrompt) ?? givenPrompt);
    const loaded = await loadState(memory, {
      maxEpisodic: options.maxEpisodic,
      maxSemantic: options.maxSemantic,
      rawTailTurns: options.rawTailTurns ?? memory.rawTailTurns,
      systemPrompt,
      ignoreCache: options.ignoreCache,
    });
    const tracesAt = performance.now();
    const { state } = loaded.replay;
    const frontier = frontierOf(state.snapshot);
    const prompt = applyPrompt(state, systemPrompt, loaded.pending);
    const { head, reader, unknown } = loaded.replay;
    memory.adopt({ state, head, pending: prompt.pending, reader, unknown });
    await redoMemoryItems(memory, loaded);
    const isForeign = loaded.source === 'imported' || loaded.replay.isForeign;
    const cutOffAnswers = await keepCutOffAnswers(memory, frontier);
    const dropped = await dropUnfinished(memory);
    const closed = await this.#closeCalls(memory, options, isForeign);
    const callsAt = performance.now();
    const repairs = await this.#repair(memory, closed, systemPrompt, loaded);
    assertNotBlank(memory, loaded);
    const end = performance.now();
    return {
      agentId: memory.agentId,
      source: loaded.source,
      cacheRefused: loaded.cacheRefused,
      messages: state.snapshot.length,
      epochId: state.snapshot.epochId,
      lastCompactionTs: state.snapshot.lastCompactionTs,
      tracesReplayed: loaded.replay.applied,
      tracesIgnored: loaded.replay.ignored,
      tracesUnknown: unknown,
      repairs: [...dropped, ...closed.flatMap(toRepair), ...loaded.replay.repairs, ...repairs],
      damage: [...(await damageOf(memory)), ...loaded.replay.damage],
      erased: await erasedRecords(memory.store.backend, memory.agentId),
      interruptedCalls: closed,
      cutOffAnswers,
      recalls: recallsIn(memory.context),
      frontier,
      promptChanged: prompt.changed,
      prefix: prefixOf(loaded, state),
      unknown: [...loaded.unknown, ...closed.flatMap(unknownOf)],
      dry: memory.store.readOnly,
      cacheWritable: loaded.cacheRefused?.reason !== 'unsupported',
      phasesMs: {
        cache: round(loaded.cacheMs),
        traces: round(tracesAt - start - loaded.cacheMs),
        calls: round(callsAt - tracesAt),
        repair: round(end - callsAt),
        total: round(end - start),
      },
    };
  }

  async #closeCalls(
    memory: MemoryManager,
    options: WorkingContextSnapshotBootstrapOptions,
    isForeign: boolean,
  ): Promise<readonly InterruptedCall[]> {
    const open = memory.openCalls();
    if (open.length === 0) return [];
    const { keepPendingApprovals } = options;
    const { calls, results } = await closeInterruptedCalls(open, memory.ledger, {
      keepPendingApprovals,
      cutoff: 'restore',
      isForeign,
    });
    await memory.closeCalls(results);
    return calls;
  }

  /** The only place that makes the whole list legal. Each repair is one record that replaces some messages by others. */
  async #repair(
    memory: MemoryManager,
    closed: readonly InterruptedCall[],
    systemPrompt: string | null,
    loaded: LoadedState,
  ): Promise<readonly Repair[]> {
    const before = memory.getWorkingContextMessages();
    const keepOpen = new Set(closed.filter((call) => call.leftOpen).map((call) => call.callId));
    const { messages, repairs } = repairHistory(before, {
      keepOpen,
      ...(systemPrompt === null ? {} : { systemPrompt }),
    });
    if (repairs.length > 0) await memory.repairList(difference(before, messages, repairs));
    else if (loaded.source === 'imported' && loaded.replay.repairs.length > 0) await memory.repairList(null);
    return repairs;
  }
}

/** Removes calls that an answer did not finish and nobody started. Done first, because another open call may have the same id. */
async function dropUnfinished(memory: MemoryManager): Promise<readonly Repair[]> {
  const { messages } = memory.context;
  const unfinished = memory
    .openCalls()
    .filter(({ call, messageIndex }) => unfinishedCalls(messages[messageIndex]!).includes(call))
    .map(ledgerCall);
  if (unfinished.length === 0) return [];
  await memory.ledger.load(unfinished);
  if (unfinished.some((call) => memory.ledger.verdictOn(call).verdict !== 'not_started')) return [];
  const repairs: Repair[] = [];
  const before = memory.getWorkingContextMessages();
  const after = abortedTurns.repair({ messages: before, origins: null }, {}, repairs);
  await memory.repairList(difference(before, after.messages, repairs));
  return repairs;
}

function applyPrompt(
  state: MemoryState,
  systemPrompt: string | null,
  pending: readonly Boundary[],
): { readonly changed: boolean; readonly pending: readonly Boundary[] } {
  if (systemPrompt === null) return { changed: false, pending };
  const previous = systemPromptOf(state.snapshot);
  if (previous === systemPrompt) return { changed: false, pending };
  setSystemPrompt(state.snapshot, systemPrompt);
  return { changed: previous !== '', pending: [...pending, { kind: 'system', systemPrompt }] };
}

/** A crash between a compaction's record and its items loses the items; they are rewritten from the record. */
async function redoMemoryItems(memory: MemoryManager, loaded: LoadedState): Promise<void> {
  const compaction = loaded.replay.lastCompaction;
  if (!compaction) return;
  const { store } = memory;
  const known = await store.recentIds('episodic', 8);
  const facts = await store.recentIds('semantic', 64);
  const episodic = compaction.episodic.filter((item) => !known.has(item.id));
  const semantic = compaction.semantic.filter((item) => !facts.has(item.id));
  if (store.readOnly) return store.hold(episodic, semantic);
  await store.addEpisodic(episodic);
  await store.addSemantic(semantic);
}

function difference(
  before: readonly Message[],
  after: readonly Message[],
  repairs: readonly Repair[],
): Boundary {
  let at = 0;
  while (at < before.length && at < after.length && before[at] === after[at]) at += 1;
  let same = 0;
  const most = Math.min(before.length, after.length) - at;
  while (same < most && before[before.length - 1 - same] === after[after.length - 1 - same]) same += 1;
  return {
    kind: 'repair',
    at,
    deleteCount: before.length - at - same,
    insert: after.slice(at, after.length - same),
    codes: repairs.map((repair) => repair.code),
  };
}

/** Throws instead of restoring an empty context. */
function assertNotBlank(memory: MemoryManager, loaded: LoadedState): void {
  const messages = memory.getWorkingContextMessages().filter((message) => message.role !== 'system');
  if (messages.length > 0 && !messages.every(isBlankMessage)) return;
  const { replay, cacheRefused } = loaded;
  const onlyCache =
    replay.head.seq === 0 && ['damaged', 'unreadable', 'unsupported'].includes(cacheRefused?.reason ?? '');
  const isNothingSaid = replay.conversational === 0 && replay.damage.length === 0;
  if ((isNothingSaid || replay.isOnlyBegun) && !onlyCache) return;
  const problem = onlyCache
    ? 'The snapshot cannot be read, and there are no traces.'
    : 'Traces exist, but the context that they give is blank.';
  throw new RekindleError('CONTEXT_BLANK', problem, {
    details: {
      agentId: memory.agentId,
      traces: replay.conversational,
      damage: replay.damage.length,
      cacheRefused: cacheRefused?.reason ?? null,
    },
  });
}

async function damageOf(memory: MemoryManager): Promise<DamageReport[]> {
  return (await memory.store.openingDamage()).map(toDamageReport);
}

function toRepair(call: InterruptedCall): Repair[] {
  if (call.leftOpen || call.verdict === 'finished') return [];
  const reason =
    call.verdict === 'not_started' ? 'the call was never started' : 'the end of the call is unknown';
  return [{ code: 'add-interrupted-result', messageIndex: call.messageIndex, callId: call.callId, reason }];
}

function unknownOf(call: InterruptedCall): string[] {
  if (call.verdict !== 'outcome_unknown') return [];
  return [`Whether the call ${call.callId} of ${call.toolName} took effect.`];
}

function prefixOf({ prefix }: LoadedState, state: MemoryState): RestoreReport['prefix'] {
  const { savedFingerprint, saved } = prefix;
  const { firstChanged } = state.snapshot;
  return {
    savedFingerprint,
    savedMessages: saved.length,
    firstDifference: saved.length > firstChanged ? firstChanged : null,
    tokensLost: saved.slice(firstChanged).reduce((sum, message) => sum + roughTokens(message), 0),
  };
}

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
