/** Reads the newest versions of many keys in one pass over the journal, however many keys there are. */
import { isRekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import type { TimeSlices } from '../../core/time-slices.js';
import type { Cursor, Journal } from '../../storage/ports.js';
import type { IndexedEntry } from './entry-index.js';
import { decodeEntry, type EntryRecord } from './entry-record.js';

/** Reading on over so many bytes is cheaper than to begin at another place. */
const GAP_BYTES = 128 * 1024;

/** By key. A version whose record is gone or damaged is absent. */
export async function readEntries(
  journal: Journal<JsonObject>,
  wanted: readonly IndexedEntry[],
  slices: TimeSlices,
): Promise<Map<string, EntryRecord>> {
  const found = new Map<string, EntryRecord>();
  const versions = new Map(wanted.map(({ key, version }) => [key, version]));
  const take = (record: EntryRecord | null) => {
    if (record && versions.get(record.key) === record.version) found.set(record.key, record);
  };
  const places = wanted.map(({ cursor }) => cursor).sort(byPlace);
  for (let next = 0; next < places.length; ) next = await readFrom(journal, places, next, take, slices);
  if (found.size === versions.size) return found;
  // A repair moved records, so places are wrong: one pass over everything finds what is still there.
  for await (const entry of journal.read({ archived: true })) {
    await slices.breathe();
    if (entry.kind === 'record') take(decodeEntry(entry.record));
  }
  return found;
}

/** Reads on from one place as long as the next one is near. @returns the index of the first place that was not reached */
async function readFrom(
  journal: Journal<JsonObject>,
  places: readonly Cursor[],
  first: number,
  take: (record: EntryRecord | null) => void,
  slices: TimeSlices,
): Promise<number> {
  let next = first;
  try {
    for await (const entry of journal.read({ cursor: places[first]!, archived: true })) {
      await slices.breathe();
      if (entry.kind !== 'record' || !entry.cursor) continue;
      if (byPlace(entry.cursor, places[next]!) === 0) take(decodeEntry(entry.record));
      while (places[next] && byPlace(places[next]!, entry.cursor) <= 0) next += 1;
      const following = places[next];
      if (!following || isFar(entry.cursor, following)) break;
    }
  } catch (thrown) {
    if (!isRekindleError(thrown, 'INVALID_ARGUMENT')) throw thrown; // its segment is gone
  }
  return Math.max(next, first + 1);
}

function isFar(from: Cursor, to: Cursor): boolean {
  return to.segment !== from.segment || to.offset - from.offset > GAP_BYTES;
}

function byPlace(a: Cursor, b: Cursor): number {
  return a.segment - b.segment || a.offset - b.offset;
}
