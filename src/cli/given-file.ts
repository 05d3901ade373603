/** Reads a file given on the command line. */
import { readFile } from 'node:fs/promises';
import { messageOf, RekindleError } from '../core/errors.js';

/** @throws INVALID_ARGUMENT if it is missing or unreadable */
export async function readGiven(file: string): Promise<Uint8Array> {
  return readFile(file).catch((cause: unknown) => {
    throw new RekindleError('INVALID_ARGUMENT', `${file} cannot be read: ${messageOf(cause)}.`, {
      details: { argument: 'file', file },
      cause,
    });
  });
}
