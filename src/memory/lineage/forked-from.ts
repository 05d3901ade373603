/**
 * Where a fork left its source. A document of the fork, written before its first trace and never changed. The fork's own
 * records have higher numbers than the last record that it has from its source, so a number names one record of its past.
 */
import { RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonValue, textOr } from '../../core/json.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import { MemoryStore } from '../store/memory-store.js';

/** The source of a fork, and the point in its past. */
export interface ForkedFrom {
  readonly agentId: string;
  /** The last record of the source that belongs to the fork's past. */
  readonly record: number;
  /** The turn of that record; 0 before the first turn. */
  readonly turn: number;
}

/** As it is stored. */
export interface ForkOrigin extends ForkedFrom {
  /** The id of the source's first trace. It tells the source from a later agent of the same name. */
  readonly firstTrace: string;
}

/** A part of the past of an agent: records of one agent, from `after` (exclusive) to `upTo`. */
export interface PastPart {
  readonly store: MemoryStore;
  readonly after: number;
  readonly upTo: number;
}

function nameOf(agentId: string): Name {
  return ['agents', agentId, 'forked_from.json'];
}

/** Durable when it resolves. */
export async function writeOrigin(
  backend: StorageBackend,
  agentId: string,
  origin: ForkOrigin,
): Promise<void> {
  const { agentId: source, record, turn, firstTrace } = origin;
  await backend.documents.write(nameOf(agentId), {
    agent_id: source,
    record,
    turn,
    first_trace: firstTrace,
  });
}

/** Null for an agent that is no fork. @throws DOCUMENT_DAMAGED */
export async function readOrigin(backend: StorageBackend, agentId: string): Promise<ForkOrigin | null> {
  const document = await backend.documents.read(nameOf(agentId));
  return document === null ? null : originFrom(document.value, agentId);
}

function originFrom(value: JsonValue, agentId: string): ForkOrigin {
  const { agent_id: source, record, turn, first_trace: firstTrace } = isJsonObject(value) ? value : {};
  if (typeof source === 'string' && isCount(record) && isCount(turn) && typeof firstTrace === 'string')
    return { agentId: source, record, turn, firstTrace };
  const place = nameOf(agentId).join('/');
  const text = `${place} does not say where the agent was forked from. Restore this file from a backup; the context of the agent does not need it.`;
  throw new RekindleError('DOCUMENT_DAMAGED', text, { details: { place } });
}

function isCount(value: JsonValue | undefined): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** The id of an agent's first trace; empty if it has none. */
export async function firstTraceOf(store: MemoryStore): Promise<string> {
  const journal = await store.journal('raw_traces');
  for await (const entry of journal.read({ archived: true }))
    if (entry.kind === 'record') return textOr(entry.record['id']);
  return '';
}

/** More sources in a row are not followed: nobody forks so often, and a damaged store must not loop. */
const SOURCES_MAX = 100;

/**
 * The past of a fork before its own records, nearest source first: its source, the source of that, and so on. Ends at a source that was
 * erased. The caller closes the stores.
 * @param from of the fork; null gives none
 */
export async function sourcesOf(backend: StorageBackend, from: ForkOrigin | null): Promise<PastPart[]> {
  const parts: PastPart[] = [];
  let origin = from;
  while (origin !== null && parts.length < SOURCES_MAX) {
    const store = new MemoryStore(backend, origin.agentId, null);
    if (origin.firstTrace === '' || (await firstTraceOf(store)) !== origin.firstTrace) {
      await store.close();
      break;
    }
    const before = await readOrigin(backend, origin.agentId);
    parts.push({ store, after: before?.record ?? 0, upTo: origin.record });
    origin = before;
  }
  return parts;
}

/** The agents that were forked from an agent, directly or over other forks, after one of its records was written. */
export async function forksOf(backend: StorageBackend, agentId: string, record = 0): Promise<string[]> {
  const origins = new Map<string, ForkOrigin>();
  for (const name of await backend.listNames(['agents'])) {
    const origin = await readOrigin(backend, name);
    if (origin) origins.set(name, origin);
  }
  const found: string[] = [];
  for (const [fork, origin] of origins) {
    // A fork of a fork has at most the records of its source's past that were there before its own point.
    for (let at: ForkOrigin | undefined = origin, hops = 0; at && hops < SOURCES_MAX; hops += 1) {
      if (at.agentId === agentId && at.record >= record) {
        found.push(fork);
        break;
      }
      at = origins.get(at.agentId);
    }
  }
  return found.sort();
}
