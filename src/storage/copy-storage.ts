/**
 * Copies the content of one backend to another, and verifies the copy.
 *
 * Records keep their numbers and checksums. Nothing is overwritten. If the target holds something else under a name,
 * the copy is rejected before anything is written. If it holds the beginning of the same content, as after an
 * interrupted copy, the copy continues. Blobs are copied before the journals that refer to them, and documents last:
 * most are derived from a journal and can be rebuilt.
 */
import { createHash } from 'node:crypto';
import { RekindleError } from '../core/errors.js';
import type { JsonObject } from '../core/json.js';
import { damagedAtEnd, isHarmful } from './journal-check.js';
import { keyOf } from './name-key.js';
import type { Journal, JournalRecord, Lease, Name, StorageBackend, StoredName } from './ports.js';

/** Reported after each copied journal, document or scope of blobs. */
export interface CopyProgress {
  readonly stored: StoredName;
  /** Number of its records or blobs that were copied; 1 for a document. */
  readonly items: number;
}

/** Limits a copy to parts of a store, and reports its progress. */
export interface CopyOptions {
  /** Copies everything below each of these names. Default: all. */
  readonly prefixes?: readonly Name[];
  /** Leaves out everything below each of these names. */
  readonly except?: readonly Name[];
  /** The right to write the target's journals, if one lease covers all of them. Default: each journal's own lease. */
  readonly lease?: Lease;
  /** Called once after all checks passed, before anything is written. */
  readonly onBegin?: () => Promise<void>;
  readonly onProgress?: (progress: CopyProgress) => void;
}

/** What `copyStorage` found and copied, as counts. Includes what was skipped. */
export interface CopyResult {
  readonly journals: number;
  readonly records: number;
  readonly documents: number;
  readonly blobs: number;
  /** Number of items that were already in the target. */
  readonly skipped: number;
}

/** Approximate bytes of one append. */
const BATCH_BYTES = 1024 * 1024;
const BATCH_RECORDS = 500;
const ORDER = { blobs: 0, journal: 1, document: 2 } as const;

/**
 * Copies one store to another. Verified and durable when it resolves. The caller must ensure that the source is not
 * written meanwhile; such writes may be missing or incomplete in the copy.
 * ```ts
 * await copyStorage(openStorage('memory'), openStorage('sqlite:agents.db'));
 * ```
 * @throws DOCUMENT_CONFLICT, JOURNAL_CONFLICT (the target holds something else), JOURNAL_DAMAGED (repair the source
 * first), LEASE_HELD, STORAGE_FAILED if the copy differs from the source
 */
export async function copyStorage(
  from: StorageBackend,
  to: StorageBackend,
  options: CopyOptions = {},
): Promise<CopyResult> {
  if (to.redactor)
    throw new RekindleError(
      'INVALID_ARGUMENT',
      'A copy keeps every byte, so its target cannot be redacted.',
      {
        details: { argument: 'to', problem: 'redacted' },
        advice: 'Name the target without `redact`. `rekindle scan` finds what the source holds.',
      },
    );
  const copy = new StorageCopy(from, to, options);
  const contents = await contentsToCopy(from, options);
  for (const stored of contents) await copy.assertPossible(stored);
  await options.onBegin?.();
  for (const stored of contents) await copy.copy(stored);
  return copy.result;
}

async function contentsToCopy(from: StorageBackend, options: CopyOptions): Promise<StoredName[]> {
  const found = new Map<string, StoredName>();
  for (const prefix of options.prefixes ?? [[]]) {
    for await (const stored of from.contents(prefix)) {
      const left = (options.except ?? []).some((name) =>
        name.every((segment, at) => stored.name[at] === segment),
      );
      if (!left) found.set(`${stored.kind} ${keyOf(stored.name)}`, stored);
    }
  }
  return [...found.values()].sort((a, b) => ORDER[a.kind] - ORDER[b.kind]);
}

class StorageCopy {
  readonly #from: StorageBackend;
  readonly #to: StorageBackend;
  readonly #options: CopyOptions;
  /** For each journal, the number of the last record that the target had. */
  readonly #beginnings = new Map<string, number>();
  readonly #counts = { journals: 0, records: 0, documents: 0, blobs: 0, skipped: 0 };

