/** Turns SQLite errors into the library's typed errors. */
import { type ErrorCode, isRekindleError, messageOf, RekindleError } from '../../core/errors.js';

const BUSY = new Set([5, 6]);
const FULL = 13;

/** @param doing what was attempted, such as `append` */
export function sqliteError(thrown: unknown, doing: string, place: string): RekindleError {
  if (isRekindleError(thrown)) return thrown;
  const result = resultCodeOf(thrown);
  const details = { doing, place, ...(result === null ? {} : { sqlite: result }) };
  const code = codeFor(result === null ? null : result & 0xff);
  return new RekindleError(code, `Could not ${doing} in ${place}: ${messageOf(thrown)}`, {
    details,
    cause: thrown,
  });
}

/** The primary code is the low byte: another process holds the lock for too long, or there is no space. */
function codeFor(primary: number | null): ErrorCode {
  if (primary !== null && BUSY.has(primary)) return 'STORAGE_UNAVAILABLE';
  return primary === FULL ? 'STORAGE_FULL' : 'STORAGE_FAILED';
}

/** True if nothing was kept: SQLite waited for others, or found no space and rolled back. */
export function nothingKept(error: RekindleError): boolean {
  return error.code === 'STORAGE_UNAVAILABLE' || error.code === 'STORAGE_FULL';
}

function resultCodeOf(thrown: unknown): number | null {
  const { errcode, sqliteExtendedCode } = thrown as {
    readonly errcode?: unknown;
    readonly sqliteExtendedCode?: unknown;
  };
  if (typeof sqliteExtendedCode === 'number') return sqliteExtendedCode;
  return typeof errcode === 'number' ? errcode : null;
}
