/** Conditional requests: `If-Match` and `If-None-Match` with versions. */
import { RekindleError } from '../../core/errors.js';
import type { VersionCondition } from '../../state/shared/key-decision.js';
import type { RouteRequest } from './route.js';

/**
 * An entity tag contains a version, a whole number. A proxy that compresses answers makes our tags weak; the
 * version in them is still exact.
 */
const TAG = /^(?:W\/)?"(\d{1,15})"$/;

export function tagOf(version: number): string {
  return `"${version}"`;
}

/**
 * The condition of a change: `If-Match: "3"`, `If-Match: "3", "4"` (one of them), `If-Match: *` (the key has
 * a value), `If-None-Match: *` (it has none). Null without such a header: the last writer wins. @throws
 * INVALID_ARGUMENT for anything else
 */
export function conditionOf(request: RouteRequest): VersionCondition | null {
  const match = request.header('If-Match');
  const noneMatch = request.header('If-None-Match');
  if (match !== null && noneMatch !== null)
    throw badTag('If-Match', 'use If-Match or If-None-Match, not both');
  if (noneMatch !== null) {
    if (noneMatch.trim() === '*') return 0;
    throw badTag('If-None-Match', 'a change accepts only *, to create a key without replacing it');
  }
  if (match === null) return null;
  if (match.trim() === '*') return '*';
  const versions = match.split(',').map((given) => Number(TAG.exec(given.trim())?.[1] ?? Number.NaN));
  if (versions.some(Number.isNaN))
    throw badTag('If-Match', 'it is a version in quotes, such as "3", several with commas, or *');
  return versions.length === 1 ? versions[0]! : versions;
}

/** Whether the client already has this version: then it gets 304. */
export function hasCurrent(request: RouteRequest, tag: string): boolean {
  const header = request.header('If-None-Match');
  if (header === null) return false;
  const tags = header.split(',').map((given) => given.trim().replace(/^W\//, ''));
  return tags.includes(tag) || tags.includes('*');
}

function badTag(field: string, rule: string): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `${field} is refused: ${rule}.`, { details: { field, rule } });
}
