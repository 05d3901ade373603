/** A journal over a disk that fails: what is told, what is kept, and that it stays usable. */
import { describe, expect, it } from 'vitest';
import { isRekindleError } from '../../../src/core/errors.js';
import { damageOf, fileFixture, recordsOf, seqsOf } from './file-fixture.js';
import { ProbeFileSystem } from './probe-file-system.js';

async function withProbe() {
  const fixture = await fileFixture();
  const disk = new ProbeFileSystem();
  const journal = await fixture.journal({ fileSystem: disk });
  await journal.append([{ n: 1 }]);
  disk.calls.length = 0;
  return { ...fixture, disk, opened: journal };
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  const thrown = await promise.then(
    () => 'nothing was thrown',
    (error: unknown) => error,
  );
  return isRekindleError(thrown) ? thrown.code : String(thrown);
}

describe('a short write', () => {
  it('is continued until all bytes are there', async () => {
    const { disk, opened } = await withProbe();
    disk.verdict = ({ call }) => (call === 'write' ? 'short' : null);
    expect((await opened.append([{ n: 2, text: 'x'.repeat(1_000) }])).seq).toBe(2);
    expect(disk.calls.filter(({ call }) => call === 'write').length).toBeGreaterThan(5);
    expect(await seqsOf(opened)).toEqual([1, 2]);
    expect(await damageOf(opened)).toEqual([]);
  });

  it('of documents and artifacts is continued too', async () => {
    const { storage } = await fileFixture();
    const disk = new ProbeFileSystem();
    disk.verdict = ({ call }) => (call === 'write' ? 'short' : null);
    const store = storage({ fileSystem: disk });
    await store.documents.write(['doc'], { text: 'x'.repeat(1_000) });
    const { digest } = await store.blobs(['artifacts']).put(Buffer.alloc(1_000, 'y'));
    expect((await store.documents.read(['doc']))?.value).toEqual({ text: 'x'.repeat(1_000) });
    expect((await store.blobs(['artifacts']).get(digest))?.length).toBe(1_000);
  });
});

describe('a failed write', () => {
  it.each([
    ['ENOSPC', 'STORAGE_FULL'],
    ['EDQUOT', 'STORAGE_FULL'],
    ['EFBIG', 'STORAGE_FULL'],
    ['EIO', 'STORAGE_FAILED'],
  ])('with %s is told as %s, cut back, and the journal stays usable', async (errno, code) => {
    const { disk, text, opened } = await withProbe();
    const before = await text('traces.jsonl');
    let writes = 0;
    disk.verdict = ({ call }) => (call !== 'write' ? null : ++writes < 3 ? 'short' : errno);
    expect(await codeOf(opened.append([{ n: 2, text: 'x'.repeat(1_000) }]))).toBe(code);
    disk.verdict = () => null;
    expect(await text('traces.jsonl')).toBe(before);
    expect((await opened.append([{ n: 2 }])).seq).toBe(2);
    expect(await recordsOf(opened)).toEqual([{ n: 1 }, { n: 2 }]);
    expect(await damageOf(opened)).toEqual([]);
  });

  it('names the errno in its details and keeps the cause', async () => {
    const { disk, opened } = await withProbe();
    disk.failNext('write', 'ENOSPC');
    const thrown: unknown = await opened.append([{ n: 2 }]).catch((error: unknown) => error);
    expect(thrown).toMatchObject({
      details: { errno: 'ENOSPC', doing: 'append to traces' },
      cause: { code: 'ENOSPC' },
    });
  });

  it('of one commit refuses all appends that shared it, and the next ones go on', async () => {
    const { disk, opened } = await withProbe();
    disk.failNext('write', 'EIO');
    const results = await Promise.allSettled([2, 3, 4].map((n) => opened.append([{ n }])));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect((await opened.append([{ n: 5 }])).seq).toBe(2);
  });

  it('that takes no bytes at all is an error, not an endless loop', async () => {
    const fixture = await fileFixture();
    const disk = new ProbeFileSystem();
    const open = disk.open.bind(disk);
    disk.open = async (file, mode) => ({ ...(await open(file, mode)), write: async () => 0 });
    const opened = fixture.journal({ fileSystem: disk });
    expect(await codeOf(opened)).toBe('STORAGE_FAILED');
  });

  it('whose cutting back fails too is told as unknown, and mended before the next append', async () => {
    const { disk, text, opened } = await withProbe();
    disk.verdict = ({ call }) =>
      call === 'write' && disk.calls.filter((past) => past.call === 'write').length === 1
        ? 'short'
        : call === 'write' || call === 'truncate'
          ? 'EIO'
          : null;
    expect(await codeOf(opened.append([{ n: 2, text: 'x'.repeat(1_000) }]))).toBe('JOURNAL_OUTCOME_UNKNOWN');
    disk.verdict = () => null;
    expect(await seqsOf(opened)).toEqual([1]);
    expect((await opened.append([{ n: 2 }])).seq).toBe(2);
    expect(await recordsOf(opened)).toEqual([{ n: 1 }, { n: 2 }]);
    expect((await text('traces.jsonl')).split('\n')).toHaveLength(3);
  });
});

