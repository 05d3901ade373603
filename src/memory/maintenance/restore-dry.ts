/** A restore that changes nothing and takes no lease, for read-only commands. */

import type { Message } from '../../messages/message.js';
import type { StorageBackend } from '../../storage/ports.js';
import type { MemoryManager } from '../memory-manager.js';
import { assertAgentExists, openMemory } from '../open-memory.js';
import type { RestoreReport } from '../restore/restore-report.js';
import { WorkingContextSnapshotBootstrapper } from '../restore/working-context-snapshot-bootstrapper.js';

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
