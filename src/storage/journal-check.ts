/** Reads a whole journal and reports what is wrong with it; repairs it on request. */
import type { JsonObject } from '../core/json.js';
import type { Journal, JournalDamage, JournalRecord, Name, SegmentRepair, StorageBackend } from './ports.js';

export interface JournalCheck {
  readonly records: number;
  /** Records without a checksum, written by another tool. */
  readonly unverified: number;
  readonly damage: readonly JournalDamage[];
}

/** A journal that several processes write, and the lease that they take for it. */
export interface SharedJournalName {
  readonly journal: Name;
  readonly lease: Name;
}

/** Reads every record, including archived ones. Changes nothing. */
export async function checkJournal(
  backend: StorageBackend,
  name: Name,
  onRecord: (entry: JournalRecord<JsonObject>, count: number) => void = () => {},
): Promise<JournalCheck> {
  const journal = await backend.openJournal<JsonObject>(name, { readOnly: true });
  try {
    const damage: JournalDamage[] = [...journal.openingDamage()];
    let records = 0;
    let unverified = 0;
    for await (const entry of journal.read({ archived: true })) {
      if (entry.kind === 'damage') {
        damage.push(entry);
        continue;
      }
      records += 1;
      if (entry.crc === null) unverified += 1;
      onRecord(entry, records);
    }
    return { records, unverified, damage };
  } finally {
    await journal.close();
  }
}

/**
 * Bytes that a fenced writer added behind a seal, and an incomplete last record, were never acknowledged, so they are
 * harmless.
 */
export function isHarmful({ reason }: JournalDamage): boolean {
  return reason !== 'after-seal' && reason !== 'torn';
}

/** Replaces damaged files by clean copies and keeps the damaged ones. @throws LEASE_HELD while another process writes */
export async function repairSharedJournal(
  backend: StorageBackend,
  name: SharedJournalName,
): Promise<SegmentRepair[]> {
  const lease = await backend.leases.acquire(name.lease);
  try {
    const journal = await backend.openJournal(name.journal, { lease });
    try {
      return await journal.repair();
    } finally {
      await journal.close();
    }
  } finally {
    await lease.release();
  }
}

/** Bytes of harmful damage after the last record: they may have been records. */
export async function damagedAtEnd<R extends JsonObject>(journal: Journal<R>): Promise<number> {
  let bytes = 0;
  for await (const entry of journal.readBackward()) {
    if (entry.kind === 'record') break;
    if (isHarmful(entry)) bytes += entry.bytes;
  }
  return bytes;
}