describe('a failed sync', () => {
  it('is told as JOURNAL_OUTCOME_UNKNOWN, and nothing unacknowledged is read', async () => {
    const { disk, opened } = await withProbe();
    disk.failNext('datasync', 'EIO');
    expect(await codeOf(opened.append([{ n: 2 }]))).toBe('JOURNAL_OUTCOME_UNKNOWN');
    expect(await seqsOf(opened)).toEqual([1]);
    expect((await opened.head()).seq).toBe(1);
  });

  it('closes the descriptor, which is never synced or written again', async () => {
    const { disk, opened } = await withProbe();
    disk.failNext('datasync', 'EIO');
    await codeOf(opened.append([{ n: 2 }]));
    const failed = disk.calls.find(({ call }) => call === 'datasync')!.descriptor;
    const since = disk.calls.length;
    await opened.append([{ n: 3 }]);
    await opened.append([{ n: 4 }]);
    const later = disk.calls.slice(since).filter(({ descriptor }) => descriptor === failed);
    expect(later).toEqual([]);
    expect(disk.calls.some(({ call, descriptor }) => call === 'close' && descriptor === failed)).toBe(true);
  });

  it('leaves the journal usable: the file is read anew, cut to what was acknowledged, and synced', async () => {
    const { disk, text, opened, journal } = await withProbe();
    disk.failNext('datasync', 'EIO');
    await codeOf(opened.append([{ n: 2, unknown: true }]));
    expect((await opened.append([{ n: 2 }])).seq).toBe(2);
    expect(await recordsOf(opened)).toEqual([{ n: 1 }, { n: 2 }]);
    expect(await text('traces.jsonl')).not.toContain('unknown');
    await opened.close();
    expect(await seqsOf(await journal())).toEqual([1, 2]);
  });

  it('that fails again is told again, and acknowledges nothing', async () => {
    const { disk, opened } = await withProbe();
    disk.verdict = ({ call }) => (call === 'datasync' ? 'EIO' : null);
    const codes = [];
    for (let tries = 0; tries < 4; tries += 1) codes.push(await codeOf(opened.append([{ n: 2 }])));
    expect(codes[0]).toBe('JOURNAL_OUTCOME_UNKNOWN');
    expect(codes.every((code) => code === 'JOURNAL_OUTCOME_UNKNOWN' || code === 'STORAGE_FAILED')).toBe(true);
    disk.verdict = () => null;
    expect((await opened.append([{ n: 2 }])).seq).toBe(2);
    expect(await recordsOf(opened)).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it('is not used further when the disk lost what was acknowledged', async () => {
    const { disk, put, opened } = await withProbe();
    disk.failNext('datasync', 'EIO');
    await codeOf(opened.append([{ n: 2 }]));
    await put('traces.jsonl', '');
    expect(await codeOf(opened.append([{ n: 2 }]))).toBe('JOURNAL_DAMAGED');
    expect(await codeOf(opened.append([{ n: 2 }]))).toBe('JOURNAL_DAMAGED');
  });

  it('of the folder, for a new file, acknowledges nothing until a later one succeeds', async () => {
    const { journal } = await fileFixture();
    const disk = new ProbeFileSystem();
    const opened = await journal({ fileSystem: disk });
    disk.failNext('syncFolder', 'EIO');
    expect(await codeOf(opened.append([{ n: 1 }]))).toBe('STORAGE_FAILED');
    disk.calls.length = 0;
    expect((await opened.append([{ n: 1 }])).seq).toBe(1);
    expect(disk.calls.some(({ call }) => call === 'syncFolder')).toBe(true);
    expect(await seqsOf(opened)).toEqual([1]);
  });
});

describe('a failure while a segment is sealed', () => {
  const calls = ['rename', 'syncFolder', 'open:create', 'write', 'datasync', 'close', 'unlink'];
  it.each(calls)('in %s is told, loses nothing, and the journal goes on', async (call) => {
    const { journal, reader } = await fileFixture();
    const disk = new ProbeFileSystem();
    const opened = await journal({ fileSystem: disk, segmentBytesMax: 0 });
    await opened.append([{ n: 1 }]);
    disk.failNext(call, 'EIO');
    const first = await codeOf(opened.append([{ n: 2, first: true }]));
    const acknowledged = first === 'nothing was thrown' ? [1, 2] : [1];
    expect(first).toMatch(/STORAGE_FAILED|JOURNAL_OUTCOME_UNKNOWN|nothing was thrown/);
    disk.verdict = () => null;
    for (const n of [3, 4]) acknowledged.push((await opened.append([{ n }])).seq);
    expect(acknowledged).toEqual(acknowledged.map((_, index) => index + 1));
    expect(await seqsOf(await reader())).toEqual(acknowledged);
    expect(await damageOf(await reader())).toEqual([]);
  });
});

describe('a failure while a document or an artifact is written', () => {
  const calls = ['open:create', 'write', 'datasync', 'close', 'rename'];
  it.each(calls)('in %s keeps the old document and leaves no temporary file', async (call) => {
    const { storage, names } = await fileFixture();
    const disk = new ProbeFileSystem();
    const store = storage({ fileSystem: disk });
    await store.documents.write(['doc'], 'old');
    disk.failNext(call, 'EIO');
    expect(await codeOf(store.documents.write(['doc'], 'new'))).toBe('STORAGE_FAILED');
    expect((await store.documents.read(['doc']))?.value).toBe('old');
    expect(await names()).toEqual(['doc']);
    await store.documents.write(['doc'], 'new');
    expect((await store.documents.read(['doc']))?.value).toBe('new');
    expect(disk.openDescriptors).toBe(0);
  });

  it.each(calls)('in %s stores no artifact and leaves no temporary file', async (call) => {
    const { storage, file } = await fileFixture();
    const disk = new ProbeFileSystem();
    const blobs = storage({ fileSystem: disk }).blobs(['artifacts']);
    const first = await blobs.put(Buffer.from('first'));
    disk.failNext(call, 'EIO');
    expect(await codeOf(blobs.put(Buffer.from('second')))).toBe('STORAGE_FAILED');
    const listed = [];
    for await (const { digest } of blobs.list()) listed.push(digest);
    expect(listed).toEqual([first.digest]);
    expect(disk.openDescriptors).toBe(0);
    expect(await namesBelow(file('artifacts'))).toEqual([first.digest]);
    await blobs.put(Buffer.from('second'));
  });

  it('in the sync of the folder is told, although the new document is in place', async () => {
    const { storage } = await fileFixture();
    const disk = new ProbeFileSystem();
    const store = storage({ fileSystem: disk });
    await store.documents.write(['doc'], 'old');
    disk.failNext('syncFolder', 'EIO');
    expect(await codeOf(store.documents.write(['doc'], 'new'))).toBe('STORAGE_FAILED');
    expect((await store.documents.read(['doc']))?.value).toBe('new');
  });
});

describe('the syncs before an acknowledgement', () => {
  it('of a first append are: file, and every folder up to the root', async () => {
    const { storage } = await fileFixture();
    const disk = new ProbeFileSystem();
    const store = storage({ fileSystem: disk });
    const journal = await store.openJournal(['a', 'b', 'traces']);
    await journal.append([{ n: 1 }]);
    const synced = disk.calls.filter(({ call }) => /sync/i.test(call));
    expect(synced.map(({ call, name }) => `${call} ${name}`)).toEqual(
      expect.arrayContaining(['syncFolder b', 'syncFolder a', 'datasync traces.jsonl']),
    );
    expect(synced.at(-1)).toMatchObject({ call: 'datasync', name: 'traces.jsonl' });
  });

  it('of later appends are one sync of the file', async () => {
    const { disk, opened } = await withProbe();
    await opened.append([{ n: 2 }]);
    expect(disk.calls.map(({ call }) => call)).toEqual(['write', 'datasync']);
  });

  it('of many concurrent appends are shared', async () => {
    const { disk, opened } = await withProbe();
    await Promise.all(Array.from({ length: 100 }, (_, n) => opened.append([{ n }])));
    expect(disk.calls.filter(({ call }) => call === 'datasync').length).toBeLessThanOrEqual(2);
  });

  it('are none in relaxed mode', async () => {
    const { journal } = await fileFixture();
    const disk = new ProbeFileSystem();
    const opened = await journal({ fileSystem: disk, durability: 'relaxed' });
    await opened.append([{ n: 1 }]);
    disk.calls.length = 0;
    await opened.append([{ n: 2 }]);
    expect(disk.calls.map(({ call }) => call)).toEqual(['write']);
  });

  it('of a document are: its data before the rename, the folder after it', async () => {
    const { storage } = await fileFixture();
    const disk = new ProbeFileSystem();
    const store = storage({ fileSystem: disk });
    await store.documents.write(['a', 'doc'], 1);
    disk.calls.length = 0;
    await store.documents.write(['a', 'doc'], 2);
    const order = ['open:create', 'write', 'datasync', 'close', 'rename', 'syncFolder'];
    expect(disk.calls.map(({ call }) => call)).toEqual(order);
  });

  it('of a cache are none', async () => {
    const { storage } = await fileFixture();
    const disk = new ProbeFileSystem();
    const store = storage({ fileSystem: disk });
    await store.documents.write(['doc'], 1, { durability: 'cache' });
    disk.calls.length = 0;
    await store.documents.write(['doc'], 2, { durability: 'cache' });
    await store.documents.overwriteTail(['doc'], 0, Buffer.from('3'));
    expect(disk.calls.filter(({ call }) => /sync/i.test(call))).toEqual([]);
  });

  it('of an artifact are: its data before the rename, the folders after it', async () => {
    const { storage } = await fileFixture();
    const disk = new ProbeFileSystem();
    const blobs = storage({ fileSystem: disk }).blobs(['artifacts']);
    await blobs.put(Buffer.from('a'));
    const calls = disk.calls.map(({ call }) => call);
    expect(calls.indexOf('datasync')).toBeLessThan(calls.indexOf('rename'));
    expect(calls.lastIndexOf('syncFolder')).toBeGreaterThan(calls.indexOf('rename'));
  });
});

async function namesBelow(folder: string): Promise<string[]> {
  const { readdir } = await import('node:fs/promises');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}
