/** A file that a person named. */
import { readFile } from 'node:fs/promises';
import { messageOf, RekindleError } from '../core/errors.js';

/** @throws INVALID_ARGUMENT when it is not there, or cannot be read */
export async function readGiven(file: string): Promise<Uint8Array> {
  return readFile(file).catch((cause: unknown) => {
    throw new RekindleError('INVALID_ARGUMENT', `${file} cannot be read: ${messageOf(cause)}.`, {
      details: { argument: 'file', file },
      cause,
    });
  });
}
