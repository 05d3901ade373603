/** Values from the query of a request. */
import { RekindleError } from '../../core/errors.js';
import type { RouteRequest } from './route.js';

/** Null where it is not given. @throws INVALID_ARGUMENT */
export function wholeNumber(
  { query }: RouteRequest,
  name: string,
  max = Number.MAX_SAFE_INTEGER,
  min = 0,
): number | null {
  const text = query.get(name);
  if (text === null) return null;
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(number) && number >= min && number <= max) return number;
  throw new RekindleError('INVALID_ARGUMENT', `${name} must be a whole number from ${min} to ${max}.`, {
    details: { field: name },
  });
}

/** Undefined where it is not given. */
export function text({ query }: RouteRequest, name: string): string | undefined {
  return query.get(name) ?? undefined;
}
