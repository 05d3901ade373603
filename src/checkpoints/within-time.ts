/** Limits how long a caller waits. The work itself continues, but its outcome is no longer observed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isRekindleError, RekindleError } from '../core/errors.js';

/** Wait before the second try of a read, in ms; doubled each time. */
const RETRY_MS = 25;

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

/**
 * Repeats a read within the time while the storage is unavailable. Only for reads: a repeated write might be done twice.
 * @throws STORAGE_UNAVAILABLE, and what the read throws otherwise
 */
export function readWithin<T>(ms: number, doing: string, read: () => Promise<T>): Promise<T> {
  const untilMs = performance.now() + ms;
  const repeated = async (): Promise<T> => {
    for (let waitMs = RETRY_MS; ; waitMs *= 2) {
      try {
        return await read();
      } catch (thrown) {
        const isLast = performance.now() + waitMs >= untilMs;
        if (isLast || !isRekindleError(thrown, 'STORAGE_UNAVAILABLE')) throw thrown;
      }
      await sleep(waitMs, undefined, { ref: false });
    }
  };
  return withinTime(ms, doing, repeated());
}
