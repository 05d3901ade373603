/** Filters of searches and namespace lists, with the semantics of `InMemoryStore`. */
import { isDeepStrictEqual } from 'node:util';
import type { MatchCondition } from '@langchain/langgraph-checkpoint';
import { RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';

type Compare = (held: unknown, wanted: unknown) => boolean;

const OPERATORS: Readonly<Record<string, Compare>> = {
  $eq: (held, wanted) => isDeepStrictEqual(held, wanted),
  $ne: (held, wanted) => !isDeepStrictEqual(held, wanted),
  $gt: (held, wanted) => Number(held) > Number(wanted),
  $gte: (held, wanted) => Number(held) >= Number(wanted),
  $lt: (held, wanted) => Number(held) < Number(wanted),
  $lte: (held, wanted) => Number(held) <= Number(wanted),
  $in: (held, wanted) => Array.isArray(wanted) && wanted.some((one) => isDeepStrictEqual(held, one)),
  $nin: (held, wanted) => !Array.isArray(wanted) || !wanted.some((one) => isDeepStrictEqual(held, one)),
};

/** Whether every field of the filter matches: by equality, or by its operators. */
export function fitsFilter(value: JsonObject, filter: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(filter).every(([field, wanted]) => {
    const held = Object.hasOwn(value, field) ? value[field] : undefined;
    const operators = operatorsIn(wanted);
    if (!operators) return isDeepStrictEqual(held, wanted);
    return operators.every(([compare, operand]) => compare(held, operand));
  });
}

/** Null for a plain value, which has a key that is not an operator. */
function operatorsIn(wanted: unknown): (readonly [Compare, unknown])[] | null {
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted)) return null;
  const found: (readonly [Compare, unknown])[] = [];
  for (const [name, operand] of Object.entries(wanted)) {
    if (!Object.hasOwn(OPERATORS, name)) return null;
    found.push([OPERATORS[name]!, operand]);
  }
  return found;
}

/** `*` matches any label. @throws INVALID_ARGUMENT for an invalid condition */
export function fitsCondition(namespace: readonly string[], { matchType, path }: MatchCondition): boolean {
  if ((matchType !== 'prefix' && matchType !== 'suffix') || !Array.isArray(path))
    throw new RekindleError(
      'INVALID_ARGUMENT',
      'A match condition needs `matchType` ("prefix" or "suffix") and `path`, a list of labels.',
      {
        details: { argument: 'matchConditions', matchType: String(matchType) },
      },
    );
  if (path.length > namespace.length) return false;
  const start = matchType === 'prefix' ? 0 : namespace.length - path.length;
  return path.every((label, index) => label === '*' || label === namespace[start + index]);
}
