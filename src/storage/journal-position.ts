/** Continues reading a journal from a known position, after checking that it is still the same journal. */
import { isRekindleError } from '../core/errors.js';
import type { JsonObject } from '../core/json.js';
import { TimeSlices } from '../core/time-slices.js';
import type { Journal, JournalHead, JournalRecord } from './ports.js';

export const JOURNAL_START: JournalHead = { seq: 0, cursor: null, crc: null };

function isAt<R>(entry: JournalRecord<R>, { seq, crc, cursor }: JournalHead): boolean {
  const { segment, offset } = entry.cursor;
  return entry.seq === seq && entry.crc === crc && segment === cursor?.segment && offset === cursor.offset;
}

/**
 * Passes every record after a position to `apply`, in order, and waits if `apply` returns a promise. Damage is skipped.
 * Returns the new position; null if the journal no longer contains the old one: it was repaired, or is another journal.
 * @param limit the maximum number of records to pass; default: all
 */
export async function followFrom<R extends JsonObject>(
  journal: Journal<R>,
  from: JournalHead,
  apply: (entry: JournalRecord<R>) => unknown,
  limit?: number,
): Promise<JournalHead | null> {
  let head = from;
  let found = from.cursor === null;
  const slices = new TimeSlices();
  const options = {
    ...(from.cursor === null ? {} : { after: from.seq - 1, cursor: from.cursor }),
    ...(limit === undefined ? {} : { limit: limit + (found ? 0 : 1) }),
  };
  try {
    for await (const entry of journal.read(options)) {
      if (slices.isOver) await slices.pause();
      if (entry.kind !== 'record') continue;
      if (!found && !isAt(entry, from)) return null;
      const applied = found ? apply(entry) : undefined;
      if (applied instanceof Promise) await applied;
      found = true;
      head = { seq: entry.seq, cursor: entry.cursor, crc: entry.crc };
    }
  } catch (thrown) {
    if (from.cursor !== null && isRekindleError(thrown, 'INVALID_ARGUMENT')) return null; // its segment is gone
    throw thrown;
  }
  return found ? head : null;
}
