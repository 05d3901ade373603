/** Takes a live file back into use after a failed sync: through a new descriptor, and only if what was acknowledged is there. */
import { RekindleError } from '../../core/errors.js';
import type { OpenFile } from '../file-system.js';
import type { JournalHead } from '../ports.js';
import { readRange } from './file-io.js';
import { decodeLine } from './journal-line.js';

export interface Acknowledged {
  readonly journal: string;
  readonly segment: number;
  /** Behind the last acknowledged record. */
  readonly end: number;
  readonly head: JournalHead;
}

/** What lies behind the last acknowledged record is cut off. @throws JOURNAL_DAMAGED */
export async function restoreAcknowledged(file: OpenFile, known: Acknowledged): Promise<void> {
  const sizeBytes = await file.sizeBytes();
  if (sizeBytes < known.end || !(await lastRecordIsThere(file, known))) {
    const { journal, end } = known;
    throw new RekindleError('JOURNAL_DAMAGED', `${journal} lost acknowledged records after a failed sync.`, {
      details: { journal, sizeBytes, expectedBytes: end },
    });
  }
  await file.truncate(known.end);
  await file.datasync();
}

async function lastRecordIsThere(file: OpenFile, { segment, end, head }: Acknowledged): Promise<boolean> {
  if (head.crc === null || head.cursor?.segment !== segment) return true;
  const line = await readRange(file, head.cursor.offset, end - head.cursor.offset);
  const decoded = decodeLine(line.at(-1) === 0x0a ? line.subarray(0, -1) : line);
  return decoded.kind === 'record' && decoded.crc === head.crc;
}
