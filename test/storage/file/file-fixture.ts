/** A temporary folder with a file store in it, and short forms to look at its files and journals. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { ManualClock } from '../../../src/core/clock.js';
import type { JsonObject } from '../../../src/core/json.js';
import { FileStorage, type FileStorageOptions } from '../../../src/storage/file/file-storage.js';
import type { Journal, JournalDamage, JournalEntry } from '../../../src/storage/ports.js';

export async function tempFolder(): Promise<string> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-file-'));
  onTestFinished(() => fs.rm(folder, { recursive: true, force: true }));
  return folder;
}

export interface FileFixture {
  readonly root: string;
  readonly clock: ManualClock;
  /** A store over the folder, as a process of its own would open it. Closed after the test. */
  storage(options?: FileStorageOptions): FileStorage;
  /** Opens the journal `traces` with a store of its own. */
  journal(options?: FileStorageOptions): Promise<Journal<JsonObject>>;
  reader(): Promise<Journal<JsonObject>>;
  /** An owner of the lease `agent` with the journal `traces`; one that was suspended when `after` its life. */
  owner(options?: FileStorageOptions): ReturnType<typeof openOwner>;
  file(name: string): string;
  put(name: string, content: string | Uint8Array): Promise<void>;
  text(name: string): Promise<string>;
  /** The names in the folder, sorted, leases left out. */
  names(): Promise<string[]>;
}

export const TTL_MS = 1_000;

export async function fileFixture(): Promise<FileFixture> {
  const root = await tempFolder();
  const clock = new ManualClock(Date.now());
  const storage = (options: FileStorageOptions = {}) => {
    const opened = new FileStorage(root, { clock, ...options });
    onTestFinished(() => opened.close().catch(() => {}));
    return opened;
  };
  const file = (name: string) => path.join(root, name);
  return {
    root,
    clock,
    storage,
    journal: (options) => storage(options).openJournal(['traces']),
    reader: () => storage().openJournal(['traces'], { readOnly: true }),
    owner: (options) => openOwner(storage(options)),
    file,
    put: (name, content) => fs.writeFile(file(name), content),
    text: async (name) => (await fs.readFile(file(name))).toString('latin1'),
    names: async () => (await fs.readdir(root)).filter((name) => !/lease|^agent$/.test(name)).sort(),
  };
}

async function openOwner(storage: FileStorage) {
  const lease = await storage.leases.acquire(['agent'], { ttlMs: TTL_MS });
  const journal = await storage.openJournal<JsonObject>(['traces'], { lease });
  return { lease, journal };
}

export async function entriesOf(journal: Journal<JsonObject>): Promise<JournalEntry<JsonObject>[]> {
  const entries: JournalEntry<JsonObject>[] = [];
  for await (const entry of journal.read()) entries.push(entry);
  return entries;
}

export async function recordsOf(journal: Journal<JsonObject>): Promise<JsonObject[]> {
  return (await entriesOf(journal)).flatMap((entry) => (entry.kind === 'record' ? [entry.record] : []));
}

export async function seqsOf(journal: Journal<JsonObject>): Promise<number[]> {
  return (await entriesOf(journal)).flatMap((entry) => (entry.kind === 'record' ? [entry.seq] : []));
}

export async function damageOf(journal: Journal<JsonObject>): Promise<JournalDamage[]> {
  return (await entriesOf(journal)).flatMap((entry) => (entry.kind === 'damage' ? [entry] : []));
}
