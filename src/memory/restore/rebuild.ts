/**
 * Rebuilds the state from the journals alone.
 *
 * Reads backward to the newest record that holds a whole context (a compaction, or a base), then applies the later
 * records. So the cost depends on the context, not on the agent's age. Without such a record, every trace is applied.
 * If episodic items exist (a folder of AutoByteus), turns that one of them covers are represented by it instead of
 * verbatim.
 */
import { RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import type { Journal, JournalEntry, JournalRecord } from '../../storage/ports.js';
import { CompactionSnapshotBuilder } from '../compaction/compaction-snapshot-builder.js';
import type { MemoryManager } from '../memory-manager.js';
import { holdsContext } from '../models/journal-header.js';
import type { MemoryBundle } from '../models/memory-items.js';
import type { Boundary, Trace } from '../models/trace.js';
import {
  applyTrace,
  emptyMemoryState,
  type MemoryState,
  systemPromptOf,
} from '../working-context-reducer.js';
import { type DistinctRows, isOurRow, withDistinctCallIds } from './foreign-call-ids.js';
import type { DamageReport } from './restore-report.js';
import { TraceReplay } from './trace-replay.js';

export interface RebuildOptions {
  readonly maxEpisodic: number;
  readonly maxSemantic: number;
  readonly rawTailTurns: number;
  /** Null: keep the agent's own. */
  readonly systemPrompt: string | null;
}

export interface Rebuilt {
  readonly replay: TraceReplay;
  /** To be written before the next append, so that later restores are exact. */
  readonly pending: readonly Boundary[];
}

/** @throws CONTEXT_BLANK if there are bytes of traces but none can be read */
export async function rebuild(memory: MemoryManager, options: RebuildOptions): Promise<Rebuilt> {
  const journal = await memory.store.journal('raw_traces');
  const { entries, renamed } = withDistinctCallIds(await entriesSinceBase(journal));
  const replay = new TraceReplay(emptyMemoryState(), await journal.head(), memory.agentId);
  if (startsLate(entries[0])) replay.damage.push(MISSING_START);
  const bundle = isBaseEntry(entries[0]) ? null : await bundleFor(memory, journal, options);
  if (bundle) return rebuildFromMemory(memory, { entries, renamed }, bundle, options);
  for (const entry of entries) replay.apply(entry);
  if (replay.conversational === 0 && replay.damage.length > 0 && !replay.isOnlyBegun) {
    throw new RekindleError('CONTEXT_BLANK', 'No trace of this agent can be read.', {
      details: { agentId: memory.agentId, damage: replay.damage.length },
    });
  }
  replay.noteRenamed(renamed);
  return { replay, pending: [] };
}

/** The memory of a context without a compaction record; null if it is made from its traces alone. */
async function bundleFor(
  memory: MemoryManager,
  journal: Journal<JsonObject>,
  options: RebuildOptions,
): Promise<MemoryBundle | null> {
  const hasSummaries = (await memory.store.listEpisodic(1)).length > 0;
  if (!hasSummaries && !(await isOriginals(journal))) return null;
  const bundle = await memory.retriever.retrieve(options.maxEpisodic, options.maxSemantic);
  const isEmpty = bundle.episodic.length + bundle.semantic.length === 0;
  return hasSummaries || !isEmpty ? bundle : null;
}

/** Whole files are missing at the start; later files state the number that they start with. */
const MISSING_START: DamageReport = {
  file: 'raw_traces.jsonl',
  reason: 'records-missing',
  startByte: 0,
  bytes: 0,
  setAside: null,
};

type Entry = JournalEntry<JsonObject> | undefined;

function startsLate(first: Entry): boolean {
  return first?.kind === 'record' && first.seq > 1 && !holdsContext(first.record);
}

function isBaseEntry(entry: Entry): entry is JournalRecord<JsonObject> {
  return entry?.kind === 'record' && holdsContext(entry.record);
}

/** From the newest whole context on, oldest first; everything if there is none. */
async function entriesSinceBase(journal: Journal<JsonObject>): Promise<JournalEntry<JsonObject>[]> {
  const entries: JournalEntry<JsonObject>[] = [];
  for await (const entry of journal.readBackward()) {
    entries.push(entry);
    if (isBaseEntry(entry)) break;
  }
  entries.reverse();
  return isWhole(entries) ? entries : readForward(journal, entries[0]);
}

/**
 * True if no trace is ours: the folder belongs to AutoByteus, or has no traces yet. Only then a snapshot that does not
 * say what it covers is trusted; otherwise our own journal is the source of truth.
 */
export async function isOriginals(journal: Journal<JsonObject>): Promise<boolean> {
  for await (const entry of journal.readBackward()) {
    if (entry.kind === 'record' && isOurRow(entry.record)) return false;
  }
  return true;
}

/** Whether every record is there exactly once. Only a forward read detects missing or duplicate lines. */
function isWhole(entries: readonly JournalEntry<JsonObject>[]): boolean {
  if (startsLate(entries[0])) return false;
  return entries.every((entry, index) => {
    const before = entries[index - 1];
    return entry.kind === 'record' && (before?.kind !== 'record' || entry.seq === before.seq + 1);
  });
}

async function readForward(journal: Journal<JsonObject>, first: Entry): Promise<JournalEntry<JsonObject>[]> {
  const from = isBaseEntry(first) ? { cursor: first.cursor, after: first.seq - 1 } : {};
  const entries: JournalEntry<JsonObject>[] = [];
  for await (const entry of journal.read(from)) entries.push(entry);
  return entries;
}

/** For a folder whose compactions left only items: a memory message, and every turn that no item covers. */
async function rebuildFromMemory(
  memory: MemoryManager,
  { entries, renamed }: DistinctRows,
  bundle: MemoryBundle,
  options: RebuildOptions,
): Promise<Rebuilt> {
  const journal = await memory.store.journal('raw_traces');
  const replay = new TraceReplay(emptyMemoryState(), await journal.head(), memory.agentId);
  const traces = entries.flatMap((entry) => tracesOf(entry, replay));
  const covered = new Set((await memory.store.listEpisodic()).flatMap((item) => item.turnIds));
  const turns = [...new Set(traces.map((trace) => trace.turnId))];
  const kept = new Set([
    ...turns.filter((turn) => !covered.has(turn)),
    ...(options.rawTailTurns > 0 ? turns.slice(-options.rawTailTurns) : []),
  ]);
  for (const trace of traces) if (kept.has(trace.turnId)) replay.applyTrace(trace);
  const builder = new CompactionSnapshotBuilder();
  const { snapshot } = replay.state;
  const systemPrompt = options.systemPrompt ?? systemPromptOf(snapshot);
  snapshot.replaceAll(builder.build(systemPrompt, bundle, snapshot.messages));
  countTurns(replay.state, traces);
  replay.noteRenamed(renamed);
  return { replay, pending: [baseOf(replay.state, 'rebuilt from memory items')] };
}

function tracesOf(entry: JournalEntry<JsonObject>, replay: TraceReplay): Trace[] {
  if (entry.kind === 'damage') {
    replay.apply(entry);
    return [];
  }
  const trace = replay.parse(entry);
  return trace ? [trace] : [];
}

/** Turn numbers continue from the highest, even if its turn is not in the context. */
function countTurns(state: MemoryState, traces: readonly Trace[]): void {
  const scratch = emptyMemoryState();
  for (const trace of traces) applyTrace(scratch, trace);
  state.lastTurn = Math.max(state.lastTurn, scratch.lastTurn);
}

export function baseOf(state: MemoryState, reason: string): Boundary {
  const { snapshot, lastTurn } = state;
  const { epochId, lastCompactionTs } = snapshot;
  return { kind: 'base', reason, messages: snapshot.buildMessages(), epochId, lastCompactionTs, lastTurn };
}
