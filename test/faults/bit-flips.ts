/**
 * Every single bit of a store of about 16 KiB is flipped, one at a time. What is read then must be what was written, or
 * the loss must be told: never silently wrong.
 *
 * Other parts of the library add their files with `FlipCase`: how they make their store, and what they read from it.
 */
import fs from 'node:fs/promises';
import path from 'node:path';
import { isRekindleError } from '../../src/core/errors.js';
import type { JsonObject } from '../../src/core/json.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import type { FileSystem } from '../../src/storage/file-system.js';
import type { Journal, JournalEntry, Lease } from '../../src/storage/ports.js';
import { type FaultOptions, type FaultSuite, FaultTally, progress, withTempFolder } from './fault-suite.js';
import { MapFileSystem, type Picture } from './map-file-system.js';

/** What was read: parts by a key, and whether anything was told to be wrong. */
export interface Reading {
  readonly parts: ReadonlyMap<string, string>;
  readonly told: boolean;
}

export interface FlipCase {
  readonly title: string;
  /** Makes the store in an empty folder. */
  make(root: string): Promise<void>;
  /** Reads all of it. Errors other than `RekindleError` are violations. */
  read(root: string, fileSystem: FileSystem): Promise<Reading>;
  /** How many parts an unharmed store has at least: a reader that sees nothing would find no flip harmful. */
  readonly partsMin: number;
  /** Files whose content is no promise, such as leases. */
  readonly ignored: RegExp;
}

export const bitFlips: FaultSuite = {
  title: 'any single one of its bits is flipped',
  defaultCount: 1_000_000,
  run: (options) => withTempFolder((folder) => run(folder, options, CASES)),
};

export async function run(folder: string, options: FaultOptions, cases: readonly FlipCase[]) {
  const tally = new FaultTally();
  for (const [index, flipCase] of cases.entries()) {
    const root = path.join(folder, String(index));
    await fs.mkdir(root);
    await flipCase.make(root);
    await flipAll(flipCase, root, await pictureOf(root), options, tally);
  }
  return tally.report();
}

async function flipAll(
  flipCase: FlipCase,
  root: string,
  picture: Picture,
  { count, seed, log }: FaultOptions,
  tally: FaultTally,
): Promise<void> {
  const tell = progress(log);
  const whole = await flipCase.read(root, new MapFileSystem(picture));
  tally.expect(!whole.told, () => `${flipCase.title}: damage is told of a store that has none`);
  const enough = whole.parts.size >= flipCase.partsMin;
  tally.expect(enough, () => `${flipCase.title}: only ${whole.parts.size} parts can be read`);
  const files = [...picture].filter(([file]) => !flipCase.ignored.test(file));
  const bits = files.reduce((sum, [, bytes]) => sum + bytes.length * 8, 0);
  const stride = Math.max(1, bits / count);
  let before = 0;
  let position = seed % Math.ceil(stride);
  for (const [file, bytes] of files) {
    for (; position < before + bytes.length * 8; position += stride) {
      const bit = Math.floor(position) - before;
      await flipOne(flipCase, root, picture, file, bit, whole, tally);
      tell(() => `${flipCase.title}: bit ${Math.floor(position)} of ${bits}`);
    }
    before += bytes.length * 8;
  }
}

async function flipOne(
  flipCase: FlipCase,
  root: string,
  picture: Picture,
  file: string,
  bit: number,
  whole: Reading,
  tally: FaultTally,
): Promise<void> {
  const label = `${flipCase.title}: bit ${bit & 7} of byte ${bit >> 3} of ${path.relative(root, file)}`;
  const flipped = Buffer.from(picture.get(file)!);
  flipped[bit >> 3]! ^= 1 << (bit & 7);
  tally.add('flips');
  let reading: Reading;
  try {
    reading = await flipCase.read(root, new MapFileSystem(new Map([...picture, [file, flipped]])));
  } catch (thrown) {
    if (isRekindleError(thrown)) tally.add(`refused ${thrown.code}`);
    else tally.violation(`${label}: no RekindleError but ${String(thrown)}`);
    return;
  }
  const wrong = [...reading.parts].find(([key, text]) => whole.parts.get(key) !== text);
  const missing = [...whole.parts.keys()].filter((key) => !reading.parts.has(key)).length;
  tally.expect(!wrong, () => `${label}: ${wrong?.[0]} is read as ${wrong?.[1].slice(0, 200)}`);
  tally.expect(
    missing === 0 || reading.told,
    () => `${label}: ${missing} parts are gone, and nothing is told`,
  );
  tally.expect(
    missing <= 1 || !flipCase.title.startsWith('journal'),
    () => `${label}: takes ${missing} records with it`,
  );
  tally.add(reading.told ? 'told' : 'harmless');
}

