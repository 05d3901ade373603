/** Reads the newest versions of many keys in one pass over the journal. */
import { isRekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import type { TimeSlices } from '../../core/time-slices.js';
import type { Cursor, Journal } from '../../storage/ports.js';
import type { IndexedEntry } from './entry-index.js';
import { decodeEntry, type EntryRecord } from './entry-record.js';

/** Up to this gap, reading on is cheaper than starting at another place. */
const GAP_BYTES = 128 * 1024;

/**
 * Passes each record to `take` once. A version whose record is missing or damaged is skipped. @throws ABORTED
 */
export async function readEntries(
  journal: Journal<JsonObject>,
  wanted: readonly IndexedEntry[],
  take: (record: EntryRecord) => void,
  slices: TimeSlices,
): Promise<void> {
  const places = [...wanted].sort(byPlace);
  const missed: IndexedEntry[] = [];
  const found = (info: IndexedEntry, record: EntryRecord | null) => {
    if (record && isOf(info, record)) take(record);
    else missed.push(info);
  };
  for (let next = 0; next < places.length; ) next = await readFrom(journal, places, next, found, slices);
  if (missed.length === 0) return;
  // A repair moved records, so places are wrong: one pass over the whole journal finds the remaining ones.
  const byKey = new Map(missed.map((info) => [info.key, info]));
  for await (const entry of journal.read({ archived: true })) {
    if (slices.isOver) await slices.pause();
    const record = entry.kind === 'record' ? decodeEntry(entry.record) : null;
    const info = record && byKey.get(record.key);
    if (!info || !isOf(info, record)) continue;
    byKey.delete(record.key);
    take(record);
  }
}

/**
 * Reads from one place as long as the next one is near, and passes on the records at these places.
 * @returns the index of the next place
 */
async function readFrom(
  journal: Journal<JsonObject>,
  places: readonly IndexedEntry[],
  first: number,
  found: (info: IndexedEntry, record: EntryRecord | null) => void,
  slices: TimeSlices,
): Promise<number> {
  let next = first;
  try {
    for await (const entry of journal.read({ cursor: places[first]!.cursor, archived: true })) {
      if (slices.isOver) await slices.pause();
      if (entry.kind !== 'record') continue;
      for (let info = places[next]; info; info = places[next]) {
        const distance = compare(info.cursor, entry.cursor);
        if (distance > 0) break;
        found(info, distance === 0 ? decodeEntry(entry.record) : null);
        next += 1;
      }
      const following = places[next];
      if (!following || isFar(entry.cursor, following.cursor)) return next;
    }
    for (; next < places.length; next += 1) found(places[next]!, null); // the journal ends before them
  } catch (thrown) {
    if (!isRekindleError(thrown, 'INVALID_ARGUMENT')) throw thrown;
    const { segment } = places[next]!.cursor; // the segment is missing, with all records in it
    for (; places[next]?.cursor.segment === segment; next += 1) found(places[next]!, null);
  }
  return next;
}

function isOf({ key, version }: IndexedEntry, record: EntryRecord): boolean {
  return record.key === key && record.version === version;
}

function isFar(from: Cursor, to: Cursor): boolean {
  return to.segment !== from.segment || to.offset - from.offset > GAP_BYTES;
}

function byPlace(a: IndexedEntry, b: IndexedEntry): number {
  return compare(a.cursor, b.cursor);
}

function compare(a: Cursor, b: Cursor): number {
  return a.segment - b.segment || a.offset - b.offset;
}
