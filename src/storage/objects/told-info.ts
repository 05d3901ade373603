import type { ObjectInfo } from './object-storage.js';
import { RequestFailure } from './request-failure.js';

/** Nothing is put in the place of what an answer lacks: a size or a time that is guessed would be acted upon. @throws RequestFailure */
export function toldInfo(size: number | undefined, modifiedMs: number | undefined): ObjectInfo {
  if (size === undefined || !(size >= 0) || modifiedMs === undefined || Number.isNaN(modifiedMs))
    throw new RequestFailure('the answer lacks the size or the time of an object.', { transient: false });
  return { size, modifiedMs };
}
