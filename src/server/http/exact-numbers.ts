/** Refuses numbers that would be rounded. Clients must send large ids as text. */
import { RekindleError } from '../../core/errors.js';
import { quoteLargeIntegers } from '../../core/json-digits.js';

/** @throws INVALID_ARGUMENT */
export function assertExactNumbers(text: string): void {
  if (quoteLargeIntegers(text) === text) return;
  throw new RekindleError(
    'INVALID_ARGUMENT',
    'The body has a number with too many digits (above 2^53), which would be rounded. Send it as text.',
    { details: { field: 'body', problem: 'number' } },
  );
}
