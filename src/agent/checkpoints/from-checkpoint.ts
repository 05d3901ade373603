/** Which checkpoint an agent begins from. What reads it is loaded when an agent does. */
import type { CheckpointService } from '../../checkpoints/checkpoint-service.js';

/** The id of a checkpoint that holds an agent, in the storage of the agent; or with the service that has it. */
export type FromCheckpointInit = string | FromCheckpoint;

export function fromCheckpointOf(given: FromCheckpointInit): FromCheckpoint {
  return typeof given === 'string' ? { checkpointId: given } : given;
}

export interface FromCheckpoint {
  readonly checkpointId: string;
  /** Where it is. Default: a service over the storage of the agent. */
  readonly service?: CheckpointService;
  /**
   * Take also a plain context that has the shape of an agent: an image that was loaded into a file and saved again. Its system prompt,
   * messages and facts are then what its author wrote, so say this only for a context that you trust. Default false.
   */
  readonly trustContext?: boolean;
}
