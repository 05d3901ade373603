import type { SaveResult } from '../../checkpoints/checkpoint-params.js';
import type { CheckpointService } from '../../checkpoints/checkpoint-service.js';
import type { SaveParams } from '../../checkpoints/save-params.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import { captureAgent } from './agent-image.js';

/** Options of `checkpointAgent`: those of `CheckpointService.save`, without the context. */
export interface CheckpointAgentOptions extends Omit<SaveParams, 'context' | 'agentId' | 'kind'> {
  /** Folder of the agent's durable state. Default: the agent's own, else `['state']`; null: save no state. */
  readonly stateFolder?: Name | null;
}

/**
 * Saves a whole agent as a checkpoint, as it is stored now. Call it when `agent.send` has resolved or the
 * agent is stopped. The checkpoint is durable when this resolves.
 * @param backend storage of the agent; the checkpoints may be in another one
 * @throws AGENT_NOT_FOUND, and as `CheckpointService.save`
 */
export async function checkpointAgent(
  service: CheckpointService,
  backend: StorageBackend,
  agentId: string,
  { stateFolder, ...params }: CheckpointAgentOptions = {},
): Promise<SaveResult> {
  const context = await captureAgent(backend, agentId, stateFolder);
  return service.saveAgent({ sessionId: agentId, ...params, context, agentId });
}
