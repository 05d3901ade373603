/** Problems of the file system: its errors as the library's typed errors, and warnings about a place. */
import { isRekindleError, messageOf, RekindleError } from '../../core/errors.js';
import { errnoOf } from '../file-system.js';

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
const REFUSED = new Set(['ELOOP', 'EINVAL', 'EISDIR', 'ENOTDIR', 'ENXIO', 'ESPIPE']);

const FORBIDDEN =
  'The user who runs this may not use the files. A run with sudo, or in a container as root, leaves files of root: give them to the user with `sudo chown -R USER FOLDER`. What was acknowledged before is safe.';
const ADVICE: Readonly<Record<string, string>> = {
  EACCES: FORBIDDEN,
  EPERM: FORBIDDEN,
  EROFS:
    'The disk is mounted read-only: choose a folder on another one. What was acknowledged before is safe.',
};

/** @param doing what was attempted, such as `append to raw_traces.jsonl` */
export function storageError(thrown: unknown, doing: string): RekindleError {
  if (isRekindleError(thrown)) return thrown;
  const errno = errnoOf(thrown) ?? 'UNKNOWN';
  const options = { details: { doing, errno }, cause: thrown };
  if (FULL.has(errno))
    return new RekindleError('STORAGE_FULL', `No space left: could not ${doing}.`, options);
  if (REFUSED.has(errno)) {
    return new RekindleError(
      'PATH_REFUSED',
      `Not a plain file or folder: could not ${doing} (${errno}).`,
      options,
    );
  }
  const advice = Object.hasOwn(ADVICE, errno) ? { advice: ADVICE[errno]! } : {};
  return new RekindleError('STORAGE_FAILED', `Could not ${doing}: ${messageOf(thrown)}`, {
    ...options,
    ...advice,
  });
}

/** Runs an operation and names it in its error. */
export async function labelled<T>(doing: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (thrown) {
    throw storageError(thrown, doing);
  }
}

/** A property of its place that a file store found and its owner should know. Reported once; nothing fails because of it. */
export interface StorageWarning {
  readonly code: 'REKINDLE_NO_LINKS' | 'REKINDLE_NO_FOLDER_SYNC' | 'REKINDLE_OPEN_TO_ALL';
  readonly place: string;
  readonly message: string;
}

/** Reported the way Node.js does: on standard error, and to listeners of `process.on('warning')`. */
export function emitStorageWarning({ code, message }: StorageWarning): void {
  process.emitWarning(message, { type: 'RekindleWarning', code });
}
