/** The audit log of a store: who did what, in one chained journal that several processes append to. */
import { type Clock, systemClock } from '../../core/clock.js';
import { isRekindleError, RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import type { Journal, Lease, Name, StorageBackend } from '../ports.js';
import { SharedLease } from '../shared-lease.js';
import { AUDIT_START, type AuditEntry, type AuditHead, auditRecordOf, nextRecord } from './audit-record.js';

/** The journal of the log, and the lease of its writers. */
export const AUDIT_JOURNAL = {
  journal: ['audit', 'records'] satisfies Name,
  lease: ['audit', 'records.lease'] satisfies Name,
};

/** Options of `AuditLog`. */
export interface AuditLogOptions {
  /** For tests: another clock. */
  readonly clock?: Clock;
}

interface Waiting {
  readonly entry: AuditEntry;
  readonly at: string;
  readonly resolve: () => void;
  readonly reject: (thrown: unknown) => void;
}

/** A lease that is lost again and again means that this process is suspended for seconds at a time. */
const TRIES = 5;
/** Records of one commit. */
const BATCH_MAX = 500;

/**
 * Records actions in the store's audit log. Each record contains the hash of the one before it, so a later change, removal or
 * insertion is detected by `verifyAudit`. Actions that are recorded at the same time share one commit.
 *
 *     const log = new AuditLog(backend);
 *     await log.record({ actor: 'user ann', action: 'export', target: 'agent desk', what: 'my-tool', outcome: 'allowed' });
 */
export class AuditLog {
  readonly #backend: StorageBackend;
  readonly #clock: Clock;
  readonly #turns: SharedLease;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | null = null;
  #writer: Journal<JsonObject> | null = null;
  /** The end that this process wrote last; valid while the journal's head has its number. */
  #head: AuditHead | null = null;

  constructor(backend: StorageBackend, options: AuditLogOptions = {}) {
    this.#backend = backend;
    this.#clock = options.clock ?? systemClock;
    this.#turns = new SharedLease(backend.leases, AUDIT_JOURNAL.lease, { onEnd: () => this.#closeWriter() });
  }

  /**
   * Durable when it resolves. The caller must not perform the action before that, or if it throws.
   * @throws LEASE_HELD, STORAGE_FULL, STORAGE_FAILED, JOURNAL_OUTCOME_UNKNOWN
   */
  record(entry: AuditEntry): Promise<void> {
    const at = new Date(this.#clock.nowMs()).toISOString();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ entry, at, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  /** Waits for records that are being written. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#turns.close();
  }

  async #writeAll(): Promise<void> {
    await Promise.resolve(); // what is recorded in the same tick shares the commit
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH_MAX);
      try {
        await this.#writeInTurn(batch);
        for (const { resolve } of batch) resolve();
      } catch (thrown) {
        for (const { reject } of batch) reject(thrown);
      }
    }
    this.#writing = null; // in the same step as the last look, so that no record waits for nobody
  }

  async #writeInTurn(batch: readonly Waiting[]): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#turns.run((lease) => this.#append(batch, lease));
        return;
      } catch (thrown) {
        // Another process appended: the records need another place in the chain.
        const isBehind = isRekindleError(thrown, 'LEASE_LOST') || isRekindleError(thrown, 'JOURNAL_CONFLICT');
        if (!isBehind || attempt === TRIES) throw thrown;
      }
    }
  }

  async #append(batch: readonly Waiting[], lease: Lease): Promise<void> {
    const writer = (this.#writer ??= await this.#backend.openJournal<JsonObject>(AUDIT_JOURNAL.journal, {
      lease,
    }));
    const { seq } = await writer.head();
    const known = this.#head;
    this.#head = null; // until the outcome is known
    let head = known?.seq === seq ? known : { seq, hash: await lastHash(writer) };
    const records: JsonObject[] = [];
    for (const { entry, at } of batch) {
      const record = nextRecord(this.#redacted(entry), head, at);
      head = { seq: record.seq, hash: record.hash };
      records.push({ ...record });
    }
    await writer.append(records, { expectedSeq: seq });
    this.#head = head;
  }

  /** Before hashing, because the store would redact the record after it. */
  #redacted(entry: AuditEntry): AuditEntry {
    const { redactor } = this.#backend;
    return redactor ? (redactor.json({ ...entry }) as unknown as AuditEntry) : entry;
  }

  async #closeWriter(): Promise<void> {
    const writer = this.#writer;
    this.#writer = null;
    this.#head = null;
    await writer?.close();
  }
}

/** True if the store has an audit log. Reads only. */
export async function hasAuditLog(backend: StorageBackend): Promise<boolean> {
  const journal = await backend.openJournal<JsonObject>(AUDIT_JOURNAL.journal, { readOnly: true });
  try {
    return (await journal.head()).seq > 0 || journal.openingDamage().length > 0;
  } finally {
    await journal.close();
  }
}

/** The hash that the newest readable record claims: a damaged log is continued, and `verifyAudit` reports the damage. */
async function lastHash(journal: Journal<JsonObject>): Promise<string> {
  for await (const entry of journal.readBackward()) {
    const record = entry.kind === 'record' ? auditRecordOf(entry.record) : null;
    if (record) return record.hash;
  }
  return AUDIT_START.hash;
}

/** @throws INVALID_ARGUMENT unless it is a hash of an audit log */
export function assertAuditHash(text: string): void {
  if (/^[0-9a-f]{64}$/.test(text)) return;
  const problem = 'A head is 64 hexadecimal digits, as `rekindle audit verify` prints them.';
  throw new RekindleError('INVALID_ARGUMENT', problem, {
    details: { argument: 'head', given: text.slice(0, 80) },
  });
}
