/** One run of a store through all of its operations, over a file system that may fail; and the check after it. */
import path from 'node:path';
import { ManualClock } from '../../src/core/clock.js';
import { isRekindleError, messageOf, type RekindleError } from '../../src/core/errors.js';
import type { JsonObject } from '../../src/core/json.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import type { FileSystem } from '../../src/storage/file-system.js';
import type { Journal, Lease } from '../../src/storage/ports.js';
import type { FaultTally } from './fault-suite.js';

const AGENT = ['agent'];
const JOURNAL = ['agent', 'traces'];
const LIFE_MS = 15_000;

interface Attempt {
  readonly n: number;
  /** Null while unknown, then the number it got, or the code it was refused with. */
  outcome: number | string;
}

export class ErrorWorkload {
  readonly #root: string;
  readonly #fs: FileSystem;
  readonly #clock = new ManualClock(Date.now());
  readonly #tally: FaultTally;
  readonly #label: string;
  readonly #text: string;
  readonly #attempts: Attempt[] = [];
  readonly #blobs = new Map<string, string>();
  #document: { acknowledged: number; attempted: number } = { acknowledged: 0, attempted: 0 };
  #next = 1;
  #storage: FileStorage | null = null;
  #lease: Lease | null = null;
  #journal: Journal<JsonObject> | null = null;

  constructor(
    folder: string,
    fs: FileSystem,
    tally: FaultTally,
    label: string,
    options: { readonly textRepeats?: number } = {},
  ) {
    this.#text = 'some text '.repeat(options.textRepeats ?? 3);
    this.#root = path.join(folder, 'store');
    this.#fs = fs;
    this.#tally = tally;
    this.#label = label;
  }

  /** Everything once: open, append, group commit, rotate, documents, artifacts, archive, close, open again. */
  async run(): Promise<void> {
    await this.#open();
    await this.#append();
    await this.#step('group commit', () => Promise.all([this.#append(), this.#append(), this.#append()]));
    await this.#files();
    await this.#append();
    await this.#step('archive', async () => this.#journal?.archiveBefore(3));
    await this.#append();
    await this.#readAll();
    await this.#close();
    await this.#open();
    await this.#append();
    await this.#files();
  }

  /** The fault is gone. What is open must work on, and what was acknowledged must be there. */
  async recover(options: { readonly reopen: boolean }): Promise<void> {
    if (options.reopen || !this.#journal) {
      await this.#close();
      this.#clock.advance(LIFE_MS + 1);
      await this.#open();
    }
    const opened = this.#journal !== null;
    this.#tally.expect(opened, () => `${this.#label}: the journal cannot be opened after the fault`);
    for (let tries = 0; tries < 2; tries += 1) {
      const outcome = await this.#append();
      const works = typeof outcome === 'number';
      this.#tally.expect(works, () => `${this.#label}: no append works after the fault: ${outcome}`);
    }
    await this.#files();
    const acknowledged = this.#document.acknowledged === this.#document.attempted;
    this.#tally.expect(acknowledged, () => `${this.#label}: no document can be written after the fault`);
    await this.#close();
  }

  async check(): Promise<void> {
    const storage = new FileStorage(this.#root, { clock: this.#clock });
    try {
      const journal = await storage.openJournal<JsonObject>(JOURNAL, { readOnly: true });
      await this.#checkRecords(journal);
      const document = await storage.documents.read(['agent', 'doc']);
      const version = document ? (document.value as number) : 0;
      const { acknowledged, attempted } = this.#document;
      const due = version >= acknowledged && version <= attempted;
      this.#tally.expect(
        due,
        () => `${this.#label}: the document is ${version}, not ${acknowledged} to ${attempted}`,
      );
      for (const [digest, text] of this.#blobs) {
        const bytes = await storage.blobs(['agent', 'artifacts']).get(digest);
        const exact = bytes !== null && Buffer.from(bytes).toString() === text;
        this.#tally.expect(exact, () => `${this.#label}: an acknowledged artifact is gone`);
      }
    } catch (thrown) {
      this.#tally.violation(`${this.#label}: the store cannot be read at the end: ${messageOf(thrown)}`);
    }
    await storage.close();
  }

