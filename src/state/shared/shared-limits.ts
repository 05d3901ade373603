/** Limits of a shared state. A change beyond a limit is refused as a whole; the error contains the limit. */
import { isRekindleError, RekindleError } from '../../core/errors.js';
import type { JsonValue } from '../../core/json.js';
import { toJsonValue } from '../../core/to-json-value.js';

/** Limits of a shared state, in bytes or counts. Overridden with `SharedStateOptions.limits`. */
export interface SharedLimits {
  /** Keys with a value. Default 1,000. */
  readonly keys: number;
  /** One value as JSON, in bytes. Default 256 KiB. */
  readonly valueBytes: number;
  /** All keys with their values, in bytes. Default 10 MiB. */
  readonly totalBytes: number;
  /** Nesting depth of one value. Default 64. */
  readonly depth: number;
  /** Operations in one batch. Default 1,000. */
  readonly batch: number;
  /** Operands of all operations of one batch as JSON, in bytes. Default 16 MiB. */
  readonly batchBytes: number;
  /**
   * Minimum of changes kept in the history. Older ones are removed; versions are not reused. Default 10,000.
   */
  readonly history: number;
}

/** The default limits. */
export const SHARED_LIMITS: SharedLimits = {
  keys: 1_000,
  valueBytes: 256 * 1024,
  totalBytes: 10 * 1024 * 1024,
  depth: 64,
  batch: 1_000,
  batchBytes: 16 * 1024 * 1024,
  history: 10_000,
};

/** One journal record must be able to contain the whole state and the waiting changes. */
export const SHARED_LIMITS_MAX: Partial<SharedLimits> = {
  keys: 20_000,
  totalBytes: 24 * 1024 * 1024,
  batchBytes: 16 * 1024 * 1024,
  depth: 256,
};

/**
 * The given limits with defaults for the others. @throws INVALID_ARGUMENT for an invalid limit, or one that
 * is too large to store
 */
export function sharedLimits(given: Partial<SharedLimits> = {}): SharedLimits {
  const limits = { ...SHARED_LIMITS, ...given };
  for (const [name, limit] of Object.entries(limits) as [keyof SharedLimits, number][]) {
    const max = SHARED_LIMITS_MAX[name] ?? Number.MAX_SAFE_INTEGER;
    if (Number.isSafeInteger(limit) && limit >= 0 && limit <= max) continue;
    throw new RekindleError(
      'INVALID_ARGUMENT',
      `The limit ${name} must be a whole number from 0 to ${max}.`,
      {
        details: { field: name, max },
      },
    );
  }
  return limits;
}

/** Adds the index of the operation to an error. */
export function atIndex<T>(index: number, check: () => T): T {
  try {
    return check();
  } catch (thrown) {
    if (!isRekindleError(thrown)) throw thrown;
    throw new RekindleError(thrown.code, `Operation ${index}: ${thrown.message}`, {
      details: { ...thrown.details, index },
      cause: thrown,
    });
  }
}

/** In bytes of UTF-8. */
const KEY_BYTES_MAX = 512;

export function assertKey(key: unknown): asserts key is string {
  const problem =
    typeof key !== 'string' || key === ''
      ? 'it is no text, or empty'
      : key === '.' || key === '..'
        ? 'it stands for a folder in every address'
        : !key.isWellFormed()
          ? 'it has half of a character'
          : Buffer.byteLength(key) > KEY_BYTES_MAX
            ? `it has more than ${KEY_BYTES_MAX} bytes`
            : null;
  if (problem === null) return;
  throw new RekindleError('INVALID_ARGUMENT', `This cannot be a key: ${problem}.`, {
    details: { field: 'key', problem },
  });
}

/**
 * A copy of the value as JSON. Nothing is converted. @throws INVALID_ARGUMENT if it is not plain JSON,
 * LIMIT_EXCEEDED
 */
export function checkedJson(field: string, given: unknown, { depth }: SharedLimits): JsonValue {
  const { value, changes } = toJsonValue(given);
  const [change] = changes;
  if (given === undefined || change) {
    const where = change ? ` at ${JSON.stringify(change.path)} (${change.kind})` : '';
    throw new RekindleError('INVALID_ARGUMENT', `${field} must be plain JSON${where}.`, {
      details: { field, path: change?.path ?? '', problem: change?.kind ?? 'undefined' },
    });
  }
  const actual = depthOf(value, depth + 1);
  if (actual > depth) throw limitExceeded('depth', depth, actual, `${field} is nested too deep`);
  return value;
}

/** 0 for a primitive value; stops at `max`. */
function depthOf(value: JsonValue, max: number): number {
  if (typeof value !== 'object' || value === null || max === 0) return 0;
  let deepest = 0;
  for (const item of Object.values(value)) deepest = Math.max(deepest, depthOf(item, max - 1));
  return deepest + 1;
}

export function limitExceeded(
  limit: keyof SharedLimits | 'touchedBytes',
  allowed: number,
  actual: number,
  what: string,
): RekindleError {
  return new RekindleError('LIMIT_EXCEEDED', `${what}: ${actual}, where ${allowed} is allowed.`, {
    details: { limit, allowed, actual },
  });
}

/** @throws INVALID_ARGUMENT */
export function assertVersionNumber(field: string, version: number): void {
  if (!Number.isSafeInteger(version) || version < 0) throw invalid(field, 'it is a version, 0 or more');
}

export function invalid(field: string, rule: string): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `${field} is refused: ${rule}.`, { details: { field, rule } });
}
