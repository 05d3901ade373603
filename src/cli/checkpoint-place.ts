/** Where the checkpoints are that a command means: beside the agents. Where earlier releases kept them is said when they are missed. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { CheckpointService } from '../checkpoints/checkpoint-service.js';
import { dataFolder } from '../checkpoints/config/data-folder.js';
import { isRekindleError, RekindleError } from '../core/errors.js';
import type { CommandContext, CommonOptions } from './command-context.js';
import { shownPath } from './shown-path.js';

export function checkpointsFor({ storage }: CommandContext): CheckpointService {
  return new CheckpointService({ backend: storage });
}

export function checkpointPlace({ storage }: CommandContext): string {
  return shownPath(storage.place);
}

/** A sentence about the folder of earlier releases, when checkpoints are there and no place was named; else null. */
export function earlierPlace({ dir }: CommonOptions): string | null {
  if (dir !== undefined) return null;
  try {
    const folder = dataFolder();
    if (!existsSync(path.join(folder, 'checkpoints', 'sessions'))) return null;
    return `Earlier releases kept checkpoints in ${shownPath(folder)}; add --dir ${shownPath(folder)} to see them.`;
  } catch {
    return null; // without a home there is no such folder
  }
}

/** Work that looks for a checkpoint. @throws what it throws, with where else the checkpoint may be */
export async function lookedUp<T>(options: CommonOptions, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    const isMissing =
      isRekindleError(thrown, 'CHECKPOINT_NOT_FOUND') || isRekindleError(thrown, 'SESSION_NOT_FOUND');
    const hint = isMissing ? earlierPlace(options) : null;
    if (!isRekindleError(thrown) || hint === null) throw thrown;
    const { code, message, details } = thrown;
    throw new RekindleError(code, `${message} ${hint}`, { details, cause: thrown });
  }
}
