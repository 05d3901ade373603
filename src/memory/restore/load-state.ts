/** Steps 2 and 3 of a restore: the cache and the traces after it, or a rebuild without the cache. */

import { crcHex } from '../../core/crc32.js';
import { isRekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import type { Journal, JournalEntry, JournalHead } from '../../storage/ports.js';
import type { MemoryManager } from '../memory-manager.js';
import type { Boundary } from '../models/trace.js';
import type { SnapshotFile, SnapshotFooter } from '../store/snapshot-file.js';
import type { MemoryState } from '../working-context-reducer.js';
import { WorkingContextSnapshot } from '../working-context-snapshot.js';
import { importSnapshot } from './import-snapshot.js';
import { baseOf, type RebuildOptions, rebuild } from './rebuild.js';
import type { CacheRefusal, RestoreReport, RestoreSource } from './restore-report.js';
import { TraceReplay } from './trace-replay.js';

export interface LoadedState {
  readonly source: RestoreSource;
  readonly cacheRefused: CacheRefusal | null;
  readonly replay: TraceReplay;
  readonly pending: readonly Boundary[];
  readonly unknown: readonly string[];
  readonly prefix: RestoreReport['prefix'];
  readonly cacheMs: number;
}

type ValidSnapshot = SnapshotFile & { readonly status: 'valid' };

export async function loadState(
  memory: MemoryManager,
  options: RebuildOptions & { readonly ignoreCache: boolean },
): Promise<LoadedState> {
  const start = performance.now();
  const file = await memory.snapshotStore.load();
  const cacheMs = performance.now() - start;
  const journal = await memory.store.journal('raw_traces');
  if (file?.status === 'plain') return { ...(await importFrom(memory, file.payload)), cacheMs };
  if (file?.status === 'valid' && options.ignoreCache) memory.snapshotStore.rewriteNext();
  else if (file?.status === 'valid') {
    const cached = await fromCache(file, journal);
    if (cached) return { ...cached, cacheMs };
    memory.snapshotStore.disown();
  }
  const { replay, pending } = await rebuild(memory, options);
  const cacheRefused = refusalOf(file, options.ignoreCache);
  const prefix = { savedFingerprint: null, savedMessages: 0, firstDifference: null };
  return { source: 'rebuilt', cacheRefused, replay, pending, unknown: [], prefix, cacheMs };
}

async function importFrom(memory: MemoryManager, payload: JsonObject): Promise<Omit<LoadedState, 'cacheMs'>> {
  const { replay, pending, unknown } = await importSnapshot(memory, payload);
  const prefix = { savedFingerprint: null, savedMessages: 0, firstDifference: null };
  return { source: 'imported', cacheRefused: null, replay, pending, unknown, prefix };
}

/** The cache and what the journal has after it; null when it belongs to another line of history. */
async function fromCache(
  file: ValidSnapshot,
  journal: Journal<JsonObject>,
): Promise<Omit<LoadedState, 'cacheMs'> | null> {
  const { footer, body } = file;
  const head = await journal.head();
  const replay = new TraceReplay(stateFrom(file), {
    seq: footer.coversSeq,
    cursor: footer.cursor,
    crc: footer.coversCrc,
  });
  const lost = footer.coversSeq > head.seq;
  if (lost) noteLostRecords(replay, head);
  else if (!isCurrent(footer, head) && !(await replayTail(replay, footer, journal))) return null;
  return {
    source: replay.applied > 0 ? 'cache+tail' : 'cache',
    cacheRefused: null,
    replay,
    pending: lost ? [baseOf(replay.state, 'the journal had lost records that the snapshot still has')] : [],
    unknown: lost ? [lostText(footer, head)] : [],
    prefix: { savedFingerprint: crcHex(body.crc), savedMessages: body.messageCount, firstDifference: null },
  };
}

function isCurrent(footer: SnapshotFooter, head: JournalHead): boolean {
  if (footer.coversSeq !== head.seq || footer.coversCrc !== head.crc) return false;
  return footer.cursor?.segment === head.cursor?.segment && footer.cursor?.offset === head.cursor?.offset;
}

/**
 * Reads from the last record that the cache covers on. False when another record stands in its place. Where damage took that
 * record, the cache is the best that is left of it, and is used.
 */
async function replayTail(
  replay: TraceReplay,
  footer: SnapshotFooter,
  journal: Journal<JsonObject>,
): Promise<boolean> {
  let first = footer.coversSeq > 0;
  for await (const entry of await entriesFrom(journal, footer)) {
    if (!first || entry.kind === 'damage') replay.apply(entry);
    else if (entry.seq !== footer.coversSeq || entry.crc !== footer.coversCrc) return false;
    first = false;
  }
  return true;
}

/** From the cache's cursor, or, when its segment is not there any more, by the number alone. */
async function entriesFrom(
  journal: Journal<JsonObject>,
  footer: SnapshotFooter,
): Promise<AsyncIterable<JournalEntry<JsonObject>>> {
  const after = Math.max(0, footer.coversSeq - 1);
  if (!footer.cursor) return journal.read({ after });
  try {
    const probe = journal.read({ after, cursor: footer.cursor, limit: 0 });
    for await (const _ of probe) break;
    return journal.read({ after, cursor: footer.cursor });
  } catch (thrown) {
    if (!isRekindleError(thrown, 'INVALID_ARGUMENT')) throw thrown;
    return journal.read({ after });
  }
}

function stateFrom(file: ValidSnapshot): MemoryState {
  const snapshot = new WorkingContextSnapshot(file.messages);
  snapshot.epochId = file.footer.epochId;
  snapshot.lastCompactionTs = file.footer.lastCompactionTs;
  snapshot.markSaved(file.messages.length);
  const { lastTurn, turnId, turnSeq, compactionFailures } = file.footer;
  return { snapshot, lastTurn, turnId, turnSeq, compactionFailures };
}

/** The journal lost acknowledged records that the cache still shows. The cache is the best that is left, and it is said. */
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
    default:
      if (ignored) return { reason: 'ignored', detail: 'a rebuild was asked for' };
      return { reason: 'diverged', detail: 'it does not belong to this line of the journal' };
  }
}
