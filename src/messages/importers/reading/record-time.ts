/** Times of records: written as text in one tool, in milliseconds in another. */
import type { JsonValue } from '../../../core/json.js';

/** The first given time that is one, in seconds since 1970. */
export function timeOf(...given: readonly (JsonValue | undefined)[]): { readonly ts?: number } {
  for (const value of given) {
    const milliseconds = typeof value === 'string' ? Date.parse(value) : value;
    if (typeof milliseconds === 'number' && Number.isFinite(milliseconds)) return { ts: milliseconds / 1000 };
  }
  return {};
}
