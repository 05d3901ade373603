/**
 * The journal of one session and its state. In an encrypted session every record carries a keyed code of its
 * place and content: a changed or moved record is ignored.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import { canonicalJson } from '../../core/canonical-json.js';
import { RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import { isHarmful } from '../../storage/journal-check.js';
import { followFrom, JOURNAL_START } from '../../storage/journal-position.js';
import type {
  Journal,
  JournalHead,
  JournalRecord,
  Lease,
  Name,
  StorageBackend,
} from '../../storage/ports.js';
import { type Decision, SharedJournal } from '../../storage/shared-journal.js';
import type { StorageRedactor } from '../../storage/storage-redactor.js';
import type { DataKey, SessionKeys } from '../encryption/session-keys.js';
import { type CheckpointRecord, decodeRecord } from './checkpoint-record.js';
import type { NumberRange } from './number-ranges.js';
import { SessionState } from './session-state.js';

export interface SessionLogOptions {
  readonly folder: Name;
  readonly session: string;
  readonly keys: SessionKeys;
  readonly waitMs: number;
  readonly nowMs: () => number;
}

/** An ignored record, and why. */
export interface RefusedRecord {
  readonly seq: number;
  readonly reason: 'forged' | 'unknown';
}

/** Identifies the records of a session up to this point, to detect later changes. */
export interface SessionHead {
  readonly sessionId: string;
  readonly seq: number;
  /** SHA-256 over the records up to this one, hex. */
  readonly digest: string;
}

/** The outcome of a decision: a record and the key to seal it with, or none, and the final step. */
export interface CheckpointDecision<T> {
  readonly record?: CheckpointRecord;
  readonly key?: DataKey | null;
  done(): T;
}

/** Number of obsolete records after which a base record is written. */
const SPENT_MAX = 1_000;
/** Approximate bytes of the journal that are removed at once. */
const SEGMENT_BYTES = 256 * 1024;

export class SessionLog {
  readonly #journal: SharedJournal<JsonObject>;
  readonly #options: SessionLogOptions;
  readonly #redactor: StorageRedactor | null;
  #state = new SessionState();
  #refused: RefusedRecord[] = [];
  #isEncrypted = false;
  /** Data keys that records name. */
  #keyIds = new Set<string>();
  /** Keys to authenticate records with later. Records of a key that is nowhere stored are ignored. */
  readonly #wanted = new Set<string>();
  readonly #strange = new Set<string>();
  /** Numbers of missing records since the last base record. */
  #gaps: NumberRange[] = [];
  #lastSeq = 0;
  /** Number of records read, ignored ones included. */
  #records = 0;
  #loads = 0;

