import type { ObjectInfo } from './object-storage.js';
import { RequestFailure } from './request-failure.js';

/** A missing size or time is not guessed, because callers would act on the guess. @throws RequestFailure */
export function toldInfo(size: number | undefined, modifiedMs: number | undefined): ObjectInfo {
  if (size === undefined || !(size >= 0) || modifiedMs === undefined || Number.isNaN(modifiedMs))
    throw new RequestFailure('the answer lacks the size or the time of an object.', { transient: false });
  return { size, modifiedMs };
}
