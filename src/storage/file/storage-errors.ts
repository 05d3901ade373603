/** Turns what the file system throws into the typed errors of the library. */
import { isRekindleError, messageOf, RekindleError } from '../../core/errors.js';
import { errnoOf } from '../file-system.js';

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
const REFUSED = new Set(['ELOOP', 'EINVAL', 'EISDIR', 'ENOTDIR', 'ENXIO', 'ESPIPE']);

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
  return new RekindleError('STORAGE_FAILED', `Could not ${doing}: ${messageOf(thrown)}`, options);
}

/** Runs an operation and labels its failure. */
export async function labelled<T>(doing: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (thrown) {
    throw storageError(thrown, doing);
  }
}
