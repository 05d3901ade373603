/** The prefix of our objects in a bucket or volume. It is taken literally, so that it can be used in access rules. */
import { RekindleError } from '../../core/errors.js';

/** Without slashes at its ends; empty for the whole bucket or volume. @throws INVALID_ARGUMENT */
export function placePrefix(prefix: string | undefined): string {
  const trimmed = (prefix ?? '').replace(/^\/+|\/+$/g, '');
  if (trimmed === '') return '';
  const bad = trimmed.split('/').some((part) => part === '' || part === '.' || part === '..');
  if (bad || /[\u0000-\u001f\u007f\\]/.test(trimmed) || !trimmed.isWellFormed()) {
    throw new RekindleError(
      'INVALID_ARGUMENT',
      'The prefix needs plain folder names between its slashes: none empty, `.` or `..`, no backslash or control character.',
      { details: { prefix: trimmed.toWellFormed().slice(0, 80) } },
    );
  }
  return trimmed;
}
