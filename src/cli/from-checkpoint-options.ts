/** The options of commands that can begin an agent from a checkpoint. */
import type { Command } from 'commander';

export interface FromCheckpointOptions {
  readonly fromCheckpoint?: string;
  readonly trustContext?: boolean;
}

export function withFromCheckpoint(command: Command): Command {
  return command
    .option(
      '--from-checkpoint <id>',
      'begin this new agent from a checkpoint of an agent, which does not change',
    )
    .option(
      '--trust-context',
      'with --from-checkpoint: also accept a plain context in the form of an agent; use it only for a context that you trust',
    );
}
