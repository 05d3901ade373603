/** Errors as problem details (RFC 9457), with this library's error codes. */
import { type ErrorCode, isRekindleError, RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import type { Refusal } from '../access/refusal.js';
import type { Reply } from './route.js';

const STATUS: Partial<Record<ErrorCode, number>> = {
  INVALID_ARGUMENT: 400,
  INVALID_NAME: 400,
  PATH_REFUSED: 400,
  MESSAGE_INVALID: 400,
  AGENT_NOT_FOUND: 404,
  SESSION_NOT_FOUND: 404,
  ENTRY_NOT_FOUND: 404,
  APPROVAL_NOT_WAITING: 409,
  FACT_NOT_FOUND: 404,
  TOKEN_NOT_FOUND: 404,
  CHECKPOINT_NOT_FOUND: 404,
  STATE_NOT_FOUND: 404,
  DOCUMENT_CONFLICT: 409,
  SESSION_EXISTS: 409,
  SESSION_STATE: 409,
  ERASURE_UNFINISHED: 409,
  HUMAN_EDIT: 409,
  ERASURE_REFUSED: 409,
  HISTORY_GONE: 410,
  LIMIT_EXCEEDED: 422,
  TYPE_MISMATCH: 422,
  STATE_INVALID: 422,
  STATE_TOO_LARGE: 422,
  LEASE_HELD: 503,
  LEASE_LOST: 503,
  JOURNAL_OUTCOME_UNKNOWN: 500,
  STORAGE_QUOTA_EXCEEDED: 413,
  STORAGE_UNAVAILABLE: 503,
  KEY_UNAVAILABLE: 503,
  STORAGE_FULL: 507,
};

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
  507: 'Insufficient Storage',
};

/** The HTTP status of an error. */
export function statusOf(code: ErrorCode): number {
  return STATUS[code] ?? 500;
}

/** The text of an unexpected error may contain anything, so only `onUnexpected` gets it. */
export function problemOf(thrown: unknown, onUnexpected: (thrown: unknown) => void): Reply {
  if (isRefused(thrown)) return refusalReply(thrown.refusal);
  if (!isRekindleError(thrown)) {
    onUnexpected(thrown);
    return problem(500, {
      code: 'UNEXPECTED',
      detail: 'An unexpected error occurred. See the log of the server.',
    });
  }
  const status = statusOf(thrown.code);
  if (status === 500) onUnexpected(thrown);
  const { code, message, details, advice } = thrown;
  const conflict = code === 'DOCUMENT_CONFLICT' ? conflictFields(details) : {};
  const headers = retryAfter(status, details);
  return problem(status, { code, detail: message, advice, details, ...conflict }, headers);
}

/** In seconds, where waiting helps. */
function retryAfter(status: number, { remainingMs }: JsonObject): Readonly<Record<string, string>> {
  if (typeof remainingMs === 'number') return { 'Retry-After': String(Math.ceil(remainingMs / 1_000)) };
  return status === 503 ? { 'Retry-After': '1' } : {};
}

/** As in the shared-state design. A version is null if the key has no value. */
function conflictFields(details: JsonObject): JsonObject {
  const { key, currentVersion, currentValue, ifVersion } = details;
  return {
    error: 'version_conflict',
    ...(key === undefined ? {} : { key }),
    current_version: currentVersion || null,
    your_version: ifVersion ?? null,
    ...(currentValue === undefined ? {} : { current_value: currentValue }),
  };
}

export function problem(
  status: number,
  fields: JsonObject,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  const body = { type: 'about:blank', title: TITLES[status] ?? 'Error', status, ...fields };
  return { status, body, headers: { 'Content-Type': 'application/problem+json', ...headers } };
}

export function refusalReply({ status, reason, detail, headers }: Refusal): Reply {
  return problem(status, { code: 'REQUEST_REFUSED', detail, details: { reason } }, headers);
}

/** Carries a refusal out of a handler. */
class RefusedError extends RekindleError {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super('REQUEST_REFUSED', refusal.detail, { details: { reason: refusal.reason } });
    this.refusal = refusal;
  }
}

export function refused(refusal: Refusal): RekindleError {
  return new RefusedError(refusal);
}

function isRefused(thrown: unknown): thrown is RefusedError {
  return thrown instanceof RefusedError;
}
