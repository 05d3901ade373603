/** The turns of an agent, newest first, with those that a fork has from its sources. Takes no lease and writes nothing. */
import { turnNumber } from '../../core/ids.js';
import { type JsonObject, textOr } from '../../core/json.js';
import { textOf } from '../../messages/message.js';
import { assertNotErasing } from '../../storage/erasure/erasure-marker.js';
import type { StorageBackend } from '../../storage/ports.js';
import type { Trace } from '../models/trace.js';
import { tryTraceFromJson } from '../models/trace-serializer.js';
import { assertAgentExists } from '../open-memory.js';
import { type ForkedFrom, forksOf, type PastPart, readOrigin } from './forked-from.js';
import { pastOf } from './moment.js';

/** One turn. */
export interface TurnSummary {
  readonly turn: number;
  /** The agent that recorded it: the agent itself, or one that it was forked from. */
  readonly agentId: string;
  /** The numbers of its first and last record. */
  readonly firstRecord: number;
  readonly lastRecord: number;
  /** When it began: ISO 8601, UTC; null for an invalid time. */
  readonly startedAt: string | null;
  /** The beginning of its first user message, and of its last answer; null without one. */
  readonly request: string | null;
  readonly answer: string | null;
  /** Number of its tool calls. */
  readonly calls: number;
}

/** A page of turns. */
export interface AgentHistory {
  readonly agentId: string;
  /** Null for an agent that is no fork. */
  readonly forkedFrom: ForkedFrom | null;
  /** Agents that were forked from this one, directly or over other forks. */
  readonly forks: readonly string[];
  /** Newest first. */
  readonly turns: readonly TurnSummary[];
  /** The `before` of the next page; null if there is none. */
  readonly nextBefore: number | null;
}

/** The part of a history to list. */
export interface HistoryOptions {
  /** Maximum number of turns; default 20. */
  readonly limit?: number;
  /** Only turns before this one. */
  readonly before?: number;
}

const LIMIT_DEFAULT = 20;
const TEXT_CHARS_MAX = 200;

/**
 * Lists the turns of an agent, newest first. Reads the journal from its end, as far as the page needs.
 * ```ts
 * const { turns } = await agentHistory(storage, 'desk', { limit: 5 });
 * ```
 * @throws AGENT_NOT_FOUND
 */
export async function agentHistory(
  backend: StorageBackend,
  agentId: string,
  { limit = LIMIT_DEFAULT, before = Number.POSITIVE_INFINITY }: HistoryOptions = {},
): Promise<AgentHistory> {
  await assertNotErasing(backend, ['agents', agentId]);
  await assertAgentExists(backend, agentId);
  const origin = await readOrigin(backend, agentId);
  const forks = await forksOf(backend, agentId);
  const parts = await pastOf(backend, agentId, origin);
  const turns: TurnSummary[] = [];
  try {
    for (const part of parts) {
      for await (const turn of turnsBackward(part, before)) {
        turns.push(turn);
        if (turns.length > limit) break;
      }
      if (turns.length > limit) break;
    }
  } finally {
    for (const { store } of parts) await store.close();
  }
  const shown = turns.slice(0, limit);
  return {
    agentId,
    forkedFrom: origin && { agentId: origin.agentId, record: origin.record, turn: origin.turn },
    forks,
    turns: shown,
    nextBefore: turns.length > limit ? (shown.at(-1)?.turn ?? null) : null,
  };
}

interface OpenTurn {
  firstRecord: number;
  readonly lastRecord: number;
  readonly turn: number;
  ts: number;
  request: string | null;
  answer: string | null;
  calls: number;
}

async function* turnsBackward({ store, after, upTo }: PastPart, before: number): AsyncGenerator<TurnSummary> {
  const journal = await store.journal('raw_traces');
  const summary = ({ ts, ...turn }: OpenTurn): TurnSummary => {
    const time = new Date(ts * 1000);
    const startedAt = Number.isNaN(time.getTime()) ? null : time.toISOString();
    return { ...turn, agentId: store.agentId, startedAt };
  };
  let open: OpenTurn | null = null;
  for await (const entry of journal.readBackward()) {
    if (entry.kind !== 'record' || entry.seq > upTo) continue;
    if (entry.seq <= after) break;
    const turn = turnNumber(textOr(entry.record['turn_id']));
    if (turn === 0 || turn >= before || (open && turn > open.turn)) continue; // a late result follows a later turn
    if (open && turn < open.turn) yield summary(open);
    if (!open || turn < open.turn)
      open = {
        turn,
        firstRecord: entry.seq,
        lastRecord: entry.seq,
        ts: 0,
        request: null,
        answer: null,
        calls: 0,
      };
    note(open, entry.seq, entry.record);
  }
  if (open) yield summary(open);
}

function note(turn: OpenTurn, seq: number, record: JsonObject): void {
  turn.firstRecord = seq;
  const trace: Trace | null = tryTraceFromJson(record);
  if (!trace) return;
  turn.ts = trace.ts;
  if (trace.type === 'tool_call') turn.calls += 1;
  if (trace.type === 'user') turn.request = textOf(trace.message).slice(0, TEXT_CHARS_MAX).toWellFormed();
  if (trace.type === 'assistant') {
    const text = textOf(trace.message).slice(0, TEXT_CHARS_MAX).toWellFormed();
    if (text.trim() !== '') turn.answer ??= text;
  }
}
