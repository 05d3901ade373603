import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openWorkingContext } from '../../../src/agent/index.js';
import type { JsonObject } from '../../../src/core/json.js';
import {
  LocalObjects,
  type ObjectStorage,
  ObjectsStorage,
  type ObjectsStorageOptions,
} from '../../../src/storage/objects/index.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { Journal } from '../../../src/storage/ports.js';
import { tempFolder } from '../file/file-fixture.js';

const NAME = ['agents', 'one', 'traces'];

function storeIn(
  folder: string,
  options: ObjectsStorageOptions = {},
  objects: ObjectStorage = new LocalObjects(folder),
) {
  const storage = new ObjectsStorage(objects, { place: folder, ...options });
  onTestFinished(() => storage.close());
  return storage;
}

async function entriesOf(journal: Journal<JsonObject>): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const entry of journal.read({ archived: true }))
    found.push(entry.kind === 'record' ? entry.record['n'] : entry.reason);
  return found;
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const objectsOf = async (folder: string) =>
  (await fs.readdir(path.join(folder, 'journals', ...NAME))).filter((name) => !name.startsWith('.')).sort();

describe('journals as objects', () => {
  it('hold one object for each commit, with the lines that a journal file has', async () => {
    const folder = await tempFolder();
    const journal = await storeIn(folder).openJournal<JsonObject>(NAME);
    await Promise.all([journal.append([{ n: 1 }]), journal.append([{ n: 2 }, {}])]);
    await journal.append([{ n: 4 }]);
    expect(await objectsOf(folder)).toEqual(['000000000001.0000', '000000000004.0000']);
    const text = await fs.readFile(path.join(folder, 'journals', ...NAME, '000000000001.0000'), 'utf8');
    expect(text).toMatch(
      /^\{"_segment":1,"_count":3,"_fence":1,"_nonce":"[\w-]{16}","_crc":"[0-9a-f]{8}"\}\n\{"n":1,"_seq":1,"_crc":"[0-9a-f]{8}"\}\n\{"n":2,"_seq":2,.*\}\n\{"_seq":3,"_crc":"[0-9a-f]{8}"\}\n$/,
    );
  });

  it('are merged when there are many small ones, and read the same', async () => {
    const folder = await tempFolder();
    const storage = storeIn(folder, { mergeAt: 4 });
    const journal = await storage.openJournal<JsonObject>(NAME);
    for (const n of upTo(23)) await journal.append([{ n }]);
    const { cursor } = await journal.head();
    await storage.close();
    expect((await objectsOf(folder)).length).toBeLessThan(10);
    const again = await storeIn(folder).openJournal<JsonObject>(NAME);
    expect(await entriesOf(again)).toEqual(upTo(23));
    expect((await again.head()).cursor).toEqual(cursor);
    expect((await again.append([{ n: 24 }])).seq).toBe(24);
    const backward: number[] = [];
    for await (const entry of again.readBackward()) if (entry.kind === 'record') backward.push(entry.seq);
    expect(backward).toEqual(upTo(24).reverse());
  });

  it('lose and double nothing when a merge ends before it deletes', async () => {
    const folder = await tempFolder();
    const objects = new LocalObjects(folder);
    objects.delete = async () => {
      throw new Error('the process ended here');
    };
    const dying = storeIn(folder, { mergeAt: 4 }, objects);
    const journal = await dying.openJournal<JsonObject>(NAME);
    for (const n of upTo(8)) await journal.append([{ n }]);
    await dying.close();
    const left = await objectsOf(folder);
    expect(left.some((name) => name.includes('-'))).toBe(true);
    expect(left).toContain('000000000001.0000');
    const storage = storeIn(folder, { mergeAt: 4 });
    const again = await storage.openJournal<JsonObject>(NAME);
    expect(await entriesOf(again)).toEqual(upTo(8));
    for (const n of [9, 10, 11, 12, 13]) await again.append([{ n }]);
    expect(await entriesOf(again)).toEqual(upTo(13));
    await storage.close();
    expect(await objectsOf(folder)).not.toContain('000000000001.0000');
  });

  it('report a flipped bit with its place, and a repair keeps the object', async () => {
    const folder = await tempFolder();
    const journal = await storeIn(folder).openJournal<JsonObject>(NAME);
    await journal.append([{ n: 1 }, { n: 2 }, { n: 3 }]);
    await journal.append([{ n: 4 }]);
    const file = path.join(folder, 'journals', ...NAME, '000000000001.0000');
    const bytes = await fs.readFile(file);
    bytes[bytes.indexOf('"n":2') + 4]! ^= 1;
    await fs.writeFile(file, bytes);
    expect(await entriesOf(journal)).toEqual([1, 'checksum', 3, 4]);
    expect(await journal.repair()).toMatchObject([{ ranges: 1 }]);
    expect(await entriesOf(journal)).toEqual([1, 3, 4]);
    expect((await objectsOf(folder)).filter((name) => name.startsWith('damaged.'))).toHaveLength(1);
  });

  it('report a missing object as a gap, and a repair closes it', async () => {
    const folder = await tempFolder();
    const journal = await storeIn(folder).openJournal<JsonObject>(NAME);
    for (const n of upTo(4)) await journal.append([{ n }]);
    await fs.rm(path.join(folder, 'journals', ...NAME, '000000000002.0000'));
    expect(await entriesOf(journal)).toEqual([1, 'sequence-gap', 3, 4]);
    await journal.repair();
    expect(await entriesOf(journal)).toEqual([1, 3, 4]);
  });

  it('leave no byte of an erased record in any object', async () => {
    const folder = await tempFolder();
    const storage = storeIn(folder, { mergeAt: 4 });
    const journal = await storage.openJournal<JsonObject>(NAME);
    for (const n of upTo(9)) await journal.append([{ n, text: n === 3 ? 'forget-me' : 'keep' }]);
    expect(await journal.erase([3])).toBe(1);
    await storage.close();
    for (const name of await objectsOf(folder))
      expect(await fs.readFile(path.join(folder, 'journals', ...NAME, name), 'utf8')).not.toContain(
        'forget-me',
      );
  });
});