  constructor(backend: StorageBackend, options: SessionLogOptions) {
    this.#options = options;
    this.#redactor = backend.redactor ?? null;
    this.#journal = new SharedJournal(backend, {
      ...journalNames(options.folder),
      waitMs: options.waitMs,
      segmentBytes: SEGMENT_BYTES,
      fold: { load: (journal) => this.#load(journal), apply: (row) => this.#take(row) },
    });
  }

  get state(): SessionState {
    return this.#state;
  }

  get isEncrypted(): boolean {
    return this.#isEncrypted;
  }

  get keyIds(): ReadonlySet<string> {
    return this.#keyIds;
  }

  get refused(): readonly RefusedRecord[] {
    return this.#refused;
  }

  /** Missing records that were not acknowledged as lost. */
  get gaps(): readonly NumberRange[] {
    return this.#gaps;
  }

  /** Grows each time the state is rebuilt: numbers known before may belong to another journal. */
  get loads(): number {
    return this.#loads;
  }

  refresh(): Promise<void> {
    return this.#journal.refresh();
  }

  /**
   * Ensures that every record was authenticated with its key. If no key is stored, there is nothing to check.
   * @throws KEY_UNAVAILABLE
   */
  async authenticate(): Promise<void> {
    const { keys } = this.#options;
    const isNews = await keys.load(this.#wanted);
    if (!keys.isLoaded || (!isNews && this.#wanted.size === 0)) return;
    for (const id of this.#wanted) if (!keys.known(id)) this.#strange.add(id);
    await this.#journal.reload();
  }

  /**
   * One change of the newest, authenticated state. `decide` gets the number of its record.
   * @throws KEY_UNAVAILABLE, UNSUPPORTED_VERSION, and as `SharedJournal.change`
   */
  async change<T>(decide: (seq: number) => Promise<CheckpointDecision<T>>): Promise<T> {
    const result = await this.#journal.change(async (_, seq): Promise<Decision<JsonObject, T>> => {
      await this.authenticate();
      this.#assertKnown();
      const { record, key, done } = await decide(seq);
      return record ? { record: this.#sealed(record, key ?? null, seq), done } : { secure: true, done };
    });
    // The change is durable: if the base record cannot be written now, the next change tries again.
    if (this.#state.spent >= SPENT_MAX) await this.#beginAnew().catch(() => {});
    return result;
  }

  /**
   * Reads the records again, as another process would. If the disk corrupted a record, rebuilds the state
   * from the readable ones: a change must not depend on a record that no other process can read.
   */
  async lookAgain(): Promise<void> {
    let records = 0;
    let isDamaged = false;
    for await (const entry of (await this.#journal.reader()).read())
      if (entry.kind === 'record') records += 1;
      else isDamaged ||= isHarmful(entry);
    if (isDamaged ? this.#records !== records : this.#records > records) await this.#journal.reload();
  }

  /** Runs work under the session's lock on the newest state, without appending. @throws LEASE_HELD */
  locked<T>(work: (lease: Lease) => Promise<T>): Promise<T> {
    return this.#journal.maintain(async (journal, lease) => {
      await journal.secure(); // a killed process's unsynced records may vanish: nothing may be removed because of them
      return work(lease);
    });
  }

  /**
   * Replaces a long history with one base record and removes the records before it. Not with a damaged
   * record, because its content and references would be forgotten.
   */
  async #beginAnew(spentMin = SPENT_MAX): Promise<number> {
    const begin = await this.#journal.change(async (_, seq): Promise<Decision<JsonObject, number>> => {
      await this.authenticate();
      this.#assertKnown();
      if (this.#state.spent < spentMin || !(await this.isWhole())) return { done: () => 0 };
      const at = new Date(this.#options.nowMs()).toISOString();
      const chain = (await this.headOf())?.digest ?? '';
      const { keys } = this.#options;
      const key = this.#isEncrypted ? await keys.newest() : null;
      return { record: this.#sealed(this.#state.baseRecord(at, chain), key, seq), done: () => seq };
    });
    if (begin > 0) await this.#journal.maintain((journal) => journal.removeBefore(begin));
    return begin;
  }

  /** Replaces and erases all earlier records. @throws JOURNAL_DAMAGED, and as `change` */
  async erasePast(): Promise<void> {
    const begin = await this.#beginAnew(0);
    if (begin === 0) {
      const { session: sessionId } = this.#options;
      throw new RekindleError('JOURNAL_DAMAGED', `The session ${JSON.stringify(sessionId)} is damaged.`, {
        details: { sessionId },
      });
    }
    const past = Array.from({ length: begin - 1 }, (_, index) => index + 1);
    await this.#journal.maintain(async (journal) => void (await journal.erase(past)));
  }

  /** Redacted before its code is computed, so that the code fits what is stored. */
  #sealed(record: CheckpointRecord, key: DataKey | null, seq: number): JsonObject {
    const given = record as unknown as JsonObject;
    const row = this.#redactor?.json(given) ?? given;
    if (!key) return row;
    const sealed = { ...row, key: key.id };
    return { ...sealed, mac: key.macOf(this.#options.session, seq, sealed) };
  }

  /** Records of a newer release must not be lost through a change by this one. */
  #assertKnown(): void {
    const unknown = this.#refused.find(({ reason }) => reason === 'unknown');
    if (!unknown) return;
    const { session: sessionId } = this.#options;
    const text = `Record ${unknown.seq} of the session ${JSON.stringify(sessionId)} has an unknown kind. A newer release may have written it.`;
    throw new RekindleError('UNSUPPORTED_VERSION', text, { details: { sessionId, seq: unknown.seq } });
  }

  async #load(journal: Journal<JsonObject>): Promise<JournalHead> {
    const rows: JournalRecord<JsonObject>[] = [];
    const head = await followFrom(journal, JOURNAL_START, (row) => rows.push(row));
    this.#state = new SessionState();
    this.#refused = [];
    this.#isEncrypted = false;
    this.#keyIds = new Set();
    this.#wanted.clear();
    this.#gaps = [];
    this.#lastSeq = 0;
    this.#records = 0;
    this.#loads += 1;
    for (const row of rows) this.#take(row);
    return head ?? JOURNAL_START;
  }

  #take({ seq, record: row }: JournalRecord<JsonObject>): void {
    if (seq > this.#lastSeq + 1) this.#gaps.push([this.#lastSeq + 1, seq - 1]);
    this.#lastSeq = seq;
    this.#records += 1;
    const { mac, ...content } = row;
    if (this.#isForged(seq, content, mac)) {
      this.#refused.push({ seq, reason: 'forged' });
      return;
    }
    const record = decodeRecord(content);
    if (!record) {
      this.#refused.push({ seq, reason: 'unknown' });
      return;
    }
    if (record.type === 'base') {
      this.#state = new SessionState();
      this.#gaps = [];
    }
    if (record.type === 'lost') this.#gaps = this.#gaps.filter((gap) => !isIn(gap, record.ranges));
    if (!this.#state.apply({ seq, record }, keyOf(content))) this.#refused.push({ seq, reason: 'forged' });
  }

  #isForged(seq: number, content: JsonObject, mac: unknown): boolean {
    const { keys, session } = this.#options;
    const keyId = keyOf(content);
    if (keyId === null || typeof mac !== 'string')
      return this.#isEncrypted || hasSealedPack(content) || seq >= keys.sealedFrom;
    const key = keys.known(keyId);
    if (key && !isSame(key.macOf(session, seq, content), mac)) return true;
    if (!key && this.#strange.has(keyId)) return true;
    if (!key) this.#wanted.add(keyId);
    this.#keyIds.add(keyId);
    this.#isEncrypted = true;
    return false;
  }

  /**
   * Covers the records since the last base record, which includes the digest of those before it. Null without
   * records.
   */
  async headOf(): Promise<SessionHead | null> {
    let head: SessionHead | null = null;
    for await (const at of this.#heads()) head = at;
    return head;
  }

  /**
   * Whether the records up to a head are unchanged. Records replaced by a base record can no longer be
   * compared.
   */
  async holds(head: SessionHead): Promise<boolean> {
    let isOlder = false;
    for await (const at of this.#heads()) {
      if (at.seq === head.seq) return at.digest === head.digest;
      if (at.seq > head.seq) isOlder = true;
    }
    return isOlder && this.#state.beganAt > head.seq;
  }

  async *#heads(): AsyncGenerator<SessionHead> {
    let digest = '';
    for await (const entry of (await this.#journal.reader()).read()) {
      if (entry.kind !== 'record') continue;
      const { seq, record } = entry;
      if (seq === this.#state.beganAt && typeof record['chain'] === 'string') digest = record['chain'];
      digest = hash('sha256', `${digest}\n${canonicalJson(record)}`, 'hex');
      yield { sessionId: this.#options.session, seq, digest };
    }
  }

  /** Whether every record is present and valid. Then data that they do not reference is unused. */
  async isWhole(): Promise<boolean> {
    if (this.#refused.length > 0 || this.#gaps.length > 0) return false;
    for await (const entry of (await this.#journal.reader()).read())
      if (entry.kind === 'damage' && isHarmful(entry)) return false;
    return true;
  }

  close(): Promise<void> {
    return this.#journal.close();
  }
}

function isIn([first, last]: NumberRange, ranges: readonly NumberRange[]): boolean {
  return ranges.some(([from, to]) => from <= first && last <= to);
}

function keyOf(content: JsonObject): string | null {
  const key = content['key'];
  return typeof key === 'string' ? key : null;
}

/** Data is sealed only together with the record that names it. */
function hasSealedPack({ pack }: JsonObject): boolean {
  return isJsonObject(pack) && pack['key'] !== undefined;
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

export function journalNames(folder: Name): { readonly journal: Name; readonly lease: Name } {
  return { journal: [...folder, 'checkpoints'], lease: [...folder, 'session.lease'] };
}
