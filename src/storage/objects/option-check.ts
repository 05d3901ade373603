import { RekindleError } from '../../core/errors.js';

/** Undefined is accepted: it means the default. @throws INVALID_ARGUMENT */
export function assertWholeNumber(argument: string, value: number | undefined, least: number): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= least)) return;
  const message = `\`${argument}\` is a whole number of at least ${least}.`;
  throw new RekindleError('INVALID_ARGUMENT', message, { details: { argument, value: String(value) } });
}
