/** The id of a checkpoint: its session and its number there, such as `billing@12`. */
import { RekindleError } from '../core/errors.js';
import { encodeNameSegment } from '../storage/name-encoding.js';

export interface CheckpointPlace {
  readonly sessionId: string;
  readonly number: number;
}

const ID = /^(.+)@([1-9]\d{0,14})$/su;

/** The id of the checkpoint at this place, such as `billing@12`. */
export function checkpointId({ sessionId, number }: CheckpointPlace): string {
  return `${sessionId}@${number}`;
}

/** Splits an id such as `billing@12` into its session and number. @throws CHECKPOINT_NOT_FOUND if it is not a checkpoint id, INVALID_NAME */
export function parseCheckpointId(id: string): CheckpointPlace {
  const match = typeof id === 'string' ? ID.exec(id) : null;
  if (!match) throw checkpointNotFound(String(id));
  encodeNameSegment(match[1]!);
  return { sessionId: match[1]!, number: Number(match[2]) };
}

export function checkpointNotFound(id: string): RekindleError {
  const shown = id.slice(0, 300).toWellFormed();
  return new RekindleError('CHECKPOINT_NOT_FOUND', `There is no checkpoint ${JSON.stringify(shown)}.`, {
    details: { checkpointId: shown },
  });
}

/** The error for a session whose checkpoints were all removed. */
export function noneLeft(sessionId: string): RekindleError {
  const text = `The session ${JSON.stringify(sessionId)} has no checkpoint any more, or only archived ones.`;
  return new RekindleError('CHECKPOINT_NOT_FOUND', text, { details: { sessionId } });
}

export function sessionNotFound(sessionId: string): RekindleError {
  const text = `There is no session ${JSON.stringify(sessionId)} with checkpoints.`;
  return new RekindleError('SESSION_NOT_FOUND', text, { details: { sessionId } });
}