async function pictureOf(root: string): Promise<Picture> {
  const picture = new Map<string, Buffer>();
  for (const entry of await fs.readdir(root, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isFile()) picture.set(file, await fs.readFile(file));
  }
  return picture;
}

/** Two owners, so that there is a seal with bytes of a woken writer behind it; several segments; an archive; a document; an artifact. */
async function makeStore(root: string): Promise<void> {
  const store = new FileStorage(root, { segmentBytesMax: 2_000 });
  const lease = await store.leases.acquire(['agent']);
  const journal = await store.openJournal<JsonObject>(['traces'], { lease });
  for (let n = 1; n <= 50; n += 1) await journal.append([recordOf(n)]);
  await journal.archiveBefore(20);
  await journal.close();
  await fs.appendFile(path.join(root, 'traces.jsonl'), '{"torn by a kill');
  const taken: Lease = { ...heldLease(lease.fence + 1), takenOver: true, unsafeFence: lease.fence };
  const second = await store.openJournal<JsonObject>(['traces'], { lease: taken });
  for (let n = 51; n <= 60; n += 1) await second.append([recordOf(n)]);
  await store.close();
}

function recordOf(n: number): JsonObject {
  const inner = { list: [{ n }, { text: 'a "quoted" {"_seq":1} and J*\u0000 text' }] };
  return { n, role: 'user', content: `${'Grüße, word '.repeat(n % 9)}${n}`, inner };
}

function heldLease(fence: number): Lease {
  const nothing = async () => {};
  const lost = new AbortController().signal;
  return {
    fence,
    takenOver: false,
    unsafeFence: 0,
    held: true,
    lost,
    check: nothing,
    renew: nothing,
    release: nothing,
  };
}

async function readingOf(...sources: AsyncIterable<JournalEntry<JsonObject>>[]): Promise<Reading> {
  const parts = new Map<string, string>();
  let told = false;
  for (const source of sources) {
    for await (const entry of source) {
      if (entry.kind === 'record') parts.set(`record ${entry.seq}`, JSON.stringify(entry.record));
      else if (entry.reason !== 'after-seal') told = true;
    }
  }
  return { parts, told };
}

async function readOnly(root: string, fileSystem: FileSystem): Promise<Journal<JsonObject>> {
  return new FileStorage(root, { fileSystem }).openJournal<JsonObject>(['traces'], { readOnly: true });
}

const ignored = /lease/;

const CASES: readonly FlipCase[] = [
  {
    title: 'journal, read forward',
    partsMin: 60,
    ignored,
    make: makeStore,
    read: async (root, fileSystem) => {
      const journal = await readOnly(root, fileSystem);
      const reading = await readingOf(journal.read({ archived: true }));
      return { ...reading, told: reading.told || journal.openingDamage().length > 0 };
    },
  },
  {
    title: 'journal, read backward',
    partsMin: 41,
    ignored: /lease|archive/,
    make: makeStore,
    read: async (root, fileSystem) => {
      const journal = await readOnly(root, fileSystem);
      const reading = await readingOf(journal.readBackward());
      return { ...reading, told: reading.told || journal.openingDamage().length > 0 };
    },
  },
  {
    title: 'journal, opened for writing and continued',
    partsMin: 60,
    ignored,
    make: makeStore,
    read: async (root, fileSystem) => {
      const store = new FileStorage(root, { fileSystem });
      const journal = await store.openJournal<JsonObject>(['traces'], { lease: heldLease(9) });
      const head = await journal.head();
      const { seq } = await journal.append([{ appended: true }]);
      const reading = await readingOf(journal.read({ archived: true }));
      const appended = reading.parts.get(`record ${seq}`);
      const parts = new Map(reading.parts);
      parts.delete(`record ${seq}`);
      if (appended !== '{"appended":true}') parts.set('the record appended afterwards', String(appended));
      if (head.seq < 60 && journal.openingDamage().length === 0) parts.set('head', String(head.seq));
      return { parts, told: reading.told || journal.openingDamage().length > 0 };
    },
  },
  {
    title: 'artifact',
    partsMin: 1,
    ignored,
    make: async (root) => {
      await new FileStorage(root).blobs(['artifacts']).put(Buffer.from('an artifact '.repeat(20)));
    },
    read: async (root, fileSystem) => {
      const blobs = new FileStorage(root, { fileSystem }).blobs(['artifacts']);
      const parts = new Map<string, string>();
      for await (const { digest } of blobs.list()) {
        parts.set(digest, Buffer.from((await blobs.get(digest))!).toString('latin1'));
      }
      return { parts, told: false };
    },
  },
];
