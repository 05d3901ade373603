/** The error for a checkpoint that differs from what was saved. */
import { RekindleError } from '../../core/errors.js';

export function damaged(session: string, number: number, problem: string, cause?: unknown): RekindleError {
  return new RekindleError('CHECKPOINT_DAMAGED', `The checkpoint ${session}@${number}: ${problem}.`, {
    details: { sessionId: session, number, problem },
    cause,
  });
}
