/**
 * The storage of the checkpoints that a command refers to: that of the agents. If a checkpoint is missing,
 * the folder of earlier releases is mentioned.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { CheckpointService } from '../checkpoints/checkpoint-service.js';
import { dataFolder } from '../checkpoints/config/data-folder.js';
import { isRekindleError, RekindleError } from '../core/errors.js';
import type { CommandContext, CommonOptions } from './command-context.js';
import { shownPath } from './shown-path.js';

export function checkpointsFor({ storage }: CommandContext): CheckpointService {
  // A person sees how long a command takes.
  return new CheckpointService({ backend: storage, onOperation: () => {} });
}

export function checkpointPlace({ storage }: CommandContext): string {
  return shownPath(storage.place);
}

/** A hint about the folder of earlier releases, if it has checkpoints and no place was given; else null. */
export function earlierPlace({ dir }: CommonOptions): string | null {
  if (dir !== undefined) return null;
  try {
    const folder = dataFolder();
    if (!existsSync(path.join(folder, 'checkpoints', 'sessions'))) return null;
    return `Earlier releases kept checkpoints in ${shownPath(folder)}; add --dir ${shownPath(folder)} to see them.`;
  } catch {
    return null; // without a home folder there is no such folder
  }
}

/**
 * Runs work that looks for a checkpoint. @throws what it throws, with a hint where else the checkpoint may be
 */
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