describe('two stores at one agent', () => {
  it('let the one that was fenced off acknowledge nothing more', async () => {
    const folder = await tempFolder();
    const [one, two] = [storeIn(folder), storeIn(folder)];
    const lease = await one.leases.acquire(['agents', 'one']);
    const journal = await one.openJournal<JsonObject>(NAME, { lease });
    await journal.append([{ n: 1 }]);
    const stolen = await two.leases.acquire(['agents', 'one'], { force: true });
    await expect(journal.append([{ n: 9 }])).rejects.toMatchObject({ code: 'LEASE_LOST' });
    const next = await two.openJournal<JsonObject>(NAME, { lease: stolen });
    const kept = await entriesOf(next);
    await expect(journal.append([{ n: 9 }])).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await next.append([{ n: 2 }]);
    expect(await entriesOf(next)).toEqual([...kept, 2]);
  });
});

describe('an agent in a folder of objects', () => {
  it('is restored with what it said', async () => {
    const folder = await tempFolder();
    const open = async () => {
      const storage = openStorage(`objects:${folder}`);
      const context = await openWorkingContext({ agentId: 'ada', storage });
      return { storage, context };
    };
    const first = await open();
    await first.context.beginTurn('Hello');
    await first.context.endTurn([{ role: 'assistant', content: 'Good morning' }]);
    await first.context.close();
    await first.storage.close();
    const second = await open();
    const text = JSON.stringify(second.context.messages);
    await second.context.close();
    await second.storage.close();
    expect(text).toContain('Hello');
    expect(text).toContain('Good morning');
  });
});

describe('a volume, which cannot compare and set', () => {
  const volume = (folder: string): ObjectStorage => {
    const objects = new LocalObjects(folder);
    return Object.defineProperty(objects, 'conditional', { value: undefined });
  };

  it('is refused for writing, and may be read', async () => {
    const folder = await tempFolder();
    await storeIn(folder).documents.write(['plan'], 1);
    const storage = storeIn(folder, {}, volume(folder));
    expect((await storage.documents.read(['plan']))?.value).toBe(1);
    const refused = { code: 'INVALID_ARGUMENT', message: expect.stringContaining('writers=one') };
    await expect(storage.openJournal(NAME)).rejects.toMatchObject(refused);
    await expect(storage.documents.write(['plan'], 2)).rejects.toMatchObject(refused);
    expect((await storage.documents.read(['plan']))?.value).toBe(1);
  });

  it('is written by one process that promises to be alone', async () => {
    const folder = await tempFolder();
    const storage = storeIn(folder, { writers: 'one' }, volume(folder));
    expect(storage.capabilities.multiProcess).toBe(false);
    const journal = await storage.openJournal<JsonObject>(NAME);
    await journal.append([{ n: 1 }]);
    expect(await entriesOf(journal)).toEqual([1]);
  });

  it('is written by several under the leases of another backend', async () => {
    const folder = await tempFolder();
    const leases = () => openStorage(`sqlite:${path.join(folder, 'leases.db')}`);
    const one = storeIn(folder, { leases: leases() }, volume(path.join(folder, 'objects')));
    const two = storeIn(folder, { leases: leases() }, volume(path.join(folder, 'objects')));
    const lease = await one.leases.acquire(['agents', 'one']);
    await expect(two.leases.acquire(['agents', 'one'])).rejects.toMatchObject({ code: 'LEASE_HELD' });
    const journal = await one.openJournal<JsonObject>(NAME, { lease });
    await journal.append([{ n: 1 }]);
    const stolen = await two.leases.acquire(['agents', 'one'], { force: true });
    const next = await two.openJournal<JsonObject>(NAME, { lease: stolen });
    await expect(journal.append([{ n: 9 }])).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect((await next.append([{ n: 2 }])).seq).toBe(2);
    expect(await entriesOf(next)).toEqual([1, 2]);
  });
});
