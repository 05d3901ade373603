/**
 * A small journal of the same kind as the real one, for bugs that cannot be planted around the file system: the real one
 * survives some of them by other means. Without bugs it passes the explorer; with each of them it must not.
 *
 * One file, one line a record: `<text> <number> <checksum>`. No leases, no segments.
 */

import { randomBytes } from 'node:crypto';
import { crc32, crcHex } from '../../../src/core/crc32.js';
import type { JsonObject } from '../../../src/core/json.js';
import {
  createDurably,
  ensureFolder,
  openExisting,
  readRange,
  withFile,
  writeFully,
} from '../../../src/storage/file/file-io.js';
import type { FileSystem, OpenFile } from '../../../src/storage/file-system.js';
import type {
  Journal,
  JournalEntry,
  JournalHead,
  Lease,
  StorageBackend,
} from '../../../src/storage/ports.js';
import { type OpenStorage, STORE, Violation } from '../workload.js';

export type SmallBug = 'tail-not-cut' | 'no-checksum' | 'sequence-reused';

interface Line {
  readonly seq: number;
  readonly text: string;
  readonly offset: number;
}

class SmallJournal {
  readonly #fs: FileSystem;
  readonly #path: string;
  readonly #bug: SmallBug | null;
  #file!: OpenFile;
  #lines: Line[] = [];
  #archived: Line[] = [];
  #end = 0;
  #lastSeq = 0;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(fs: FileSystem, path: string, bug: SmallBug | null) {
    this.#fs = fs;
    this.#path = path;
    this.#bug = bug;
  }

  async open(): Promise<void> {
    const folder = this.#path.slice(0, this.#path.lastIndexOf('/'));
    await ensureFolder(this.#fs, folder);
    await this.#fs.syncFolder(folder); // a rename to the archive lasts before the old name is used again
    for (let at = folder; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
      await this.#fs.syncFolder(at.slice(0, at.lastIndexOf('/')) || '/');
    }
    this.#archived = await this.#readFile(`${this.#path}.archived`);
    this.#file =
      (await openExisting(this.#fs, this.#path, 'update')) ?? (await this.#fs.open(this.#path, 'create'));
    await this.#fs.syncFolder(folder);
    const bytes = await readRange(this.#file, 0, await this.#file.sizeBytes());
    this.#lines = this.#parse(bytes);
    this.#lastSeq =
      (this.#lines.at(-1) ?? (this.#bug === 'sequence-reused' ? undefined : this.#archived.at(-1)))?.seq ?? 0;
    this.#end = bytes.length;
    if (this.#bug !== 'tail-not-cut') await this.#cutTail(bytes);
    else await this.#file.datasync();
  }

  async append(
    records: readonly JsonObject[],
  ): Promise<{ seq: number; cursor: { segment: number; offset: number }; crc: string }> {
    const run = this.#queue.then(() => this.#append(records));
    this.#queue = run.catch(() => {});
    return run;
  }

  async *read(): AsyncGenerator<JournalEntry<JsonObject>> {
    for (const { seq, text, offset } of [...this.#archived, ...this.#lines]) {
      yield { kind: 'record', seq, record: { text }, cursor: { segment: 1, offset }, crc: null };
    }
  }

  async *readBackward(): AsyncGenerator<JournalEntry<JsonObject>> {
    const entries: JournalEntry<JsonObject>[] = [];
    for await (const entry of this.read()) entries.unshift(entry);
    yield* entries;
  }

  async head(): Promise<JournalHead> {
    return { seq: this.#lastSeq, cursor: null, crc: null };
  }

  openingDamage(): [] {
    return [];
  }

  /** All that is there moves aside, once. */
  async archiveBefore(): Promise<void> {
    if (this.#archived.length > 0 || this.#lines.length === 0) return;
    await this.#file.close();
    await this.#fs.rename(this.#path, `${this.#path}.archived`);
    await this.open();
  }

  async removeBefore(): Promise<void> {
    await this.archiveBefore();
    this.#archived.length = 0;
  }

  async close(): Promise<void> {
    await this.#queue;
    await this.#file.close();
  }

  async #append(
    records: readonly JsonObject[],
  ): Promise<{ seq: number; cursor: { segment: number; offset: number }; crc: string }> {
    const offset = this.#end;
    for (const record of records) {
      const text = String(record['text']);
      const body = `${text} ${this.#lastSeq + 1}`;
      const line = Buffer.from(
        this.#bug === 'no-checksum' ? `${body}\n` : `${body} ${crcHex(crc32(body))}\n`,
      );
      await writeFully(this.#file, line, this.#end);
      this.#lines.push({ seq: ++this.#lastSeq, text, offset: this.#end });
      this.#end += line.length;
    }
    await this.#file.datasync();
    return { seq: this.#lastSeq, cursor: { segment: 1, offset }, crc: '' };
  }

  async #cutTail(bytes: Buffer): Promise<void> {
    const last = this.#lines.at(-1);
    const good = last ? bytes.indexOf(0x0a, last.offset) + 1 : 0;
    if (good === bytes.length) return this.#file.datasync();
    const aside = `${this.#path}.torn-${good}-${randomBytes(4).toString('hex')}`;
    await createDurably(this.#fs, aside, bytes.subarray(good));
    await this.#file.truncate(good);
    await this.#file.datasync();
    this.#end = good;
  }

  #parse(bytes: Buffer): Line[] {
    const lines: Line[] = [];
    let offset = 0;
    for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, offset)) {
      const line = this.#parseLine(bytes.toString('latin1', offset, end), offset);
      if (line) lines.push(line);
      offset = end + 1;
    }
    return lines;
  }

  #parseLine(text: string, offset: number): Line | null {
    const match = /^(.*) (\d+) ([0-9a-f]{8})$/s.exec(text);
    if (this.#bug === 'no-checksum') {
      const plain = /^(.*) (\d+)$/s.exec(text);
      return plain ? { text: plain[1]!, seq: Number(plain[2]), offset } : null;
    }
    if (!match || crcHex(crc32(`${match[1]} ${match[2]}`)) !== match[3]) return null;
    return { text: match[1]!, seq: Number(match[2]), offset };
  }

  async #readFile(path: string): Promise<Line[]> {
    const file = await openExisting(this.#fs, path, 'read');
    if (!file) return [];
    return this.#parse(await withFile(file, async () => readRange(file, 0, await file.sizeBytes())));
  }
}

function unsupported(): never {
  throw new Violation('the small storage has journals only');
}

export function openSmallStorage(bug: SmallBug | null): OpenStorage {
  return (fs) => {
    const journals: SmallJournal[] = [];
    const storage: StorageBackend = {
      place: STORE,
      capabilities: { persistent: true, multiProcess: false, multiProcessDocuments: false },
      contents: unsupported,
      async openJournal<R extends JsonObject>(name: readonly string[]) {
        const journal = new SmallJournal(fs, `${STORE}/${name.join('/')}`, bug);
        await journal.open();
        journals.push(journal);
        return journal as unknown as Journal<R>;
      },
      removeJournal: unsupported,
      get documents() {
        return unsupported();
      },
      blobs: unsupported,
      leases: {
        acquire: async () => unsupported() as Lease,
        inspect: async () => null,
        list: async () => [],
      },
      listNames: unsupported,
      places: unsupported,
      removeBelow: unsupported,
      scrub: unsupported,
      sweep: unsupported,
      watch: unsupported,
      close: async () => {},
    };
    return storage;
  };
}
