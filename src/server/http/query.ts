/** Values from the query of a request. */
import { RekindleError } from '../../core/errors.js';
import type { Route, RouteRequest } from './route.js';

/**
 * Refuses unknown parameters, because a misspelt `at` would silently return the present. @throws
 * INVALID_ARGUMENT
 */
export function assertKnownQuery({ parameters = [] }: Route, query: URLSearchParams): void {
  const known = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
  for (const field of new Set(query.keys())) {
    if (known.includes(field) && query.getAll(field).length === 1) continue;
    const takes =
      known.length === 0 ? 'This address takes none.' : `It takes ${known.join(', ')}, each once.`;
    throw new RekindleError(
      'INVALID_ARGUMENT',
      `The query is refused at ${JSON.stringify(field)}. ${takes}`,
      {
        details: { field, known },
      },
    );
  }
}

/** Null if it is not given. @throws INVALID_ARGUMENT */
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

/** Undefined if it is not given. */
export function text({ query }: RouteRequest, name: string): string | undefined {
  return query.get(name) ?? undefined;
}
