/** The records of the journal after the cache, and whether the cache belongs to this journal at all. */
import { isRekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import type { Cursor, Journal, JournalDamage, JournalEntry, JournalHead } from '../../storage/ports.js';
import type { SnapshotFooter } from '../store/snapshot-file.js';
import { withDistinctCallIds } from './foreign-call-ids.js';
import type { TraceReplay } from './trace-replay.js';

export function isCurrent(footer: SnapshotFooter, head: JournalHead): boolean {
  if (footer.coversSeq !== head.seq || footer.coversCrc !== head.crc) return false;
  return isSamePlace(footer.cursor, head.cursor);
}

/** The record on which the cache ends: present, damaged, or missing (another record is there, or none). */
export type CacheEnd = 'there' | 'damaged' | 'not-there';

/** Applies all records after the last one that the cache covers. Applies nothing if that record is missing. */
export async function replayTail(
  replay: TraceReplay,
  footer: SnapshotFooter,
  journal: Journal<JsonObject>,
): Promise<CacheEnd> {
  let end: CacheEnd = footer.coversSeq === 0 ? 'there' : 'not-there';
  const tail: JournalEntry<JsonObject>[] = [];
  for await (const entry of await entriesFrom(journal, footer)) {
    if (end === 'not-there') {
      end = await endAt(entry, footer, journal);
      if (end === 'not-there') return end;
      if (end === 'there') continue;
    }
    tail.push(entry);
  }
  const { entries, renamed } = withDistinctCallIds(tail);
  for (const entry of entries) replay.apply(entry);
  replay.noteRenamed(renamed);
  return end;
}

async function endAt(
  entry: JournalEntry<JsonObject>,
  footer: SnapshotFooter,
  journal: Journal<JsonObject>,
): Promise<CacheEnd> {
  if (entry.kind === 'damage') return (await tookTheRecord(entry, footer, journal)) ? 'damaged' : 'not-there';
  return entry.seq === footer.coversSeq && entry.crc === footer.coversCrc ? 'there' : 'not-there';
}

/** From the cache's cursor or, if its segment is gone, by number alone. */
async function entriesFrom(
  journal: Journal<JsonObject>,
  footer: SnapshotFooter,
): Promise<AsyncIterable<JournalEntry<JsonObject>>> {
  const after = Math.max(0, footer.coversSeq - 1);
  if (!footer.cursor) return journal.read({ after });
  try {
    const probe = journal.read({ after, cursor: footer.cursor, limit: 0 });
    for await (const _ of probe) break;
    return journal.read({ after, cursor: footer.cursor });
  } catch (thrown) {
    if (!isRekindleError(thrown, 'INVALID_ARGUMENT')) throw thrown;
    return journal.read({ after });
  }
}

/**
 * Damaged bytes may have been the record that the cache covers, or the middle of another record: the cursor of another
 * line of history can point anywhere. Reading from the start shows where lines begin.
 */
async function tookTheRecord(
  damage: JournalDamage,
  { cursor }: SnapshotFooter,
  journal: Journal<JsonObject>,
): Promise<boolean> {
  if (!['checksum', 'not-json', 'torn', 'too-long'].includes(damage.reason)) return false;
  for await (const entry of journal.read()) {
    if (isSamePlace(entry.cursor, cursor)) return entry.kind === 'damage';
  }
  return false;
}

function isSamePlace(a: Cursor | null, b: Cursor | null): boolean {
  return a?.segment === b?.segment && a?.offset === b?.offset;
}
