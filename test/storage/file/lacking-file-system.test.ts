/** File systems that cannot do everything, and places that others can reach. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { StorageWarning } from '../../../src/storage/file/storage-errors.js';
import { entriesOf, fileFixture, recordsOf, TTL_MS, tempFolder } from './file-fixture.js';
import { ProbeFileSystem } from './probe-file-system.js';

function lacking(call: string, errno: string): ProbeFileSystem {
  const disk = new ProbeFileSystem();
  disk.verdict = (probed) => (probed.call === call ? errno : null);
  return disk;
}

describe.each(['EPERM', 'ENOSYS', 'ENOTSUP', 'EACCES'])('a file system without hard links (%s)', (errno) => {
  it('keeps journals and leases, and says so once', async () => {
    const { storage } = await fileFixture();
    const warnings: StorageWarning[] = [];
    const store = storage({
      fileSystem: lacking('link', errno),
      onWarning: (warning) => warnings.push(warning),
    });
    for (let owner = 1; owner <= 3; owner += 1) {
      const lease = await store.leases.acquire(['agent'], { ttlMs: TTL_MS });
      expect(lease.fence).toBe(owner);
      const journal = await store.openJournal(['traces'], { lease });
      await journal.append([{ n: owner }]);
      await journal.archiveBefore(owner + 1);
      await journal.close();
      await lease.release();
    }
    const reader = await store.openJournal(['traces'], { readOnly: true });
    const seen: unknown[] = [];
    for await (const entry of reader.read({ archived: true }))
      seen.push(entry.kind === 'record' ? entry.record : entry);
    expect(seen).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect(warnings.map(({ code }) => code)).toEqual(['REKINDLE_NO_LINKS']);
  });
});

describe('a file system without hard links', () => {
  it('lets exactly one of many contenders win, and fences the old owner off', async () => {
    const { storage, clock } = await fileFixture();
    const store = () => storage({ fileSystem: lacking('link', 'EPERM'), onWarning: () => {} });
    const first = await store().leases.acquire(['agent'], { ttlMs: TTL_MS });
    const old = await store().openJournal<{ n: number }>(['traces'], { lease: first });
    await old.append([{ n: 1 }]);
    clock.advance(TTL_MS + 1);
    const contenders = Array.from({ length: 6 }, () => store().leases.acquire(['agent']));
    const results = await Promise.allSettled(contenders);
    const won = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(won, JSON.stringify(results)).toHaveLength(1);
    const journal = await store().openJournal<{ n: number }>(['traces'], { lease: won[0]! });
    await journal.append([{ n: 2 }]);
    await expect(old.append([{ n: 3 }])).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(await recordsOf(journal)).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it('finishes a copy that a crash left half done while a segment was archived', async () => {
    const { storage, file } = await fileFixture();
    const store = storage({ fileSystem: lacking('link', 'EPERM'), onWarning: () => {} });
    const journal = await store.openJournal<{ n: number }>(['traces']);
    await journal.append([{ n: 1 }]);
    await fs.mkdir(file('traces.archive'));
    await fs.writeFile(file('traces.archive/traces.000001-1.jsonl'), '{"n":');
    await journal.archiveBefore(2);
    await journal.append([{ n: 2 }]);
    const seen: unknown[] = [];
    for await (const entry of journal.read({ archived: true }))
      seen.push(entry.kind === 'record' ? entry.record : entry);
    expect(seen).toEqual([{ n: 1 }, { n: 2 }]);
  });
});

describe('a file system without a sync for folders', () => {
  it.each(['EINVAL', 'ENOTSUP'])('is used, and says what that means (%s)', async (errno) => {
    const { storage } = await fileFixture();
    const warnings: StorageWarning[] = [];
    const store = storage({
      fileSystem: lacking('syncFolder', errno),
      onWarning: (warning) => warnings.push(warning),
    });
    const journal = await store.openJournal(['traces']);
    await journal.append([{ n: 1 }]);
    await store.documents.write(['doc'], 1);
    expect(await entriesOf(journal)).toHaveLength(1);
    expect(warnings).toMatchObject([
      { code: 'REKINDLE_NO_FOLDER_SYNC', message: expect.stringContaining('power loss') as string },
    ]);
  });

  it('that fails for another reason fails the call', async () => {
    const { storage } = await fileFixture();
    const store = storage({ fileSystem: lacking('syncFolder', 'EIO') });
    await expect(store.documents.write(['doc'], 1)).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
  });
});

describe.skipIf(process.platform === 'win32')('a store that others can reach', () => {
  it('is reported when everybody may write to it', async () => {
    const { storage, root } = await fileFixture();
    await fs.chmod(root, 0o777);
    const warnings: StorageWarning[] = [];
    const store = storage({ onWarning: (warning) => warnings.push(warning) });
    await store.documents.write(['doc'], 1);
    await store.documents.write(['doc'], 2);
    expect(warnings).toMatchObject([{ code: 'REKINDLE_OPEN_TO_ALL', place: root }]);
  });

  it('writes to no journal that has a second name elsewhere', async () => {
    const { storage, file } = await fileFixture();
    const journal = await storage().openJournal(['traces']);
    await journal.append([{ n: 1 }]);
    await journal.close();
    const elsewhere = path.join(await tempFolder(), 'theirs');
    await fs.link(file('traces.jsonl'), elsewhere);
    const before = await fs.readFile(elsewhere);
    const again = await storage().openJournal(['traces']);
    await expect(again.append([{ n: 2 }])).rejects.toMatchObject({
      code: 'PATH_REFUSED',
      message: expect.stringContaining('hard link') as string,
    });
    expect(await fs.readFile(elsewhere)).toEqual(before);
    expect(await recordsOf(again)).toEqual([{ n: 1 }]);
  });

  it.each(['agents', 'agents/one', '.'])(
    'follows no link that takes the place of %s while it is open',
    async (name) => {
      const { storage, root } = await fileFixture();
      const store = storage();
      await store.documents.write(['agents', 'one', 'doc'], 1);
      const theirs = await tempFolder();
      const place = path.resolve(root, name);
      await fs.rename(place, `${place}.moved`);
      await fs.symlink(theirs, place);
      for (const use of [
        () => store.documents.write(['agents', 'one', 'doc'], 2),
        () => store.documents.read(['agents', 'one', 'doc']),
        () => store.openJournal(['agents', 'one', 'traces']),
        () => store.leases.acquire(['agents', 'one']),
        () => store.blobs(['agents', 'one', 'artifacts']).put(Buffer.from('x')),
      ])
        await expect(use()).rejects.toMatchObject({ code: 'PATH_REFUSED' });
      expect(await fs.readdir(theirs)).toEqual([]);
      await fs.rm(place);
      await fs.rename(`${place}.moved`, place);
      expect((await store.documents.read(['agents', 'one', 'doc']))?.value).toBe(1);
    },
  );
});
