/** Documents as files: leftovers of a crash, folders of other tools, names on disk, files that others hold open. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../../src/core/json.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import { fileFixture, recordsOf } from './file-fixture.js';
import { ProbeFileSystem } from './probe-file-system.js';

describe('a temporary file that a crash left', () => {
  it('is never listed, read or taken for a document', async () => {
    const { storage, put } = await fileFixture();
    const store = storage();
    await store.documents.write(['doc'], 1);
    await put('.tmp-12345-0123456789ab', '{"half":');
    expect(await store.documents.list([])).toEqual(['doc']);
    expect(await store.listNames([])).toEqual(['doc']);
    expect(await store.documents.read(['.tmp-12345-0123456789ab'])).toBeNull();
  });

  it('is taken away by a sweep of its folder, and counted', async () => {
    const { storage, put, names } = await fileFixture();
    const store = storage();
    await store.documents.write(['doc'], 1);
    await put('.tmp-12345-0123456789ab', '{"half":');
    await put('.tmp-12345-ba9876543210', '');
    expect(await store.sweep([])).toBe(2);
    expect(await names()).toEqual(['doc']);
  });

  it('of an artifact is never listed', async () => {
    const { storage, file } = await fileFixture();
    const blobs = storage().blobs(['artifacts']);
    const { digest } = await blobs.put(Buffer.from('a'));
    await fs.writeFile(path.join(file('artifacts'), digest.slice(0, 2), '.tmp-1-0123456789ab'), 'half');
    const listed = [];
    for await (const info of blobs.list()) listed.push(info.digest);
    expect(listed).toEqual([digest]);
  });

  it('of a lease is swept by the next owner', async () => {
    const { storage, file } = await fileFixture();
    const first = await storage().leases.acquire(['agent']);
    await fs.writeFile(path.join(file('agent'), 'lease', '.tmp-1-0123456789ab'), 'half');
    await first.release();
    const second = await storage().leases.acquire(['agent']);
    expect(
      (await fs.readdir(path.join(file('agent'), 'lease'))).filter((name) => name.startsWith('.')),
    ).toEqual([]);
    await second.check();
  });
});

describe('a folder of another tool', () => {
  it('under its plain mixed-case name is found, read and continued', async () => {
    const { storage, file } = await fileFixture();
    await fs.mkdir(file('agents/Support-Bot'), { recursive: true });
    await fs.writeFile(file('agents/Support-Bot/raw_traces.jsonl'), '{"trace_type":"user"}\n');
    const store = storage();
    expect(await store.listNames(['agents'])).toEqual(['Support-Bot']);
    const journal = await store.openJournal<JsonObject>(['agents', 'Support-Bot', 'raw_traces']);
    await journal.append([{ n: 2 }]);
    expect(await recordsOf(journal)).toEqual([{ trace_type: 'user' }, { n: 2 }]);
    expect(await fs.readdir(file('agents'))).toEqual(['Support-Bot']);
  });

  it.each(['Software Engineer_Developer_4771', 'desk@host+1', 'Jürgen', '助手-7', 'a,b;c!'])(
    'whose name is %j is found, read and continued',
    async (id) => {
      const { storage, file } = await fileFixture();
      await fs.mkdir(file(`agents/${id}`), { recursive: true });
      await fs.writeFile(file(`agents/${id}/raw_traces.jsonl`), '{"trace_type":"user"}\n');
      const store = storage();
      expect(await store.listNames(['agents'])).toEqual([id]);
      const journal = await store.openJournal<JsonObject>(['agents', id, 'raw_traces']);
      await journal.append([{ n: 2 }]);
      expect(await recordsOf(journal)).toEqual([{ trace_type: 'user' }, { n: 2 }]);
      expect(await fs.readdir(file('agents'))).toEqual([id]);
    },
  );

  it('whose name is hidden, or is a broken encoding, is none of ours', async () => {
    const { storage, file } = await fileFixture();
    for (const name of ['.git', '%2e%2e', '%zz%41', 'x%2F'])
      await fs.mkdir(file(`agents/${name}`), { recursive: true });
    expect(await storage().listNames(['agents'])).toEqual([]);
  });

  it('does not take the place of one in our own encoding', async () => {
    const { storage, file } = await fileFixture();
    await fs.mkdir(file('agents/%42ot'), { recursive: true });
    await fs.mkdir(file('agents/Bot'), { recursive: true });
    await storage().documents.write(['agents', 'Bot', 'doc'], 'ours');
    expect(await fs.readdir(file('agents/%42ot'))).toEqual(['doc']);
    expect(await fs.readdir(file('agents/Bot'))).toEqual([]);
  });

  it('is not found under another letter case', async () => {
    const { storage, file } = await fileFixture();
    await fs.mkdir(file('agents/Bot'), { recursive: true });
    await fs.writeFile(file('agents/Bot/doc'), '"theirs"');
    const store = storage();
    expect((await store.documents.read(['agents', 'Bot', 'doc']))?.value).toBe('theirs');
    expect(await store.documents.read(['agents', 'bot', 'doc'])).toBeNull();
    expect(await store.documents.read(['agents', 'BOT', 'doc'])).toBeNull();
  });

  it('is refused when the mixed-case name is a link', async () => {
    const { storage, file, root } = await fileFixture();
    await fs.mkdir(file('agents'));
    await fs.symlink(root, file('agents/Bot'));
    await expect(storage().documents.read(['agents', 'Bot', 'doc'])).rejects.toMatchObject({
      code: 'PATH_REFUSED',
    });
  });
});

describe('documents on disk', () => {
  it('are readable text that ends with a newline', async () => {
    const { storage, text } = await fileFixture();
    await storage().documents.write(['state.json'], { a: [1, 2] });
    expect(await text('state.json')).toBe('{\n  "a": [\n    1,\n    2\n  ]\n}\n');
  });

  it('that a person edits are read as they are, with another version', async () => {
    const { storage, put } = await fileFixture();
    const { documents } = storage();
    const { version } = await documents.write(['state.json'], { a: 1 });
    await put('state.json', '{"a":2}');
    const read = await documents.read(['state.json']);
    expect(read?.value).toEqual({ a: 2 });
    expect(read?.version).not.toBe(version);
  });

  it('that are damaged are refused, kept, and can be set aside', async () => {
    const { storage, put, names } = await fileFixture();
    const { documents } = storage();
    await put('state.json', '{"a":');
    await expect(documents.read(['state.json'])).rejects.toMatchObject({ code: 'DOCUMENT_DAMAGED' });
    const aside = await documents.setAside(['state.json'], 'damaged');
    expect(aside).toMatch(/^state\.json\.damaged-[0-9a-f]{8}$/);
    expect(await names()).toEqual([aside]);
    expect(Buffer.from((await documents.readBytes([aside!]))!).toString()).toBe('{"a":');
  });

  it('never leave the root, whatever the name', async () => {
    const { root: parent } = await fileFixture(); // of its own: other processes make folders beside it
    const root = path.join(parent, 'root');
    const { documents } = new FileStorage(root);
    for (const name of ['..', '../x', '/etc/passwd', 'a/../../x', '..\\x', '%2e%2e']) {
      await documents.write([name], 1).catch(() => {});
      await documents.write([name, 'x'], 1).catch(() => {});
    }
    expect(await fs.readdir(parent)).toEqual(['root']);
    expect(await fs.readdir(root)).toEqual(['%252e%252e']);
  });
});

describe.each(['EPERM', 'EACCES', 'EBUSY'])('a document that another program holds open (%s)', (errno) => {
  function seemToBeOnWindows(): void {
    const real = Object.getOwnPropertyDescriptor(process, 'platform')!;
    Object.defineProperty(process, 'platform', { ...real, value: 'win32' });
    onTestFinished(() => void Object.defineProperty(process, 'platform', real));
  }

  /** A document `{ a: 1 }` on a disk whose first renames from now on fail. `tries` counts the renames. */
  async function held(failures: number) {
    const fixture = await fileFixture();
    const disk = new ProbeFileSystem();
    const { documents } = fixture.storage({ fileSystem: disk });
    const { version } = await documents.write(['state.json'], { a: 1 });
    let tries = 0;
    disk.verdict = ({ call }) => (call === 'rename' && ++tries <= failures ? errno : null);
    return { ...fixture, documents, version, tries: () => tries };
  }

  it.each([false, true])(
    'on Windows is replaced whole once it is let go, with a version to compare: %s',
    async (isCompared) => {
      seemToBeOnWindows();
      const { documents, version, names, text, tries } = await held(2);
      await documents.write(['state.json'], { a: [1, 2] }, isCompared ? { ifVersion: version } : {});
      expect(tries()).toBe(3);
      expect(await text('state.json')).toBe('{\n  "a": [\n    1,\n    2\n  ]\n}\n');
      expect(await names()).toEqual(['state.json']);
    },
  );

  it.each([false, true])(
    'on Windows and is never let go keeps its old value, with a version to compare: %s',
    async (isCompared) => {
      seemToBeOnWindows();
      const { documents, version, names, text, tries } = await held(Number.POSITIVE_INFINITY);
      await expect(
        documents.write(['state.json'], { a: 2 }, isCompared ? { ifVersion: version } : {}),
      ).rejects.toMatchObject({ code: 'STORAGE_FAILED', details: { errno } });
      expect(tries()).toBe(8);
      expect(await text('state.json')).toBe('{\n  "a": 1\n}\n');
      expect(await names()).toEqual(['state.json']);
    },
  );

  it.skipIf(process.platform === 'win32')('on another system is not tried again', async () => {
    const { documents, names, text, tries } = await held(1);
    await expect(documents.write(['state.json'], { a: 2 })).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
    expect(tries()).toBe(1);
    expect(await text('state.json')).toBe('{\n  "a": 1\n}\n');
    expect(await names()).toEqual(['state.json']);
  });
});

