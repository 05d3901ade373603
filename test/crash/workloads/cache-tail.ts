/**
 * A cache that is brought up to date in place, without sync, after each durable append to its journal: a line for the
 * record, and a footer with the count and a checksum. A crash may lose or tear it; then the checksum tells, and the
 * journal has everything. A cache that passes its checksum and ends in a record of the journal says what the journal says.
 */
import { crc32, crcHex } from '../../../src/core/crc32.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import {
  demand,
  openStorage,
  type RebootedProcess,
  type RunningProcess,
  type Session,
  type Workload,
} from '../workload.js';
import { checkJournal, type Found, JOURNAL, JournalSession, type Note, readAll } from './journal-session.js';

const CACHE = ['agent', 'snapshot.txt'];

function footerOf(lines: Buffer): Buffer {
  const count = lines.filter((byte) => byte === 0x0a).length;
  return Buffer.from(`#covers ${count} ${crcHex(crc32(lines))}\n`);
}

/** The texts that a cache holds, or null when it is absent, torn or otherwise not to be believed. */
function parseCache(bytes: Uint8Array | null): string[] | null {
  if (!bytes) return null;
  const text = Buffer.from(bytes).toString('latin1');
  const footerAt = text.lastIndexOf('#covers ');
  if (footerAt < 0) return null;
  const lines = Buffer.from(bytes).subarray(0, footerAt);
  if (!footerOf(lines).equals(Buffer.from(bytes).subarray(footerAt))) return null;
  return text.slice(0, footerAt).split('\n').slice(0, -1);
}

class CacheSession implements Session {
  readonly #process: RunningProcess;
  readonly #journal: JournalSession;
  readonly #storage: StorageBackend;
  /** The cache's lines as this process last wrote them; null before it wrote the whole. */
  #lines: Buffer | null = null;

  constructor(process: RunningProcess, journal: JournalSession) {
    this.#process = process;
    this.#journal = journal;
    this.#storage = openStorage(process);
  }

  async apply(operation: string): Promise<void> {
    const text = this.#journal.newText(operation === 'long turn' ? 600 : 8);
    if (operation !== 'rewrite') await this.#journal.append([text]);
    if (operation === 'rewrite' || this.#lines === null) await this.#rewrite();
    else await this.#extend(text);
    await this.#checkCurrent();
  }

  async dispose(): Promise<void> {
    await this.#journal.dispose();
    await this.#storage.close();
  }

  async #rewrite(): Promise<void> {
    const records = await readAll(this.#journal.journal);
    this.#lines = Buffer.from(records.map(({ text }) => `${text}\n`).join(''));
    const bytes = Buffer.concat([this.#lines, footerOf(this.#lines)]);
    await this.#storage.documents.writeBytes(CACHE, bytes, { durability: 'cache' });
  }

  async #extend(text: string): Promise<void> {
    const line = Buffer.from(`${text}\n`);
    const offset = this.#lines!.length;
    this.#lines = Buffer.concat([this.#lines!, line]);
    await this.#storage.documents.overwriteTail(CACHE, offset, Buffer.concat([line, footerOf(this.#lines)]));
  }

  /** While the process lives, the cache is current. */
  async #checkCurrent(): Promise<void> {
    const cached = parseCache(await this.#storage.documents.readBytes(CACHE));
    const records = await readAll(this.#journal.journal);
    const same =
      cached?.length === records.length && cached.every((text, index) => text === records[index]!.text);
    demand(same, () => `the cache holds ${cached?.length ?? 'nothing'} of ${records.length} records`);
    demand(this.#process.disk.openFiles().length <= 1, () => 'a file of the cache was left open');
  }
}

/** As the real one: a cache that covers more than the journal has, or ends in another record, is refused. */
function isOfThisHistory(cached: readonly string[], records: readonly Found[]): boolean {
  return cached.length <= records.length && cached.at(-1) === records[cached.length - 1]?.text;
}

async function checkCache(process: RebootedProcess): Promise<void> {
  const storage = openStorage(process);
  const cached = parseCache(await storage.documents.readBytes(CACHE));
  const journal = await storage.openJournal<Note>(JOURNAL, { readOnly: true });
  const records = await readAll(journal);
  await journal.close();
  await storage.close();
  if (cached && isOfThisHistory(cached, records)) {
    const same = cached.every((text, index) => text === records[index]!.text);
    demand(
      same,
      () => `the cache of ${cached.length} records passes its checksum, and differs from the journal`,
    );
  }
  await checkJournal(process);
}

export const cacheTail: Workload = {
  name: 'cache-tail',
  alphabet: ['turn', 'long turn', 'rewrite'],
  start: async (process) => new CacheSession(process, await JournalSession.start(process)),
  check: checkCache,
};
