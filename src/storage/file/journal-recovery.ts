/** Takes a live file back into use after a failed sync: through a new descriptor, and only if what was acknowledged is there. */
import { RekindleError } from '../../core/errors.js';
import { errnoOf, type FileSystem, type OpenFile } from '../file-system.js';
import type { JournalHead, Lease } from '../ports.js';
import { readRange } from './file-io.js';
import { assertOneName } from './file-paths.js';
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

/** Whether the record is on disk cannot be known; the next append finds out first. */
export function outcomeUnknown(journal: string, what: string, cause: unknown): RekindleError {
  return new RekindleError('JOURNAL_OUTCOME_UNKNOWN', `${journal} ${what}.`, {
    details: { journal, errno: errnoOf(cause) ?? 'UNKNOWN' },
    cause,
  });
}

export function continuedByAnother(journal: string): RekindleError {
  return new RekindleError('LEASE_LOST', `${journal} was continued by another writer.`, {
    details: { journal },
  });
}

/**
 * Opens a live file to go on in it. Only a check of the lease that follows the opening tells that it is the file that was read: a
 * new owner gives the name to another one, but not before it has the lease.
 */
export async function openWhileHeld(fs: FileSystem, target: string, lease: Lease | null): Promise<OpenFile> {
  await assertOneName(fs, target);
  const file = await fs.open(target, 'update').catch(async (thrown: unknown) => {
    await lease?.check(); // is it a new owner that moved it?
    throw thrown;
  });
  try {
    await lease?.check();
    return file;
  } catch (thrown) {
    await file.close().catch(() => {});
    throw thrown;
  }
}
