/** Times of records: some tools write text, others milliseconds. */
import type { JsonValue } from '../../../core/json.js';

/** The first valid time, in seconds since 1970. */
export function timeOf(...given: readonly (JsonValue | undefined)[]): { readonly ts?: number } {
  for (const value of given) {
    const milliseconds = typeof value === 'string' ? Date.parse(value) : value;
    if (typeof milliseconds === 'number' && Number.isFinite(milliseconds)) return { ts: milliseconds / 1000 };
  }
  return {};
}
