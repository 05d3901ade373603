/** Looks for words in one agent's past, and reads around what was found. Takes no lease and writes nothing. */
import type { StorageBackend } from '../../storage/ports.js';
import { assertAgentExists, openMemory } from '../open-memory.js';
import type { Passage, Speaker } from './passage.js';
import type { RecallHit, RecallIndex } from './recall-index.js';
import type { PassageInfo } from './shard.js';
import { timesIn } from './times-in.js';

export interface PastQuery {
  readonly text: string;
  /** At most so many; default 10. */
  readonly limit?: number;
  /** So many of the best are passed over: the next page. */
  readonly offset?: number;
  readonly speakers?: readonly Speaker[];
  readonly toolName?: string;
  /** Said at this time or later, and before that one: milliseconds since 1970. */
  readonly fromMs?: number;
  readonly toMs?: number;
  /** When it is asked, for times in words ("yesterday"): milliseconds since 1970. */
  readonly nowMs: number;
}

export interface PastPage {
  /** Best first. */
  readonly hits: readonly RecallHit[];
  /** For the next page; null when there is none. */
  readonly nextOffset: number | null;
  /** Passages that were looked through. */
  readonly searched: number;
}

const LIMIT_DEFAULT = 10;

/** @throws AGENT_NOT_FOUND */
export function searchAgent(backend: StorageBackend, agentId: string, query: PastQuery): Promise<PastPage> {
  return withIndex(backend, agentId, async (index) => {
    const { text, limit = LIMIT_DEFAULT, offset = 0 } = query;
    const times = await timesIn(text, query.nowMs);
    const accepts = filterOf(query);
    const found: RecallHit[] = [];
    const wanted = { text, times, limit: offset + limit + 1, ...(accepts ? { accepts } : {}) };
    for await (const hit of index.hits(wanted)) found.push(hit);
    const hits = found.slice(offset, offset + limit);
    const nextOffset = found.length > offset + limit ? offset + limit : null;
    return { hits, nextOffset, searched: index.count };
  });
}

/** Whatever was said from one record to another, in order. @throws AGENT_NOT_FOUND */
export function readAround(
  backend: StorageBackend,
  agentId: string,
  range: { readonly fromRecord: number; readonly toRecord: number },
): Promise<Passage[]> {
  return withIndex(backend, agentId, (index) => index.passagesBetween(range.fromRecord, range.toRecord));
}

/** As `readAround`, for turns by their numbers. */
export function readTurns(
  backend: StorageBackend,
  agentId: string,
  range: { readonly fromTurn: number; readonly toTurn: number },
): Promise<Passage[]> {
  return withIndex(backend, agentId, async (index) => {
    const records = await index.recordsOfTurns(range.fromTurn, range.toTurn);
    return records ? index.passagesBetween(records.first, records.last) : [];
  });
}

async function withIndex<T>(
  backend: StorageBackend,
  agentId: string,
  use: (index: RecallIndex) => Promise<T>,
): Promise<T> {
  await assertAgentExists(backend, agentId);
  const { RecallIndex } = await import('./recall-index.js');
  const opened = await openMemory(backend, agentId, { readOnly: true, compaction: null });
  try {
    return await use(new RecallIndex(opened.memory.store));
  } finally {
    await opened.close();
  }
}

function filterOf({ speakers, toolName, fromMs, toMs }: PastQuery): ((info: PassageInfo) => boolean) | null {
  if (!speakers && toolName === undefined && fromMs === undefined && toMs === undefined) return null;
  return (info) =>
    (!speakers || speakers.includes(info.speaker)) &&
    (toolName === undefined || info.toolName === toolName) &&
    (fromMs === undefined || info.ts * 1000 >= fromMs) &&
    (toMs === undefined || info.ts * 1000 < toMs);
}
