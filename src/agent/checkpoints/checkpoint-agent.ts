/** Saves a whole agent as a checkpoint. */

import type { CheckpointService, SaveResult } from '../../checkpoints/checkpoint-service.js';
import type { SaveParams } from '../../checkpoints/save-params.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import { captureAgent } from './agent-image.js';

export interface CheckpointAgentOptions extends Omit<SaveParams, 'context' | 'agentId' | 'kind'> {
  /** Where its durable state is. Default: the agent's own, else `['state']`; null: none is saved. */
  readonly stateFolder?: Name | null;
}

/**
 * The agent as it is stored now: `agent.send` has resolved, or the agent is stopped. Durable when it resolves.
 * @param backend where the agent is; checkpoints may be somewhere else
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
