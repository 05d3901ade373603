/** A restore that changes nothing and takes no lease, for commands that only look. */
import type { MemoryManager } from '../memory/memory-manager.js';
import { assertAgentExists, openMemory } from '../memory/open-memory.js';
import type { RestoreReport } from '../memory/restore/restore-report.js';
import { WorkingContextSnapshotBootstrapper } from '../memory/restore/working-context-snapshot-bootstrapper.js';
import type { Message } from '../messages/message.js';
import type { StorageBackend } from '../storage/ports.js';

/** @param look called while the agent is open @throws AGENT_NOT_FOUND */
export async function restoreDry<T>(
  storage: StorageBackend,
  agentId: string,
  look: (memory: MemoryManager, messages: Message[], report: RestoreReport) => Promise<T> | T,
): Promise<T> {
  await assertAgentExists(storage, agentId);
  const opened = await openMemory(storage, agentId, { readOnly: true, compaction: null });
  try {
    const report = await new WorkingContextSnapshotBootstrapper().bootstrap(opened.memory, null);
    return await look(opened.memory, opened.memory.getWorkingContextMessages(), report);
  } finally {
    await opened.close();
  }
}
