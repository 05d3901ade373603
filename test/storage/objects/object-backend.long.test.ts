import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import { LocalObjects, type ObjectStorage, withObjects } from '../../../src/storage/objects/index.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import { backendConformance } from '../../../src/storage/testing/backend-conformance.js';
import { blobsConformance } from '../../../src/storage/testing/blobs-conformance.js';
import { collect, Suite } from '../../../src/storage/testing/conformance-kit.js';
import { runStorageConformance } from '../../../src/storage/testing/index.js';
import { tempFolder } from '../file/file-fixture.js';
import { fileObjectsTarget, memoryObjectsTarget } from './object-backend-targets.js';

const SCOPE = ['agents', 'one', 'artifacts'];

runStorageConformance({ describe, it }, memoryObjectsTarget('memory with all blobs in a folder', 0));

const files = fileObjectsTarget('files with larger blobs in a folder', 5);
describe(files.name, () => {
  const suite = new Suite({ describe, it }, files);
  blobsConformance(suite);
  backendConformance(suite);
});

interface Fixture {
  readonly small: StorageBackend;
  readonly objects: ObjectStorage;
  readonly folder: string;
  /** Blobs of 10 bytes and larger are objects, where not told otherwise. */
  withLimit(fromBytes?: number): StorageBackend;
}

async function fixture(): Promise<Fixture> {
  const folder = path.join(await tempFolder(), 'objects');
  const small = new MemoryStorage();
  const objects = new LocalObjects(folder);
  onTestFinished(() => objects.close());
  return {
    small,
    objects,
    folder,
    withLimit: (fromBytes = 10) => withObjects(small, objects, { fromBytes }),
  };
}

describe('withObjects', () => {
  it('stores large blobs as objects and leaves small ones to the backend', async () => {
    const { small, objects, withLimit } = await fixture();
    const blobs = withLimit().blobs(SCOPE);
    const tiny = await blobs.put(Buffer.alloc(9, 'a'));
    const large = await blobs.put(Buffer.alloc(10, 'b'));
    expect((await collect(small.blobs(SCOPE).list())).map(({ digest }) => digest)).toEqual([tiny.digest]);
    expect((await collect(objects.list(SCOPE))).map(({ name }) => name)).toEqual([[large.digest]]);
  });

  it('lists both in one order, and what lies in both once', async () => {
    const { withLimit } = await fixture();
    const samples = Array.from({ length: 20 }, (_, size) => Buffer.alloc(size, 'z'));
    for (const bytes of samples) await withLimit().blobs(SCOPE).put(bytes);
    for (const bytes of samples.slice(5, 15)) await withLimit(0).blobs(SCOPE).put(bytes);
    for (const bytes of samples.slice(12, 18)) await withLimit(100).blobs(SCOPE).put(bytes);
    const digests = (await collect(withLimit().blobs(SCOPE).list())).map(({ digest }) => digest);
    expect(digests).toHaveLength(20);
    expect(digests).toEqual([...digests].sort());
  });

  it('finds and deletes a blob wherever it was put when the limit was another', async () => {
    const { withLimit } = await fixture();
    const { digest } = await withLimit(0).blobs(SCOPE).put(Buffer.from('text'));
    await withLimit(100).blobs(SCOPE).put(Buffer.from('text'));
    const blobs = withLimit().blobs(SCOPE);
    expect(Buffer.from((await blobs.get(digest))!).toString()).toBe('text');
    expect(await blobs.delete(digest)).toBe(true);
    expect(await blobs.has(digest)).toBe(false);
    expect(await withLimit(0).blobs(SCOPE).get(digest)).toBeNull();
  });

  it('tells an object that does not match its digest as BLOB_DAMAGED', async () => {
    const { objects, withLimit } = await fixture();
    const blobs = withLimit().blobs(SCOPE);
    const { digest } = await blobs.put(Buffer.alloc(20, 'a'));
    await objects.put([...SCOPE, digest], Buffer.alloc(20, 'b'));
    await expect(blobs.get(digest)).rejects.toMatchObject({ code: 'BLOB_DAMAGED', details: { digest } });
  });

  it('sends equal bytes once, and again when what is there has another size', async () => {
    const { objects, folder, withLimit } = await fixture();
    const blobs = withLimit().blobs(SCOPE);
    const { digest } = await blobs.put(Buffer.alloc(20, 'a'));
    const file = path.join(folder, ...SCOPE, digest);
    const { ino } = await fs.stat(file);
    await blobs.put(Buffer.alloc(20, 'a'));
    expect((await fs.stat(file)).ino).toBe(ino);
    await objects.put([...SCOPE, digest], Buffer.alloc(3));
    await blobs.put(Buffer.alloc(20, 'a'));
    expect(Buffer.from((await blobs.get(digest))!).toString()).toBe('a'.repeat(20));
  });

  it('names agents of which there are only objects', async () => {
    const { withLimit } = await fixture();
    const backend = withLimit();
    await backend.blobs(['agents', 'two', 'artifacts']).put(Buffer.alloc(20));
    await backend.documents.write(['agents', 'one', 'state'], 1);
    expect(await backend.listNames(['agents'])).toEqual(['one', 'two']);
  });

  it('tells a scope once, whether its blobs are objects, in the backend, or both', async () => {
    const { withLimit } = await fixture();
    const backend = withLimit();
    await backend.blobs(['agents', 'both', 'artifacts']).put(Buffer.alloc(20));
    await backend.blobs(['agents', 'both', 'artifacts']).put(Buffer.alloc(2));
    await backend.blobs(['agents', 'a-large', 'artifacts']).put(Buffer.alloc(20));
    await backend.documents.write(['agents', 'a', 'state'], 1);
    expect(await collect(backend.contents(['agents']))).toEqual([
      { kind: 'blobs', name: ['agents', 'a-large', 'artifacts'] },
      { kind: 'document', name: ['agents', 'a', 'state'] },
      { kind: 'blobs', name: ['agents', 'both', 'artifacts'] },
    ]);
  });

  it('closes both, also when one fails', async () => {
    const closed: string[] = [];
    const small = new FileStorage(await tempFolder());
    const journal = await small.openJournal(['a']);
    const objects = new LocalObjects(await tempFolder());
    objects.close = async () => {
      closed.push('objects');
      throw new TypeError('cannot close');
    };
    await expect(withObjects(small, objects).close()).rejects.toThrow('cannot close');
    expect(closed).toEqual(['objects']);
    await expect(journal.append([{}])).rejects.toMatchObject({ code: 'JOURNAL_CLOSED' });
  });

  it.each([-1, 1.5, Number.NaN])('refuses %d bytes as a limit with INVALID_ARGUMENT', async (fromBytes) => {
    const { withLimit } = await fixture();
    expect(() => withLimit(fromBytes)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
  });
});
