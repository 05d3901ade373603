/** Numbers in what clients send: one that would be stored as another is refused. Who means an id sends it as text. */
import { RekindleError } from '../../core/errors.js';
import { quoteLargeIntegers } from '../../core/json-digits.js';

/** @throws INVALID_ARGUMENT */
export function assertExactNumbers(text: string): void {
  if (quoteLargeIntegers(text) === text) return;
  throw new RekindleError(
    'INVALID_ARGUMENT',
    'The body has a number with more digits than are kept (2^53). Send it as text.',
    { details: { field: 'body', problem: 'number' } },
  );
}
