/** A journal whose records are sealed. Each is bound to its journal and its number. */
import { canonicalJson } from '../../core/canonical-json.js';
import { isRekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject, tryParseJson } from '../../core/json.js';
import { journalClosed } from '../append-queue.js';
import { ForwardingJournal } from '../forwarding-journal.js';
import type {
  AppendOptions,
  AppendResult,
  Journal,
  JournalDamage,
  JournalEntry,
  JournalRecord,
  Name,
  ReadOptions,
} from '../ports.js';
import { encodeRecord } from '../record-encoding.js';
import { open, seal } from './aes-seal.js';
import type { DataKey, DataKeys } from './data-keys.js';

const CLOSING_BRACE = Buffer.from('}');
/** Another writer of the same journal was faster this often in a row. */
const CONFLICTS_MAX = 20;

export interface SealedJournalOptions {
  readonly name: Name;
  readonly keys: DataKeys;
  /** The key for new records; null for a reader. */
  readonly writing: DataKey | null;
  readonly onClose: () => void;
}

export class SealedJournal<R extends JsonObject> extends ForwardingJournal<R> {
  /** The same as `inner`, as the type of what it keeps. */
  readonly #stored: Journal<JsonObject>;
  readonly #name: Name;
  readonly #keys: DataKeys;
  /** Null for a reader. */
  readonly #writing: DataKey | null;
  /** The number of the last record that was given to the journal; null if it must be looked up. */
  #given: number | null = null;

  readonly #onClose: () => void;
  readonly #appending = new Set<Promise<unknown>>();
  #looking: Promise<void> | null = null;
  #closed = false;

  constructor(inner: Journal<JsonObject>, { name, keys, writing, onClose }: SealedJournalOptions) {
    super(inner as unknown as Journal<R>); // only calls without records are forwarded
    this.#stored = inner;
    this.#name = name;
    this.#keys = keys;
    this.#writing = writing;
    this.#onClose = onClose;
  }

  override append(records: readonly R[], options: AppendOptions = {}): Promise<AppendResult> {
    if (this.#closed) return Promise.reject(journalClosed());
    if (!this.#writing) return this.#stored.append([], options); // a reader's journal, which refuses every append
    const appended = this.#append(records, options);
    this.#appending.add(appended);
    return appended.finally(() => this.#appending.delete(appended));
  }

  async #append(records: readonly R[], { expectedSeq }: AppendOptions): Promise<AppendResult> {
    const texts = records.map(textOf); // before the first wait: the caller may change the records
    for (let conflicts = 0; ; conflicts += 1) {
      if (this.#given === null) await this.#lookUp();
      const after = expectedSeq ?? this.#given ?? 0;
      const isNext = after === this.#given;
      if (isNext) this.#given = after + texts.length;
      try {
        return await this.#stored.append(this.#sealed(texts, after), { expectedSeq: after });
      } catch (thrown) {
        if (isNext) this.#given = null; // a wrong number of the caller says nothing about the others
        const again = expectedSeq === undefined && conflicts < CONFLICTS_MAX;
        if (!again || !isRekindleError(thrown, 'JOURNAL_CONFLICT')) throw thrown;
      }
    }
  }

  /** One look for all callers that wait, so that their appends keep their order. */
  #lookUp(): Promise<void> {
    this.#looking ??= this.#stored
      .head()
      .then(({ seq }) => void (this.#given = seq))
      .finally(() => (this.#looking = null));
    return this.#looking;
  }

  #sealed(texts: readonly Buffer[], after: number): JsonObject[] {
    const key = this.#writing;
    if (!key) return [];
    const use = useOf(this.#name);
    return texts.map((text, index) => {
      const bytes = seal(key.for(use), text, boundTo(after + 1 + index));
      return { sealed: `${key.id}.${bytes.toString('base64')}` };
    });
  }

  override async *read(options?: ReadOptions): AsyncGenerator<JournalEntry<R>> {
    for await (const entry of this.#stored.read(options)) yield await this.#opened(entry);
  }

  override async *readBackward(): AsyncGenerator<JournalEntry<R>> {
    for await (const entry of this.#stored.readBackward()) yield await this.#opened(entry);
  }

  async #opened(entry: JournalEntry<JsonObject>): Promise<JournalEntry<R>> {
    if (entry.kind === 'damage') return entry;
    const sealed = entry.record['sealed'];
    const dot = typeof sealed === 'string' ? sealed.indexOf('.') : -1;
    if (typeof sealed !== 'string' || dot < 0) return notSealed(this.#name, entry);
    const key = await this.#keys.forReading(this.#name, sealed.slice(0, dot));
    if (!key) return notSealed(this.#name, entry);
    const bytes = Buffer.from(sealed.slice(dot + 1), 'base64');
    const plain = open(key.for(useOf(this.#name)), bytes, boundTo(entry.seq));
    const record = plain && tryParseJson(plain.toString('utf8'));
    return isJsonObject(record) ? { ...entry, record: record as R } : notSealed(this.#name, entry);
  }

  override async continueAfter(seq: number): Promise<void> {
    await this.#stored.continueAfter(seq);
    this.#given = null;
  }

  override async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#appending);
    await this.#stored.close();
    this.#onClose();
  }
}

/** @throws INVALID_ARGUMENT, as the journal itself would for a record that is not sealed */
function textOf(record: JsonObject): Buffer {
  return Buffer.concat([encodeRecord(record).body, CLOSING_BRACE]);
}

function useOf(name: Name): string {
  return canonicalJson(['journal', [...name]]);
}

/** The key is the journal's own, so its name need not be here. */
function boundTo(seq: number): string {
  return canonicalJson(['record', seq]);
}

/** Nobody with the key wrote this record at this place: it was changed, moved, or added. */
function notSealed(name: Name, { cursor, record }: JournalRecord<JsonObject>): JournalDamage {
  const bytes = Buffer.byteLength(JSON.stringify(record));
  return { kind: 'damage', reason: 'seal', place: name.join('/'), cursor, bytes };
}