  async #checkRecords(journal: Journal<JsonObject>): Promise<void> {
    const found = new Map<number, number>();
    for await (const entry of journal.read({ archived: true })) {
      if (entry.kind === 'record') found.set(entry.record['n'] as number, entry.seq);
      else if (entry.reason !== 'after-seal') {
        this.#tally.violation(`${this.#label}: damage is left behind: ${JSON.stringify(entry)}`);
      }
    }
    const order = [...found.values()];
    const contiguous = order.every((seq, index) => seq === index + 1);
    this.#tally.expect(contiguous, () => `${this.#label}: the numbers are ${order.join(' ')}`);
    for (const { n, outcome } of this.#attempts) {
      const seq = found.get(n);
      if (typeof outcome === 'number') {
        this.#tally.add('acknowledged records checked');
        this.#tally.expect(
          seq === outcome,
          () => `${this.#label}: record ${n} was acknowledged as ${outcome}, is ${seq}`,
        );
      } else if (outcome !== 'JOURNAL_OUTCOME_UNKNOWN') {
        this.#tally.expect(
          seq === undefined,
          () => `${this.#label}: record ${n} was refused (${outcome}), but is there`,
        );
      }
    }
  }

  async #open(): Promise<void> {
    await this.#step('open', async () => {
      this.#storage = new FileStorage(this.#root, {
        fileSystem: this.#fs,
        clock: this.#clock,
        segmentBytesMax: 150,
      });
      this.#lease = await this.#storage.leases.acquire(AGENT);
      this.#journal = await this.#storage.openJournal<JsonObject>(JOURNAL, { lease: this.#lease });
    });
  }

  async #close(): Promise<void> {
    const [storage, lease, journal] = [this.#storage, this.#lease, this.#journal];
    this.#storage = this.#lease = this.#journal = null;
    if (journal) await this.#step('close the journal', () => journal.close());
    if (lease) await this.#step('release', () => lease.release());
    if (storage) await this.#step('close the store', () => storage.close());
  }

  async #append(): Promise<number | string> {
    if (!this.#journal) return 'not open';
    const attempt: Attempt = { n: this.#next++, outcome: 'under way' };
    this.#attempts.push(attempt);
    const failed = await this.#step('append', async () => {
      const { seq } = await this.#journal!.append([{ n: attempt.n, text: this.#text }]);
      attempt.outcome = seq;
    });
    if (failed) attempt.outcome = failed.code;
    return attempt.outcome;
  }

  async #files(): Promise<void> {
    const storage = this.#storage;
    if (!storage) return;
    await this.#step('write a document', async () => {
      const value = ++this.#document.attempted;
      await storage.documents.write(['agent', 'doc'], value);
      this.#document.acknowledged = value;
    });
    await this.#step('put an artifact', async () => {
      const text = `artifact ${this.#next++}`;
      this.#blobs.set((await storage.blobs(['agent', 'artifacts']).put(Buffer.from(text))).digest, text);
    });
    await this.#step('write a cache', async () => {
      await storage.documents.writeBytes(['agent', 'cache'], Buffer.from('12345'), { durability: 'cache' });
      await storage.documents.overwriteTail(['agent', 'cache'], 3, Buffer.from('xyz'));
    });
    await this.#step('set aside and delete', async () => {
      await storage.documents.setAside(['agent', 'cache'], 'old');
      await storage.documents.delete(['agent', 'cache']);
    });
  }

  async #readAll(): Promise<void> {
    await this.#step('read', async () => {
      for await (const _ of this.#journal?.read() ?? []);
      for await (const _ of this.#journal?.readBackward() ?? []);
      await this.#storage?.documents.read(['agent', 'doc']);
      await this.#storage?.documents.list(['agent']);
      await this.#storage?.listNames([]);
      for await (const _ of this.#storage?.blobs(['agent', 'artifacts']).list() ?? []);
      await this.#storage?.leases.inspect(AGENT);
      await this.#lease?.renew();
    });
  }

  /** Runs one operation; what it rejects with must be typed. */
  async #step(what: string, act: () => Promise<unknown>): Promise<RekindleError | null> {
    try {
      await act();
      return null;
    } catch (thrown) {
      if (isRekindleError(thrown)) {
        this.#tally.add(thrown.code);
        return thrown;
      }
      this.#tally.violation(`${this.#label}: ${what} threw no RekindleError but ${String(thrown)}`);
      return null;
    }
  }
}