  constructor(from: StorageBackend, to: StorageBackend, options: CopyOptions) {
    this.#from = from;
    this.#to = to;
    this.#options = options;
  }

  #onProgress(progress: CopyProgress): void {
    this.#options.onProgress?.(progress);
  }

  get result(): CopyResult {
    return { ...this.#counts };
  }

  /** Only checks; writes nothing. */
  async assertPossible({ kind, name }: StoredName): Promise<void> {
    if (kind === 'document') await this.#isThere(name);
    if (kind === 'journal') this.#beginnings.set(keyOf(name), await this.#journalBeginning(name));
  }

  async copy(stored: StoredName): Promise<void> {
    if (stored.kind === 'document') await this.#document(stored);
    else if (stored.kind === 'journal') await this.#journal(stored);
    else await this.#blobs(stored);
  }

  async #document(stored: StoredName): Promise<void> {
    const bytes = await this.#from.documents.readBytes(stored.name);
    if (!bytes) return; // deleted meanwhile
    if (await this.#isThere(stored.name)) this.#counts.skipped += 1;
    else {
      await this.#to.documents.writeBytes(stored.name, bytes, { ifVersion: null });
      const there = await this.#to.documents.readBytes(stored.name);
      if (!there || !sameBytes(bytes, there)) throw notTheSame(stored);
    }
    this.#counts.documents += 1;
    this.#onProgress({ stored, items: 1 });
  }

  /** @throws DOCUMENT_CONFLICT for different content */
  async #isThere(name: Name): Promise<boolean> {
    const there = await this.#to.documents.readBytes(name);
    if (!there) return false;
    const bytes = await this.#from.documents.readBytes(name);
    if (bytes && sameBytes(bytes, there)) return true;
    throw new RekindleError(
      'DOCUMENT_CONFLICT',
      `${name.join('/')} is in the target, with another content.`,
      {
        details: { name: [...name], target: this.#to.place },
      },
    );
  }

  async #blobs(stored: StoredName): Promise<void> {
    const from = this.#from.blobs(stored.name);
    const to = this.#to.blobs(stored.name);
    let items = 0;
    for await (const { digest } of from.list()) {
      items += 1;
      this.#counts.blobs += 1;
      // A read verifies the digest.
      if (await to.get(digest)) this.#counts.skipped += 1;
      else {
        const bytes = await from.get(digest);
        if (bytes) await to.put(bytes);
        if (bytes && !(await to.get(digest))) throw notTheSame(stored);
      }
      if (items % BATCH_RECORDS === 0) this.#onProgress({ stored, items });
    }
    this.#onProgress({ stored, items });
  }

  /**
   * The number of the last record in the target. @throws JOURNAL_CONFLICT if the target is not a beginning of the
   * source; JOURNAL_DAMAGED
   */
  async #journalBeginning(name: Name): Promise<number> {
    const source = await this.#from.openJournal<JsonObject>(name, { readOnly: true });
    const target = await this.#to.openJournal<JsonObject>(name, { readOnly: true });
    try {
      await assertWhole(source, name);
      const there = (await target.head()).seq;
      if (there === 0) return 0;
      const theirs = await digestOf(target, there);
      const isBeginning = theirs.records > 0 || there === (await removedTo(source));
      if (isBeginning && (await digestOf(source, there)).digest === theirs.digest) return there;
      const text = `${name.join('/')} is in the target, with other records.`;
      throw new RekindleError('JOURNAL_CONFLICT', text, {
        details: { name: [...name], target: this.#to.place },
      });
    } finally {
      await source.close();
      await target.close();
    }
  }

  async #journal(stored: StoredName): Promise<void> {
    const { name } = stored;
    const there = this.#beginnings.get(keyOf(name)) ?? 0; // the append requires this head
    const source = await this.#from.openJournal<JsonObject>(name, { readOnly: true });
    try {
      const { lease } = this.#options;
      const target = await this.#to.openJournal<JsonObject>(name, lease ? { lease } : {});
      try {
        await this.#records(stored, source, target, there);
        const { seq } = await target.head();
        const [ours, theirs] = [await digestOf(source, seq), await digestOf(target, seq)];
        if (ours.digest !== theirs.digest) throw notTheSame(stored);
        this.#counts.records += ours.records;
      } finally {
        await target.close();
      }
    } finally {
      await source.close();
    }
    this.#counts.journals += 1;
    if (there > 0) this.#counts.skipped += 1;
  }

  async #records(
    stored: StoredName,
    source: Journal<JsonObject>,
    target: Journal<JsonObject>,
    there: number,
  ): Promise<void> {
    let batch: JsonObject[] = [];
    let bytes = 0;
    let last = there;
    const live = await firstOf(source);
    const { seq } = await source.head(); // before the records: later appends are read too
    const flush = async () => {
      if (batch.length > 0) await target.append(batch, { expectedSeq: last - batch.length });
      batch = [];
      bytes = 0;
      this.#onProgress({ stored, items: last });
    };
    for await (const entry of source.read({ archived: true, after: there })) {
      if (entry.kind === 'damage') continue; // harmless; harmful damage was rejected before
      if (entry.seq > last + 1) await this.#skipRemoved(stored, target, entry, last);
      if (entry.seq === live && last > 0) {
        await flush(); // file journals archive whole segments, so a segment must end here
        await target.archiveBefore(live);
      }
      last = entry.seq;
      batch.push(entry.record);
      bytes += JSON.stringify(entry.record).length;
      if (bytes >= BATCH_BYTES || batch.length >= BATCH_RECORDS) await flush();
    }
    await flush();
    if (last === 0 && seq > 0) await target.continueAfter(seq); // all its records were removed
    if (last > 0) await target.archiveBefore((await firstOf(source)) ?? last + 1);
  }

  /**
   * Numbers may be missing before the first record, because earlier records were removed on purpose. They may be
   * missing nowhere else.
   */
  async #skipRemoved(
    stored: StoredName,
    target: Journal<JsonObject>,
    { seq }: JournalRecord<JsonObject>,
    last: number,
  ): Promise<void> {
    if (last > 0) throw damagedSource(stored.name, `the records ${last + 1} to ${seq - 1} are missing`);
    await target.continueAfter(seq - 1);
  }
}

