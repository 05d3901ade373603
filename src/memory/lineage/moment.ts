/** A point in the past of an agent: after one of its turns, or after one of its records. */
import { RekindleError } from '../../core/errors.js';
import { turnNumber } from '../../core/ids.js';
import { textOr } from '../../core/json.js';
import type { StorageBackend } from '../../storage/ports.js';
import { assertAgentExists } from '../open-memory.js';
import { MemoryStore } from '../store/memory-store.js';
import { type ForkOrigin, type PastPart, readOrigin, sourcesOf } from './forked-from.js';

/** After a turn, by its number, or after a record, by the number that `memory_read`, `rekindle search` and `rekindle history` show. */
export type AgentMoment = { readonly turn: number } | { readonly record: number };

/** A moment that was found. */
export interface Moment {
  /** The agent that has the record: the agent itself, or one that it was forked from. */
  readonly agentId: string;
  readonly record: number;
  /** The turn of that record, or the last one before it; 0 before the first turn. */
  readonly turn: number;
  /** The time of that record: milliseconds since 1970. */
  readonly ms: number;
}

/**
 * Finds a moment in the past of an agent, which includes the past of its sources. Reads from the end.
 * @param at default: now
 * @throws AGENT_NOT_FOUND, INVALID_ARGUMENT for a turn or a record that does not exist
 */
export async function momentOf(backend: StorageBackend, agentId: string, at?: AgentMoment): Promise<Moment> {
  await assertAgentExists(backend, agentId);
  assertMoment(at);
  const origin = await readOrigin(backend, agentId);
  const parts = await pastOf(backend, agentId, origin);
  try {
    for (const part of parts) {
      if (at && 'record' in at && at.record <= part.after) continue;
      const moment = await find(part, at);
      if (moment) return moment;
    }
  } finally {
    for (const { store } of parts) await store.close();
  }
  throw noMoment(agentId, at);
}

/** The agent's own part, and then its sources, nearest first. The caller closes the stores. */
export async function pastOf(
  backend: StorageBackend,
  agentId: string,
  origin: ForkOrigin | null,
): Promise<PastPart[]> {
  const store = new MemoryStore(backend, agentId, null);
  const own = { store, after: origin?.record ?? 0, upTo: Number.POSITIVE_INFINITY };
  return [own, ...(await sourcesOf(backend, origin))];
}

function assertMoment(at: AgentMoment | undefined): void {
  if (at === undefined) return;
  const [field, value] = Object.entries(at)[0] ?? ['at', undefined];
  const isKnown = Object.keys(at).length === 1 && (field === 'turn' || field === 'record');
  if (isKnown && Number.isSafeInteger(value) && (value as number) >= 1) return;
  const text = '`at` must name a turn or a record, by its number from 1: { turn: 7 } or { record: 120 }.';
  throw new RekindleError('INVALID_ARGUMENT', text, { details: { argument: 'at' } });
}

/** A record that a restore needs, and a turn as it ended: late results of earlier turns can follow a later turn. */
async function find({ store, after, upTo }: PastPart, at?: AgentMoment): Promise<Moment | null> {
  let found: { readonly record: number; readonly ms: number } | null = null;
  const journal = await store.journal('raw_traces');
  for await (const entry of journal.readBackward()) {
    if (entry.kind !== 'record' || entry.seq > upTo) continue;
    if (entry.seq <= after) break;
    const turn = turnNumber(textOr(entry.record['turn_id']));
    if (at && 'turn' in at) {
      if (turn > at.turn) found = null;
      else if (turn === at.turn) found ??= placeOf(entry);
      else if (turn > 0 && found) break;
    } else if (found || !at || entry.seq === at.record) {
      found ??= placeOf(entry);
      if (turn > 0) return { agentId: store.agentId, turn, ...found };
    } else if (entry.seq < at.record) return null;
  }
  if (!found) return null;
  const turn = at && 'turn' in at ? at.turn : ((await readOrigin(store.backend, store.agentId))?.turn ?? 0);
  return { agentId: store.agentId, turn, ...found };
}

function placeOf({ seq, record }: { readonly seq: number; readonly record: { readonly ts?: unknown } }) {
  return { record: seq, ms: Math.round((Number(record.ts) || 0) * 1000) };
}

function noMoment(agentId: string, at: AgentMoment | undefined): RekindleError {
  const what = at === undefined ? 'record' : 'turn' in at ? `turn ${at.turn}` : `record ${at.record}`;
  const text = `The agent ${JSON.stringify(agentId)} has no ${what}. \`rekindle history\` lists its turns and their records.`;
  return new RekindleError('INVALID_ARGUMENT', text, { details: { argument: 'at', agentId } });
}
