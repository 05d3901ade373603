import { RekindleError } from '../../core/errors.js';
import { encodeNameSegment } from '../name-encoding.js';
import type { Name } from '../ports.js';

/** Injective: each segment is checked and percent-encoded, so a separator inside cannot make two names one. */
export function keyOf(name: Name): string {
  if (name.length === 0) throw new RekindleError('INVALID_ARGUMENT', 'A name needs at least one segment.');
  for (const segment of name) encodeNameSegment(segment);
  return name.map(encodeURIComponent).join('/');
}
