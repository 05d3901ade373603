/** The error for a save that would exceed a limit. */
import { RekindleError } from '../../core/errors.js';

export function quotaExceeded(
  what: string,
  currentSize: number,
  maxSize: number,
  sessionId: string,
): RekindleError {
  const text = `Saving would take ${currentSize} ${what}, and ${maxSize} are allowed.`;
  return new RekindleError('STORAGE_QUOTA_EXCEEDED', text, {
    details: { what, currentSize, maxSize, sessionId },
  });
}
