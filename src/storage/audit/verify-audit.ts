/** Reads an audit log, and finds the first place where its chain is broken. */
import type { JsonObject } from '../../core/json.js';
import { isHarmful } from '../journal-check.js';
import type { JournalDamage, JournalEntry, StorageBackend } from '../ports.js';
import { AUDIT_JOURNAL, assertAuditHash } from './audit-log.js';
import { AUDIT_START, type AuditHead, type AuditRecord, auditRecordOf, isIntact } from './audit-record.js';

/** Where a chain is broken first. */
export interface AuditProblem {
  /** The number of the record, or of the place where one is missing. */
  readonly seq: number;
  /** `cut`: the log does not contain the given head. */
  readonly reason: 'changed' | 'removed' | 'inserted' | 'cut';
}

/** The result of `verifyAudit`. */
export interface AuditVerification {
  readonly ok: boolean;
  /** Number of readable records. */
  readonly records: number;
  /** The last record before the first problem; null if there is none. Keep it elsewhere. */
  readonly head: AuditHead | null;
  readonly problem: AuditProblem | null;
}

/** Options of `verifyAudit`. */
export interface VerifyAuditOptions {
  /** The hash of a head that was kept elsewhere. Without it, records that were removed from the end are not noticed. */
  readonly head?: string;
}

/** The readable records, oldest first, whether or not the chain is intact. Changes nothing. */
export async function* auditRecords(backend: StorageBackend): AsyncGenerator<AuditRecord> {
  const journal = await backend.openJournal<JsonObject>(AUDIT_JOURNAL.journal, { readOnly: true });
  try {
    for await (const entry of journal.read({ archived: true })) {
      const record = entry.kind === 'record' ? auditRecordOf(entry.record) : null;
      if (record) yield record;
    }
  } finally {
    await journal.close();
  }
}

/**
 * Computes the chain again. Somebody who can write the store can make a new, intact chain; only a head that was kept elsewhere
 * shows that. Changes nothing. @throws INVALID_ARGUMENT for a head that is not a hash, and what storage throws
 */
export async function verifyAudit(
  backend: StorageBackend,
  options: VerifyAuditOptions = {},
): Promise<AuditVerification> {
  if (options.head !== undefined) assertAuditHash(options.head);
  const journal = await backend.openJournal<JsonObject>(AUDIT_JOURNAL.journal, { readOnly: true });
  let head = AUDIT_START;
  let problem: AuditProblem | null = null;
  let records = 0;
  let isHeadFound = options.head === undefined || options.head === AUDIT_START.hash;
  try {
    for await (const entry of journal.read({ archived: true })) {
      if (entry.kind === 'record') records += 1;
      problem ??= problemOf(entry, head);
      if (problem !== null || entry.kind !== 'record') continue;
      const { seq, hash } = entry.record as unknown as AuditRecord;
      head = { seq, hash };
      isHeadFound ||= hash === options.head;
    }
    problem ??= lastProblem(journal.openingDamage(), (await journal.head()).seq, head);
  } finally {
    await journal.close();
  }
  if (!isHeadFound) problem ??= { seq: head.seq + 1, reason: 'cut' };
  return { ok: problem === null, records, head: head.seq === 0 ? null : head, problem };
}

function problemOf(entry: JournalEntry<JsonObject>, { seq: last, hash }: AuditHead): AuditProblem | null {
  const seq = last + 1;
  if (entry.kind === 'damage') return damageProblem(entry, seq);
  const record = auditRecordOf(entry.record);
  // A line without a checksum was written by another tool.
  if (record === null || entry.crc === null || !isIntact(record)) return { seq, reason: 'changed' };
  if (record.seq > seq) return { seq, reason: 'removed' };
  if (record.seq < seq) return { seq, reason: 'inserted' };
  return record.prev === hash && entry.seq === seq ? null : { seq, reason: 'changed' };
}

/** An incomplete last record, and bytes after the end of a sealed file, were never acknowledged. */
function damageProblem(damage: JournalDamage, seq: number): AuditProblem | null {
  if (!isHarmful(damage)) return null;
  const { reason } = damage;
  if (reason === 'sequence-gap' || reason === 'missing-segment') return { seq, reason: 'removed' };
  return { seq, reason: reason === 'sequence-repeated' ? 'inserted' : 'changed' };
}

/** Records that the journal knows to have had, but does not contain. */
function lastProblem(damage: readonly JournalDamage[], seq: number, head: AuditHead): AuditProblem | null {
  for (const one of damage) {
    const problem = damageProblem(one, head.seq + 1);
    if (problem) return problem;
  }
  return seq > head.seq ? { seq: head.seq + 1, reason: 'removed' } : null;
}
