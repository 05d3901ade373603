/**
 * Begins a new agent (a branch) from a checkpoint of another agent or of its own past. The saved agent does
 * not change.
 */
import { CheckpointService } from '../../checkpoints/checkpoint-service.js';
import { AGENT_KIND } from '../../checkpoints/save-params.js';
import { RekindleError } from '../../core/errors.js';
import type { OpenMemory } from '../../memory/open-memory.js';
import type { StorageBackend } from '../../storage/ports.js';
import { type AgentImage, asAgentImage } from './agent-image.js';
import { openBegun } from './begin-from-image.js';
import type { FromCheckpoint } from './from-checkpoint.js';

/**
 * The agent in a checkpoint. The context itself proves nothing about its origin: the checkpoint's record must
 * show that `checkpointAgent` saved it.
 * @throws CHECKPOINT_NOT_FOUND, INVALID_ARGUMENT for a checkpoint without an agent, and as
 * `CheckpointService.load`
 */
async function loadAgentImage(
  storage: StorageBackend,
  { checkpointId, service, trustContext = false }: FromCheckpoint,
): Promise<AgentImage> {
  const checkpoints = service ?? new CheckpointService({ backend: storage });
  try {
    const { kind } = await checkpoints.metadata({ checkpointId });
    if (kind !== AGENT_KIND && !trustContext) throw notAnAgent(checkpointId, kind);
    const { context } = await checkpoints.load({ checkpointId });
    return asAgentImage(context, checkpointId);
  } finally {
    if (!service) await checkpoints.close();
  }
}

function notAnAgent(checkpointId: string, kind: string | null): RekindleError {
  return new RekindleError(
    'INVALID_ARGUMENT',
    `${checkpointId} was saved as ${kind === null ? 'a plain context' : `a ${kind}`}, not as a whole agent. An agent can only begin from a checkpoint that \`checkpointAgent\` saved, unless \`trustContext\` is set.`,
    { details: { field: 'fromCheckpoint', checkpointId, kind } },
  );
}

/**
 * Opens and writes an agent that begins from a checkpoint: as `openBegun`.
 * @throws AGENT_EXISTS, and as `loadAgentImage`; nothing is written then
 */
export function openBranch(
  storage: StorageBackend,
  agentId: string,
  from: FromCheckpoint,
  open: () => Promise<OpenMemory>,
): Promise<OpenMemory> {
  const { checkpointId } = from;
  const image = () => loadAgentImage(storage, from);
  return openBegun(
    storage,
    agentId,
    { from: checkpointId, reason: `checkpoint ${checkpointId}`, image },
    open,
  );
}
