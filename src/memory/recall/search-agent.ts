/** Searches one agent's past by words, and reads around what was found. Takes no lease and writes nothing. */

import type { RekindleError } from '../../core/errors.js';
import type { StorageBackend } from '../../storage/ports.js';
import type { PastIndex } from '../lineage/past-index.js';
import { assertAgentExists, openMemory } from '../open-memory.js';
import type { MemoryStore } from '../store/memory-store.js';
import type { EmbedderOptions } from './embedder.js';
import type { Passage, Speaker } from './passage.js';
import type { RecallHit } from './recall-index.js';
import type { PassageInfo } from './shard.js';
import { timesIn } from './times-in.js';
import type { NearestPassages } from './vector-index.js';

/** A search in an agent's past. With an embedder, it uses the vectors that the agent made with the same one. */
export interface PastQuery extends EmbedderOptions {
  readonly text: string;
  /** Maximum number of hits; default 10. */
  readonly limit?: number;
  /** Number of best hits to skip, for the next page. */
  readonly offset?: number;
  readonly speakers?: readonly Speaker[];
  readonly toolName?: string;
  /** Only passages at or after `fromMs` and before `toMs`: milliseconds since 1970. */
  readonly fromMs?: number;
  readonly toMs?: number;
  /** The time of the question, for relative times ("yesterday"): milliseconds since 1970. */
  readonly nowMs: number;
}

/** One page of search results. */
export interface PastPage {
  /** Best first. */
  readonly hits: readonly RecallHit[];
  /** The `offset` of the next page; null if there is none. */
  readonly nextOffset: number | null;
  /** Number of passages that were searched. */
  readonly searched: number;
  /** Why the words ranked alone, although an embedder was given; null if all went well. */
  readonly embedderError: RekindleError | null;
}

const LIMIT_DEFAULT = 10;

/**
 * Searches everything that an agent recorded, including what has left its context, and what a fork has from its source. Takes no lease and writes nothing.
 * ```ts
 * const { hits } = await searchAgent(storage, 'ann', { text: 'login bug', nowMs: Date.now() });
 * ```
 * @throws AGENT_NOT_FOUND, INVALID_ARGUMENT for an unusable embedder
 */
export async function searchAgent(
  backend: StorageBackend,
  agentId: string,
  query: PastQuery,
): Promise<PastPage> {
  if (query.embedder) (await import('./embedder.js')).assertEmbedder(query);
  return withIndex(backend, agentId, async (index, store) => {
    const { text, limit = LIMIT_DEFAULT, offset = 0 } = query;
    const meaning = await meaningIn(store, query);
    const times = await timesIn(text, query.nowMs);
    const accepts = filterOf(query);
    const found: RecallHit[] = [];
    const wanted = {
      text,
      times,
      limit: offset + limit + 1,
      ...(accepts ? { accepts } : {}),
      ...(meaning ? { nearest: meaning.nearest } : {}),
    };
    for await (const hit of index.hits(wanted)) found.push(hit);
    const hits = found.slice(offset, offset + limit);
    const nextOffset = found.length > offset + limit ? offset + limit : null;
    return { hits, nextOffset, searched: index.count, embedderError: meaning?.error() ?? null };
  });
}

/** Null without an embedder. */
async function meaningIn(
  store: MemoryStore,
  { text, embedder, embedderTimeoutMs }: PastQuery,
): Promise<{ readonly nearest: NearestPassages; error(): RekindleError | null } | null> {
  if (!embedder) return null;
  const { MeaningSearch } = await import('./meaning-search.js');
  let first: RekindleError | null = null;
  const options = {
    embedder,
    ...(embedderTimeoutMs === undefined ? {} : { timeoutMs: embedderTimeoutMs }),
  };
  const search = new MeaningSearch(store, options, (_, error) => {
    first ??= error;
  });
  return { nearest: search.ask(text), error: () => first };
}

/** Everything recorded from one record to another, in order. @throws AGENT_NOT_FOUND */
export function readAround(
  backend: StorageBackend,
  agentId: string,
  range: { readonly fromRecord: number; readonly toRecord: number },
): Promise<Passage[]> {
  return withIndex(backend, agentId, (index) => index.passagesBetween(range.fromRecord, range.toRecord));
}

/** As `readAround`, for turns by number. */
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
  use: (index: PastIndex, store: MemoryStore) => Promise<T>,
): Promise<T> {
  await assertAgentExists(backend, agentId);
  const { PastIndex } = await import('../lineage/past-index.js');
  const opened = await openMemory(backend, agentId, { readOnly: true, compaction: null });
  try {
    const { store } = opened.memory;
    const index = await PastIndex.of(store);
    return await use(index, store).finally(() => index.close());
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
