/**
 * Begins an agent from a checkpoint. Loads the checkpoint code only here, because most agents never need it.
 */
import type { OpenMemory } from '../../memory/open-memory.js';
import type { StorageBackend } from '../../storage/ports.js';
import type { FromCheckpoint } from './from-checkpoint.js';

/** Calls `openBranch` of `begin-from-checkpoint.ts`, which imports the checkpoint code. */
export async function beginBranch(
  storage: StorageBackend,
  agentId: string,
  from: FromCheckpoint,
  open: () => Promise<OpenMemory>,
): Promise<OpenMemory> {
  const { openBranch } = await import('./begin-from-checkpoint.js');
  return openBranch(storage, agentId, from, open);
}
