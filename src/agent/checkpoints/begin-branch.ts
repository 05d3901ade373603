/** Begins an agent from a checkpoint. The code that reads checkpoints is loaded here: most agents never need it. */
import type { OpenMemory } from '../../memory/open-memory.js';
import type { StorageBackend } from '../../storage/ports.js';
import type { FromCheckpoint } from './from-checkpoint.js';

/** As `openBranch` of `begin-from-checkpoint.ts`, which takes the checkpoints along. */
export async function beginBranch(
  storage: StorageBackend,
  agentId: string,
  from: FromCheckpoint,
  open: () => Promise<OpenMemory>,
): Promise<OpenMemory> {
  const { openBranch } = await import('./begin-from-checkpoint.js');
  return openBranch(storage, agentId, from, open);
}
