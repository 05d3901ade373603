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
      'begin this agent, which must be new, from a checkpoint that holds an agent; that agent is not touched',
    )
    .option(
      '--trust-context',
      'with --from-checkpoint: take also a plain context in the form of an agent; whoever wrote it decides what the agent believes',
    );
}
