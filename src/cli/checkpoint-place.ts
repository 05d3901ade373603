/** Where the checkpoints are that a command means: in the folder that was named, else where the library puts them by itself. */
import { CheckpointService } from '../checkpoints/checkpoint-service.js';
import { dataFolder } from '../checkpoints/config/data-folder.js';
import type { CommandContext, CommonOptions } from './command-context.js';
import { shownPath } from './shown-path.js';

export const CHECKPOINT_DIR_TEXT =
  'folder of the checkpoints and of the agents (default: checkpoints in REKINDLE_DATA_DIR, else the data folder of the platform; agents as everywhere)';

export function checkpointsFor({ storage }: CommandContext, { dir }: CommonOptions): CheckpointService {
  return new CheckpointService(dir === undefined ? {} : { backend: storage });
}

export function checkpointPlace({ storage }: CommandContext, { dir }: CommonOptions): string {
  return shownPath(dir === undefined ? dataFolder() : storage.place);
}
