import { chmodSync, statSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import { fileFixture, TTL_MS, tempFolder } from './file-fixture.js';

/** Every kind of file that the backend makes, below one new root. */
async function makeEverything(root: string): Promise<string[]> {
  const store = new FileStorage(root, { segmentBytesMax: 0 });
  const journal = await store.openJournal(['agents', 'One', 'traces']);
  for (const n of [1, 2, 3]) await journal.append([{ n }]);
  await journal.archiveBefore(2);
  await journal.close();
  await fs.appendFile(path.join(root, 'agents', '%4fne', 'traces.jsonl'), '{"torn');
  await (await store.openJournal(['agents', 'One', 'traces'])).close();
  await store.documents.write(['agents', 'One', 'state'], 1);
  await store.documents.write(['agents', 'One', 'cache'], 1, { durability: 'cache' });
  await store.documents.write(['agents', 'One', 'old'], 1);
  await store.documents.setAside(['agents', 'One', 'old'], 'damaged');
  await store.blobs(['agents', 'One', 'artifacts']).put(Buffer.from('a'));
  const lease = await store.leases.acquire(['agents', 'One'], { ttlMs: TTL_MS });
  await lease.renew();
  await lease.release();
  await store.close();
  const below = await fs.readdir(root, { recursive: true });
  return below.map((name) => path.join(root, name));
}

function underMask(mask: number): void {
  const before = process.umask(mask);
  onTestFinished(() => {
    process.umask(before);
  });
}

describe('files and folders', () => {
  it.each([0o000, 0o022, 0o077])('are for the owner alone under umask %o', async (mask) => {
    const parent = await tempFolder();
    underMask(mask);
    const root = path.join(parent, 'new', 'root');
    const entries = await makeEverything(root);
    expect(entries.length).toBeGreaterThan(15);
    for (const entry of [path.join(parent, 'new'), root, ...entries]) {
      const stat = statSync(entry);
      expect(`${entry} ${(stat.mode & 0o777).toString(8)}`).toBe(
        `${entry} ${stat.isDirectory() ? 700 : 600}`,
      );
    }
  });

  it('can be used again under a umask that takes the owner’s bits', async () => {
    const parent = await tempFolder();
    underMask(0o377);
    const entries = await makeEverything(path.join(parent, 'root'));
    for (const entry of entries) expect(statSync(entry).mode & 0o700).toBeGreaterThanOrEqual(0o600);
  });

  it('keep the modes that a person gave to what was there before', async () => {
    const { root, storage, file } = await fileFixture();
    chmodSync(root, 0o750);
    const journal = await storage().openJournal(['traces']);
    await journal.append([{ n: 1 }]);
    chmodSync(file('traces.jsonl'), 0o640);
    await journal.append([{ n: 2 }]);
    expect(statSync(root).mode & 0o777).toBe(0o750);
    expect(statSync(file('traces.jsonl')).mode & 0o777).toBe(0o640);
  });
});