describe('an artifact', () => {
  it('whose bytes do not match its digest is refused with BLOB_DAMAGED, and kept', async () => {
    const { storage, file } = await fileFixture();
    const blobs = storage().blobs(['artifacts']);
    const { digest } = await blobs.put(Buffer.from('good'));
    const place = path.join(file('artifacts'), digest.slice(0, 2), digest);
    await fs.writeFile(place, 'evil');
    await expect(blobs.get(digest)).rejects.toMatchObject({ code: 'BLOB_DAMAGED', details: { digest } });
    expect(await fs.readFile(place, 'utf8')).toBe('evil');
  });

  it('that is stored again where damaged bytes have its name is whole afterwards, and the damaged ones are kept', async () => {
    const { storage, file } = await fileFixture();
    const blobs = storage().blobs(['artifacts']);
    const { digest } = await blobs.put(Buffer.from('good'));
    const folder = path.join(file('artifacts'), digest.slice(0, 2));
    await fs.writeFile(path.join(folder, digest), 'go');
    await blobs.put(Buffer.from('good'));
    expect(Buffer.from((await blobs.get(digest))!).toString()).toBe('good');
    const kept = (await fs.readdir(folder)).filter((name) => name.startsWith(`${digest}.damaged-`));
    expect(await Promise.all(kept.map((name) => fs.readFile(path.join(folder, name), 'utf8')))).toEqual([
      'go',
    ]);
  });

  it('is not acknowledged where a link has its name', async () => {
    const { storage, file } = await fileFixture();
    const blobs = storage().blobs(['artifacts']);
    const { digest } = await blobs.put(Buffer.from('good'));
    const place = path.join(file('artifacts'), digest.slice(0, 2), digest);
    await fs.rename(place, `${place}.elsewhere`);
    await fs.symlink(`${place}.elsewhere`, place);
    await expect(blobs.put(Buffer.from('good'))).rejects.toMatchObject({ code: 'PATH_REFUSED' });
  });
});
