/** Interprets a PostgreSQL failure: whether to retry, and whether the operation may have taken effect. */
import { isRekindleError, messageOf, RekindleError } from '../../core/errors.js';

export type Failure =
  /** Had no effect; the same call may succeed soon. */
  | 'again'
  /** The answer was lost; it may have taken effect. */
  | 'unsure'
  | 'final';

/** Serialization failure, deadlock, cancelled, too many connections, starting up, or a standby for the moment. */
const AGAIN = new Set(['40001', '40P01', '55P03', '57014', '53300', '57P03', '25006', '25P03']);
const UNSURE = new Set(['57P01', '57P02', '57P05', '40003']);

/** @param sent whether a statement had been sent when it failed */
export function failureOf(thrown: unknown, sent: boolean): Failure {
  if (isRekindleError(thrown, 'STORAGE_UNAVAILABLE')) return sent ? 'unsure' : 'again'; // no connection in time
  if (isRekindleError(thrown)) return 'final';
  const state = sqlStateOf(thrown);
  const lost = sent ? 'unsure' : 'again';
  if (state === null) return isProgramError(thrown) ? 'final' : lost;
  if (AGAIN.has(state)) return 'again';
  return UNSURE.has(state) || state.startsWith('08') ? lost : 'final';
}

/** An error of this program, not of the connection. */
function isProgramError(thrown: unknown): boolean {
  return thrown instanceof TypeError || thrown instanceof RangeError;
}

/** Null for failures that the server did not report: a socket error, a time-out. */
export function sqlStateOf(thrown: unknown): string | null {
  const { code, severity } = thrown as { readonly code?: unknown; readonly severity?: unknown };
  return typeof code === 'string' && typeof severity === 'string' ? code : null;
}

/** The connection can be reused. */
export function connectionLives(thrown: unknown): boolean {
  const { severity } = thrown as { readonly severity?: unknown };
  return severity === 'ERROR';
}

/** @param doing what was attempted */
export function postgresError(thrown: unknown, doing: string, place: string): RekindleError {
  if (isRekindleError(thrown)) return thrown;
  const state = sqlStateOf(thrown);
  const options = {
    details: { doing, place, ...(state === null ? {} : { sqlState: state }) },
    cause: thrown,
  };
  const code =
    state === '53100' || state === '53200' || state === '54000' ? 'STORAGE_FULL' : 'STORAGE_FAILED';
  return new RekindleError(code, `Could not ${doing} in ${place}: ${messageOf(thrown)}`, options);
}

export function unavailable(thrown: unknown, doing: string, place: string, waitedMs: number): RekindleError {
  const waited = Math.round(waitedMs);
  const message = `${place} did not answer within ${waited} ms (${doing}): ${messageOf(thrown)}`;
  return new RekindleError('STORAGE_UNAVAILABLE', message, {
    details: { doing, place, waitedMs: waited },
    cause: thrown,
  });
}

export function outcomeUnknown(thrown: unknown, doing: string, place: string): RekindleError {
  const message = `The answer of ${place} was lost (${doing}): ${messageOf(thrown)}`;
  return new RekindleError('JOURNAL_OUTCOME_UNKNOWN', message, { details: { doing, place }, cause: thrown });
}
