/** Turns a failed request into the library's typed errors. The message says what to do. */
import { type ErrorCode, RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import type { RequestFailure } from './request-failure.js';

/** The attempted request, for error messages. */
export interface ObjectRequest {
  /** Such as `put`. */
  readonly operation: string;
  /** The object's key, or the prefix of a listing. */
  readonly name: string;
}

const FULL_STATUS = new Set([413, 507]);
const FULL_CODES =
  /^(?:EntityTooLarge|\w*QuotaExceeded|\w*StorageFull|QUOTA_EXCEEDED|STORAGE_QUOTA_EXCEEDED|MAX_FILE_SIZE_EXCEEDED)$/;

/** @param attempts number of requests that were made */
export function objectError(
  failure: RequestFailure,
  request: ObjectRequest,
  attempts: number,
): RekindleError {
  const { status, serverCode } = failure;
  const details: JsonObject = { operation: request.operation, name: request.name };
  if (status !== undefined) details['status'] = status;
  if (serverCode !== undefined) details['serverCode'] = serverCode;
  const problem = failure.message.replace(/[.!]?$/, '.');
  const told = `Could not ${request.operation} ${request.name}: ${problem}`;
  const fail = (code: ErrorCode, message: string) =>
    new RekindleError(code, message, { details, cause: failure });
  if ((status !== undefined && FULL_STATUS.has(status)) || FULL_CODES.test(serverCode ?? ''))
    return fail('STORAGE_FULL', `${told} Free space, or raise the quota or the size limit of the store.`);
  if (failure.transient) {
    details['attempts'] = attempts;
    return fail('STORAGE_UNAVAILABLE', `${told} Given up after ${attempts} attempts.`);
  }
  return fail('STORAGE_FAILED', `${told} ${whatToDo(status)}`.trimEnd());
}

function whatToDo(status: number | undefined): string {
  if (status === 401) return 'Check the credentials: they are missing, wrong or expired.';
  if (status === 403) return 'Check the credentials, and that they may read, write, list and delete there.';
  if (status === 404) return 'Check that the bucket or volume exists and is spelt so.';
  if (status !== undefined && status >= 300 && status < 400)
    return 'The server sends elsewhere: check the host, the region and the credentials.';
  return '';
}
