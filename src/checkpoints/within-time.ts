/** Limits how long a caller waits. The work itself continues, but its outcome is no longer observed. */
import { RekindleError } from '../core/errors.js';

/** @throws STORAGE_UNAVAILABLE */
export async function withinTime<T>(ms: number, doing: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const text = `The storage did not answer within ${ms} ms: could not ${doing}.`;
      reject(new RekindleError('STORAGE_UNAVAILABLE', text, { details: { doing, ms } }));
    }, ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