/** Covers all records up to a number, including archived ones. */
async function digestOf(
  journal: Journal<JsonObject>,
  upTo: number,
): Promise<{ readonly digest: string; readonly records: number }> {
  const hash = createHash('sha256');
  let records = 0;
  for await (const entry of journal.read({ archived: true })) {
    if (entry.kind === 'damage') continue;
    if (entry.seq > upTo) break;
    hash.update(`${entry.seq} ${JSON.stringify(entry.record)}\n`);
    records += 1;
  }
  return { digest: hash.digest('hex'), records };
}

/** The number of the last removed record. */
async function removedTo(journal: Journal<JsonObject>): Promise<number> {
  const first = await firstOf(journal, true);
  return first === null ? (await journal.head()).seq : first - 1;
}

async function firstOf(journal: Journal<JsonObject>, archived = false): Promise<number | null> {
  for await (const entry of journal.read({ limit: 1, archived }))
    if (entry.kind === 'record') return entry.seq;
  return null;
}

async function assertWhole(journal: Journal<JsonObject>, name: Name): Promise<void> {
  for await (const entry of journal.read({ archived: true })) {
    if (entry.kind === 'damage' && isHarmful(entry)) throw damagedSource(name, entry.reason);
  }
  if ((await damagedAtEnd(journal)) > 0) throw damagedSource(name, 'its end is damaged');
}

function damagedSource(name: Name, why: string): RekindleError {
  return new RekindleError('JOURNAL_DAMAGED', `${name.join('/')} was not copied: ${why}.`, {
    details: { name: [...name], why },
  });
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

function notTheSame({ kind, name }: StoredName): RekindleError {
  const text = `The copy of the ${kind} ${name.join('/')} is not the same as what was copied.`;
  return new RekindleError('STORAGE_FAILED', text, { details: { kind, name: [...name] } });
}
