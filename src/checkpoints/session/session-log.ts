/**
 * The journal of one session, and what it leads to. In an encrypted session every record carries a code that only the key can make, of
 * its place and its content: one that was changed, or put somewhere else, does not count.
 */
import { hash } from 'node:crypto';
import { canonicalJson } from '../../core/canonical-json.js';
import { RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import { isHarmful } from '../../storage/journal-check.js';
import { followFrom, JOURNAL_START } from '../../storage/journal-position.js';
import type { Journal, JournalHead, JournalRecord, Name, StorageBackend } from '../../storage/ports.js';
import { type Decision, SharedJournal } from '../../storage/shared-journal.js';
import type { DataKey, SessionKeys } from '../encryption/session-keys.js';
import { type CheckpointRecord, decodeRecord } from './checkpoint-record.js';
import { type PlacedRecord, SessionState } from './session-state.js';

export interface SessionLogOptions {
  readonly folder: Name;
  readonly session: string;
  readonly keys: SessionKeys;
  readonly waitMs: number;
  readonly nowMs: () => number;
}

/** A record that does not count, and why. */
export interface RefusedRecord {
  readonly seq: number;
  readonly reason: 'forged' | 'unknown';
}

/** What tells that a session's records up to here are those that were: its last record. */
export interface SessionHead {
  readonly sessionId: string;
  readonly seq: number;
  /** SHA-256 of that record's canonical JSON, hex. */
  readonly digest: string;
}

export type CheckpointDecision<T> = Omit<Decision<CheckpointRecord, T>, 'record'> & {
  readonly record?: CheckpointRecord;
};

/** Records that are no longer of use, before a new beginning is written. */
const SPENT_MAX = 1_000;
/** About how much of the journal is removed at once. */
const SEGMENT_BYTES = 256 * 1024;
/** The shortest record that a damaged range can have held. */
const RECORD_BYTES_MIN = 200;

export class SessionLog {
  readonly #journal: SharedJournal<JsonObject>;
  readonly #options: SessionLogOptions;
  /** The records since the last beginning, as they were read. */
  #rows: JournalRecord<JsonObject>[] = [];
  #state = new SessionState();
  #refused: RefusedRecord[] = [];
  /** The number of the first record that carries a code; null in a session that is not encrypted. */
  #sealedFrom: number | null = null;
  /** Every row was checked with its key. */
  #checked = true;
  #endDamage = 0;

  constructor(backend: StorageBackend, options: SessionLogOptions) {
    this.#options = options;
    this.#journal = new SharedJournal(backend, {
      ...journalNames(options.folder),
      waitMs: options.waitMs,
      segmentBytes: SEGMENT_BYTES,
      fold: {
        load: (journal) => this.#load(journal),
        apply: (row) => this.#apply(row),
        endDamaged: (bytes) => {
          this.#endDamage = bytes;
        },
      },
    });
  }

  get state(): SessionState {
    return this.#state;
  }

  get head(): JournalHead {
    return this.#journal.head;
  }

  get isEncrypted(): boolean {
    return this.#sealedFrom !== null;
  }

  get refused(): readonly RefusedRecord[] {
    return this.#refused;
  }

  /** The number of the next checkpoint. What was damaged at the end may have had some: they are left out. */
  get nextNumber(): number {
    const lost = this.#endDamage === 0 ? 0 : Math.floor(this.#endDamage / RECORD_BYTES_MIN) + 1;
    return this.#state.last + lost + 1;
  }

  refresh(): Promise<void> {
    return this.#journal.refresh();
  }

  reader(): Promise<Journal<JsonObject>> {
    return this.#journal.reader();
  }

  /** Null for a session without records. */
  async headOf(): Promise<SessionHead | null> {
    for await (const entry of (await this.reader()).readBackward())
      if (entry.kind === 'record') return this.#headAt(entry);
    return null;
  }

  /** Whether the record of a head is there as it was. One before the last beginning may be gone. */
  async holds(head: SessionHead): Promise<boolean> {
    const last = await this.headOf();
    if (!last || last.seq < head.seq) return false;
    for await (const entry of (await this.reader()).read({ after: head.seq - 1 })) {
      if (entry.kind !== 'record') continue;
      if (entry.seq === head.seq) return this.#headAt(entry).digest === head.digest;
      return entry.record['type'] === 'base' || this.#rows.some(({ record }) => record['type'] === 'base');
    }
    return false;
  }

  #headAt({ seq, record }: JournalRecord<JsonObject>): SessionHead {
    return { sessionId: this.#options.session, seq, digest: hash('sha256', canonicalJson(record), 'hex') };
  }

  /** Harmful damage in the journal, in bytes. */
  async damagedBytes(): Promise<number> {
    let bytes = 0;
    for await (const entry of (await this.reader()).read())
      if (entry.kind === 'damage' && isHarmful(entry)) bytes += Math.max(1, entry.bytes);
    return bytes;
  }

  /** Makes sure that every record was checked with its key. @throws KEY_UNAVAILABLE */
  async authenticate(): Promise<void> {
    if (this.#checked) return;
    for (const { record } of this.#rows)
      if (typeof record['key'] === 'string') await this.#options.keys.get(record['key']);
    this.#fold();
  }

  /**
   * One change, on the newest state, which is authentic.
   * @param key what to seal the record with; asked after the decision
   * @throws KEY_UNAVAILABLE, UNSUPPORTED_VERSION, and as `SharedJournal.change`
   */
  async change<T>(
    decide: () => Promise<CheckpointDecision<T>>,
    key: () => Promise<DataKey | null>,
  ): Promise<T> {
    const result = await this.#journal.change(async (): Promise<Decision<JsonObject, T>> => {
      await this.authenticate();
      this.#assertKnown();
      const { record, ...decision } = await decide();
      if (!record) return decision;
      return { ...decision, record: this.#sealed(record, await key()) };
    });
    await this.#beginAnew(key);
    return result;
  }

  /** Work under the session's lock that appends nothing. */
  async locked<T>(work: () => Promise<T>): Promise<T> {
    return this.#journal.maintain(async () => {
      await this.#journal.refresh();
      return work();
    });
  }

  /** A long history is replaced by one record. What comes before it goes when the next beginning is there: readers may be at it. */
  async #beginAnew(key: () => Promise<DataKey | null>): Promise<void> {
    if (this.#state.spent < SPENT_MAX) return;
    const at = new Date(this.#options.nowMs()).toISOString();
    await this.#journal.change(async (): Promise<Decision<JsonObject, void>> => {
      if (this.#state.spent < SPENT_MAX) return { done: () => {} };
      return { record: this.#sealed(this.#state.baseRecord(at), await key()), done: () => {} };
    });
    const begin = this.#rows.find(({ record }) => record['type'] === 'base')?.seq ?? 0;
    await this.#journal.maintain((journal) => journal.removeBefore(begin));
  }

  #sealed(record: CheckpointRecord, key: DataKey | null): JsonObject {
    const row = record as unknown as JsonObject;
    if (!key) return row;
    const sealed = { ...row, key: key.id };
    return { ...sealed, mac: key.macOf(this.#options.session, this.head.seq + 1, sealed) };
  }

  /** What a newer release wrote is not to be lost by what this one writes. */
  #assertKnown(): void {
    const unknown = this.#refused.find(({ reason }) => reason === 'unknown');
    if (!unknown) return;
    const text = `Record ${unknown.seq} of the session ${JSON.stringify(this.#options.session)} is of no kind that is known here.`;
    throw new RekindleError('UNSUPPORTED_VERSION', text, {
      details: { session: this.#options.session, seq: unknown.seq },
    });
  }

  async #load(journal: Journal<JsonObject>): Promise<JournalHead> {
    this.#rows = [];
    const head = await followFrom(journal, JOURNAL_START, (row) => this.#rows.push(row));
    this.#fold();
    return head ?? JOURNAL_START;
  }

  #apply(row: JournalRecord<JsonObject>): void {
    this.#rows.push(row);
    this.#take(row);
  }

  #fold(): void {
    const rows = this.#rows;
    this.#rows = [...rows];
    this.#state = new SessionState();
    this.#refused = [];
    this.#sealedFrom = null;
    this.#checked = true;
    for (const row of rows) this.#take(row);
  }

  #take(row: JournalRecord<JsonObject>): void {
    const { seq } = row;
    const { mac, ...content } = row.record;
    if (this.#isForged(seq, content, mac)) {
      this.#refused.push({ seq, reason: 'forged' });
      return;
    }
    const record = decodeRecord(content);
    if (!record) this.#refused.push({ seq, reason: 'unknown' });
    else if (record.type === 'base') this.#begin(row, { seq, record });
    else this.#state.apply({ seq, record }, keyOf(content));
  }

  #begin(row: JournalRecord<JsonObject>, placed: PlacedRecord): void {
    this.#state = new SessionState();
    this.#state.apply(placed, keyOf(row.record));
    if (this.#checked) this.#rows = this.#rows.slice(this.#rows.indexOf(row)); // it will not be taken back
  }

  #isForged(seq: number, content: JsonObject, mac: unknown): boolean {
    const keyId = keyOf(content);
    if (keyId === null || typeof mac !== 'string') return this.#sealedFrom !== null || hasSealedPack(content);
    this.#sealedFrom ??= seq;
    const key = this.#options.keys.known(keyId);
    if (key) return key.macOf(this.#options.session, seq, content) !== mac;
    this.#checked = false; // counts until the key is there
    return false;
  }

  close(): Promise<void> {
    return this.#journal.close();
  }
}

function keyOf(content: JsonObject): string | null {
  const key = content['key'];
  return typeof key === 'string' ? key : null;
}

/** Data is sealed only together with the record that names it. */
function hasSealedPack({ pack }: JsonObject): boolean {
  return isJsonObject(pack) && pack['key'] !== undefined;
}

export function journalNames(folder: Name): { readonly journal: Name; readonly lease: Name } {
  return { journal: [...folder, 'checkpoints'], lease: [...folder, 'session.lease'] };
}
