/** How the writer of a journal opens, creates and reopens the live file: only while it holds the lease, and only if everything acknowledged is present. */
import { RekindleError } from '../../core/errors.js';
import { errnoOf, type FileSystem, type OpenFile } from '../file-system.js';
import type { JournalHead, Lease } from '../ports.js';
import { readRange } from './file-io.js';
import { assertOneName } from './file-paths.js';
import { decodeLine } from './journal-line.js';
import type { SegmentFiles } from './journal-segments.js';

export interface Acknowledged {
  readonly journal: string;
  readonly segment: number;
  /** Position after the last acknowledged record. */
  readonly end: number;
  readonly head: JournalHead;
}

/** Cuts off everything after the last acknowledged record. @throws JOURNAL_DAMAGED */
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

/** It cannot be known whether the record is on disk; the next append finds out first. */
export function outcomeUnknown(journal: string, what: string, cause: unknown): RekindleError {
  return new RekindleError('JOURNAL_OUTCOME_UNKNOWN', `${journal} ${what}.`, {
    details: { journal, errno: errnoOf(cause) ?? 'UNKNOWN' },
    cause,
  });
}

export function continuedByAnother(journal: string): RekindleError {
  return new RekindleError('LEASE_LOST', `Another writer has taken over ${journal}.`, {
    details: { journal },
  });
}

/**
 * Opens a live file to continue in it. Only a lease check after opening proves that it is the file that was read: a new
 * owner may give the name to another file, but not before it has the lease.
 */
export async function openWhileHeld(fs: FileSystem, target: string, lease: Lease | null): Promise<OpenFile> {
  await assertOneName(fs, target);
  const file = await fs.open(target, 'update').catch(async (thrown: unknown) => {
    await lease?.check(); // did a new owner move it?
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

/** An empty file was left by a failed attempt. Any other file of the name holds data that was not read. */
export async function createFirstSegment(
  fs: FileSystem,
  { livePath, base }: SegmentFiles,
  lease: Lease | null,
): Promise<OpenFile> {
  try {
    return await fs.open(livePath, 'create');
  } catch (thrown) {
    if (errnoOf(thrown) !== 'EEXIST') throw thrown;
    if ((await fs.stat(livePath))?.sizeBytes !== 0) throw continuedByAnother(base);
    return openWhileHeld(fs, livePath, lease);
  }
}
