/** Steps 2 and 3 of a restore: the cache plus the traces after it, or a rebuild without the cache. */

import { crcHex } from '../../core/crc32.js';
import type { JsonObject } from '../../core/json.js';
import type { Message } from '../../messages/message.js';
import type { Journal, JournalHead } from '../../storage/ports.js';
import type { MemoryManager } from '../memory-manager.js';
import { assertOwner } from '../models/journal-header.js';
import type { Boundary } from '../models/trace.js';
import type { SnapshotFile, SnapshotFooter } from '../store/snapshot-file.js';
import type { MemoryState } from '../working-context-reducer.js';
import { WorkingContextSnapshot } from '../working-context-snapshot.js';
import { type CacheEnd, isCurrent, replayTail } from './cache-tail.js';
import { importSnapshot } from './import-snapshot.js';
import { baseOf, isOriginals, type RebuildOptions, rebuild } from './rebuild.js';
import type { CacheRefusal, RestoreSource } from './restore-report.js';
import { TraceReplay } from './trace-replay.js';

export interface LoadedState {
  readonly source: RestoreSource;
  readonly cacheRefused: CacheRefusal | null;
  readonly replay: TraceReplay;
  readonly pending: readonly Boundary[];
  readonly unknown: readonly string[];
  readonly prefix: SavedPrefix;
  readonly cacheMs: number;
}

/** The last saved list; empty without a readable cache. */
export interface SavedPrefix {
  readonly savedFingerprint: string | null;
  readonly saved: readonly Message[];
}

const NO_PREFIX: SavedPrefix = { savedFingerprint: null, saved: [] };

type LoadOptions = RebuildOptions & { readonly ignoreCache: boolean };
type ValidSnapshot = SnapshotFile & { readonly status: 'valid' };

/** @throws AGENT_FOREIGN, UNSUPPORTED_VERSION, CONTEXT_BLANK */
export async function loadState(memory: MemoryManager, options: LoadOptions): Promise<LoadedState> {
  const loaded = await cacheOrTraces(memory, options);
  assertOwner(loaded.replay.owner, memory.agentId);
  return loaded;
}

async function cacheOrTraces(memory: MemoryManager, options: LoadOptions): Promise<LoadedState> {
  const start = performance.now();
  const file = await memory.snapshotStore.load();
  const cacheMs = performance.now() - start;
  const journal = await memory.store.journal('raw_traces');
  if (file?.status === 'plain' && (await isOriginals(journal)))
    return { ...(await importFrom(memory, file.payload, options.systemPrompt)), cacheMs };
  if (file?.status === 'valid' && options.ignoreCache) memory.snapshotStore.rewriteNext();
  else if (file?.status === 'valid') {
    const cached = await fromCache(file, journal, memory.agentId);
    if (cached) return { ...cached, cacheMs };
    memory.snapshotStore.disown();
  }
  const { replay, pending } = await rebuild(memory, options);
  const cacheRefused = refusalOf(file, options.ignoreCache);
  return { source: 'rebuilt', cacheRefused, replay, pending, unknown: [], prefix: NO_PREFIX, cacheMs };
}

async function importFrom(
  memory: MemoryManager,
  payload: JsonObject,
  systemPrompt: string | null,
): Promise<Omit<LoadedState, 'cacheMs'>> {
  const { replay, pending, unknown } = await importSnapshot(memory, payload, systemPrompt);
  return { source: 'imported', cacheRefused: null, replay, pending, unknown, prefix: NO_PREFIX };
}

/** The cache plus later records of the journal; null if the cache belongs to another line of history. */
async function fromCache(
  file: ValidSnapshot,
  journal: Journal<JsonObject>,
  agentId: string,
): Promise<Omit<LoadedState, 'cacheMs'> | null> {
  const { footer, body } = file;
  const head = await journal.head();
  const lost = footer.coversSeq > head.seq;
  if (lost && (await wentOnWithout(footer, journal))) return null;
  const covered = { seq: footer.coversSeq, cursor: footer.cursor, crc: footer.coversCrc };
  const replay = new TraceReplay(stateFrom(file), covered, agentId);
  replay.declare(footer.reader);
  replay.addUnknown(footer.unknown);
  let end: CacheEnd = 'there';
  if (lost) noteLostRecords(replay, head);
  else if (!isCurrent(footer, head)) end = await replayTail(replay, footer, journal);
  if (end === 'not-there') return null;
  return {
    source: replay.applied > 0 ? 'cache+tail' : 'cache',
    cacheRefused: null,
    replay,
    // If the journal lost records that the cache has, the cache is the best remaining copy, so the journal takes it over.
    pending: lost || end === 'damaged' ? [baseOf(replay.state, lostReason(footer))] : [],
    unknown: lost ? [lostText(footer, head)] : [],
    prefix: { savedFingerprint: crcHex(body.crc), saved: file.messages },
  };
}

function stateFrom(file: ValidSnapshot): MemoryState {
  const snapshot = new WorkingContextSnapshot(file.messages);
  snapshot.epochId = file.footer.epochId;
  snapshot.lastCompactionTs = file.footer.lastCompactionTs;
  snapshot.markSaved(file.messages.length);
  const { lastTurn, turnId, turnSeq, compactionFailures } = file.footer;
  return { snapshot, lastTurn, turnId, turnSeq, compactionFailures };
}

function lostReason(footer: SnapshotFooter): string {
  return `the journal had lost records that the snapshot has, up to ${footer.coversSeq} (${footer.coversCrc})`;
}

/**
 * True if the journal already took over this cache's context. Later records are not in the cache then, even if it
 * reaches further.
 */
async function wentOnWithout(footer: SnapshotFooter, journal: Journal<JsonObject>): Promise<boolean> {
  const reason = lostReason(footer);
  for await (const entry of journal.readBackward()) {
    if (entry.kind === 'record' && entry.record['boundary'] === 'base' && entry.record['reason'] === reason)
      return true;
  }
  return false;
}

/** Reports that the journal lost acknowledged records that the cache still has. */
function noteLostRecords(replay: TraceReplay, head: JournalHead): void {
  replay.damage.push({
    file: 'raw_traces.jsonl',
    reason: 'records-missing',
    startByte: 0,
    bytes: 0,
    setAside: null,
  });
  replay.head = head;
}

function lostText(footer: SnapshotFooter, head: JournalHead): string {
  return `The traces end at record ${head.seq}, but the snapshot covers ${footer.coversSeq}: the traces in between are lost, their effect on the context is not.`;
}

function refusalOf(file: SnapshotFile | null, ignored: boolean): CacheRefusal {
  if (file === null) return { reason: 'missing', detail: 'there is no snapshot file' };
  switch (file.status) {
    case 'newer':
      return { reason: 'unsupported', detail: file.detail };
    case 'foreign':
      return { reason: 'foreign', detail: file.detail };
    case 'damaged':
      return { reason: 'damaged', detail: file.detail };
    case 'unreadable':
      return { reason: 'unreadable', detail: file.detail };
    case 'plain':
      return {
        reason: 'diverged',
        detail: 'it does not say what it covers, and the traces are whole without it',
      };
    default:
      if (ignored) return { reason: 'ignored', detail: 'a rebuild was asked for' };
      return { reason: 'diverged', detail: 'it does not belong to this line of the journal' };
  }
}
