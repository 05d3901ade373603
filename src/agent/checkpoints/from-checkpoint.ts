/** Names the checkpoint that an agent begins from. The code that reads it is loaded on demand. */
import type { CheckpointService } from '../../checkpoints/checkpoint-service.js';

/** The id of a checkpoint in the agent's own storage, or the id together with the service that has it. */
export type FromCheckpointInit = string | FromCheckpoint;

export function fromCheckpointOf(given: FromCheckpointInit): FromCheckpoint {
  return typeof given === 'string' ? { checkpointId: given } : given;
}

/** A checkpoint that a new agent begins from. */
export interface FromCheckpoint {
  readonly checkpointId: string;
  /** The service that has it. Default: a service over the agent's storage. */
  readonly service?: CheckpointService;
  /**
   * Also accept a plain context with the shape of an agent, such as an image that was exported to a file and
   * saved again. Its author then controls the system prompt, messages and facts, so set this only for a
   * trusted context. Default false.
   */
  readonly trustContext?: boolean;
}
