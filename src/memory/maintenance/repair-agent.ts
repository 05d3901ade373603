/** Mends what an agent has on disk, on request: clean copies of damaged journals, a new cache. Old files are kept. */
import type { SegmentRepair, StorageBackend } from '../../storage/ports.js';
import type { MemoryManager } from '../memory-manager.js';
import { assertOwner, assertReadable, headerOf } from '../models/journal-header.js';
import { assertAgentExists, openMemory } from '../open-memory.js';
import type { RestoreReport } from '../restore/restore-report.js';
import {
  WorkingContextSnapshotBootstrapOptions,
  WorkingContextSnapshotBootstrapper,
} from '../restore/working-context-snapshot-bootstrapper.js';
import { MEMORY_JOURNALS } from '../store/memory-store.js';
import type { SavedSnapshot } from '../store/working-context-snapshot-store.js';

export interface RepairReport {
  readonly agentId: string;
  readonly journals: readonly SegmentRepair[];
  readonly restore: RestoreReport;
  /** Null when the cache could not be written. */
  readonly snapshot: SavedSnapshot | null;
}

/** @throws AGENT_NOT_FOUND, LEASE_HELD, CONTEXT_BLANK, ... */
export async function repairAgent(backend: StorageBackend, agentId: string): Promise<RepairReport> {
  return mend(backend, agentId, { repairJournals: true, ignoreCache: false });
}

/** Writes the cache anew from the journals alone. */
export async function rebuildAgent(backend: StorageBackend, agentId: string): Promise<RepairReport> {
  return mend(backend, agentId, { repairJournals: false, ignoreCache: true });
}

/** A record that damage took is still in the cache: from here on the context starts from there, with the cache or without it. */
async function keepWhatTheCacheHas(memory: MemoryManager): Promise<void> {
  await memory.repairList({
    kind: 'base',
    reason: 'the journal was repaired',
    messages: memory.getWorkingContextMessages(),
    epochId: memory.epochId,
    lastCompactionTs: memory.lastCompactionTs,
    lastTurn: memory.lastTurn,
  });
}

/** Nothing is repaired in a journal of a newer release, or of another agent. @throws UNSUPPORTED_VERSION, AGENT_FOREIGN */
async function assertOurs({ store, agentId }: MemoryManager): Promise<void> {
  let owner: string | null = null;
  for await (const entry of (await store.journal('raw_traces')).read()) {
    const header = entry.kind === 'record' ? headerOf(entry.record) : null;
    if (header) assertReadable(header.reader, agentId);
    owner = header?.agentId ?? owner;
  }
  assertOwner(owner, agentId);
}

async function mend(
  backend: StorageBackend,
  agentId: string,
  options: { readonly repairJournals: boolean; readonly ignoreCache: boolean },
): Promise<RepairReport> {
  await assertAgentExists(backend, agentId);
  const opened = await openMemory(backend, agentId, { compaction: null });
  const { memory } = opened;
  try {
    await assertOurs(memory);
    const journals: SegmentRepair[] = [];
    if (options.repairJournals) {
      for (const name of MEMORY_JOURNALS)
        journals.push(...(await (await memory.store.journal(name)).repair()));
    }
    const restoreOptions = new WorkingContextSnapshotBootstrapOptions({ ignoreCache: options.ignoreCache });
    const restore = await new WorkingContextSnapshotBootstrapper().bootstrap(memory, null, restoreOptions);
    if (restore.source.startsWith('cache') && journals.some(({ place }) => place.startsWith('raw_traces.'))) {
      await keepWhatTheCacheHas(memory);
    }
    return { agentId, journals, restore, snapshot: await memory.persistWorkingContextSnapshot() };
  } finally {
    await opened.close();
  }
}
