/** Checks the database file before SQLite opens it: it must be a plain file that only its owner can read. */
import { closeSync, constants, existsSync, lstatSync, mkdirSync, openSync } from 'node:fs';
import path from 'node:path';
import { RekindleError } from '../../core/errors.js';

export function databaseExists(file: string): boolean {
  return existsSync(file);
}

/** Creates the file and its folder if missing. SQLite gives its other files the same permissions. @throws PATH_REFUSED */
export function preparePlace(file: string): void {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat && !stat.isFile()) {
    throw new RekindleError('PATH_REFUSED', `${file} is not a plain file, and is refused.`, {
      details: { path: file },
    });
  }
  if (stat) return;
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  try {
    closeSync(openSync(file, constants.O_CREAT | constants.O_EXCL | constants.O_RDWR, 0o600));
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown; // another process was first
  }
}
