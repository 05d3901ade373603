/** An agent of a process that a workload runs: opened and restored, looked at, closed. */
import { canonicalJson } from '../../../src/core/canonical-json.js';
import type { MemoryManager } from '../../../src/memory/memory-manager.js';
import { type MemoryOptions, type OpenMemory, openMemory } from '../../../src/memory/open-memory.js';
import type { RestoreReport } from '../../../src/memory/restore/restore-report.js';
import {
  WorkingContextSnapshotBootstrapOptions,
  WorkingContextSnapshotBootstrapper,
} from '../../../src/memory/restore/working-context-snapshot-bootstrapper.js';
import { messageToJson } from '../../../src/messages/message-serializer.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import { openStorage, type Process } from '../workload.js';

export const AGENT = 'agent';
const PROMPT = 'p';

export interface OpenedAgent {
  readonly storage: StorageBackend;
  readonly opened: OpenMemory;
  readonly report: RestoreReport;
}

export async function openAgent(
  process: Process,
  memory: MemoryOptions,
  ignoreCache = false,
): Promise<OpenedAgent> {
  const storage = openStorage(process);
  const opened = await openMemory(storage, AGENT, { clock: process.clock, ...memory });
  const options = new WorkingContextSnapshotBootstrapOptions({ ignoreCache });
  const report = await new WorkingContextSnapshotBootstrapper().bootstrap(opened.memory, PROMPT, options);
  return { storage, opened, report };
}

export async function closeAgent({ opened, storage }: OpenedAgent): Promise<void> {
  await opened.close();
  await storage.close();
}

/** One text a message. */
export function contextOf(memory: MemoryManager): string[] {
  return memory.getWorkingContextMessages().map((message) => canonicalJson(messageToJson(message)));
}
