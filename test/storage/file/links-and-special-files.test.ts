/** Links and special files that someone put where a store keeps its files. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { isRekindleError } from '../../../src/core/errors.js';
import type { JsonObject } from '../../../src/core/json.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import { fileFixture, recordsOf, tempFolder } from './file-fixture.js';

const BYTES = Buffer.from('x');
const DIGEST = '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881'; // of BYTES

/** What a caller can do under the agent `one`, each with the file or folder that it uses. */
const USES: readonly [string, string, (store: StorageBackend) => Promise<unknown>][] = [
  ['opening a journal', 'agents/one/traces.jsonl', (store) => open(store)],
  ['reading a journal', 'agents/one/traces.jsonl', (store) => open(store, true)],
  ['reading a sealed segment', 'agents/one/traces.000001.jsonl', (store) => open(store, true)],
  ['reading a document', 'agents/one/doc', (store) => store.documents.read(['agents', 'one', 'doc'])],
  ['writing a document', 'agents/one/doc', (store) => store.documents.write(['agents', 'one', 'doc'], 1)],
  [
    'overwriting a tail',
    'agents/one/doc',
    (store) => store.documents.overwriteTail(['agents', 'one', 'doc'], 0, BYTES),
  ],
  [
    'reading an artifact',
    `agents/one/artifacts/${DIGEST.slice(0, 2)}/${DIGEST}`,
    (store) => store.blobs(['agents', 'one', 'artifacts']).get(DIGEST),
  ],
];

/** Folders on the way, with a use of each. */
const FOLDERS: readonly [string, (store: StorageBackend) => Promise<unknown>][] = [
  ['agents', (store) => open(store)],
  ['agents/one', (store) => open(store)],
  ['agents/one', (store) => store.documents.write(['agents', 'one', 'doc'], 1)],
  ['agents/one', (store) => store.documents.read(['agents', 'one', 'doc'])],
  ['agents/one', (store) => store.leases.acquire(['agents', 'one'])],
  ['agents/one/lease', (store) => store.leases.acquire(['agents', 'one'])],
  ['agents/one/artifacts', (store) => store.blobs(['agents', 'one', 'artifacts']).put(BYTES)],
  [
    `agents/one/artifacts/${DIGEST.slice(0, 2)}`,
    (store) => store.blobs(['agents', 'one', 'artifacts']).put(BYTES),
  ],
];

function open(store: StorageBackend, readOnly = false) {
  return store.openJournal<JsonObject>(['agents', 'one', 'traces'], { readOnly });
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  const thrown = await promise.then(
    () => 'nothing was thrown',
    (error: unknown) => error,
  );
  return isRekindleError(thrown) ? thrown.code : String(thrown);
}

/** A store with a place for an intruder, and a victim outside of it. */
async function withVictim(place: string) {
  const fixture = await fileFixture();
  const outside = await tempFolder();
  const victim = path.join(outside, 'victim');
  await fs.writeFile(victim, '{"secret":true}\n');
  await fs.mkdir(path.dirname(fixture.file(place)), { recursive: true });
  return { ...fixture, outside, victim, intruder: fixture.file(place) };
}

describe('a symbolic link in the place of a file', () => {
  for (const [use, place, act] of USES) {
    it(`is refused when ${use}, and its target is not touched`, async () => {
      const { storage, victim, intruder } = await withVictim(place);
      await fs.symlink(victim, intruder);
      expect(await codeOf(act(storage()))).toBe('PATH_REFUSED');
      expect(await fs.readFile(victim, 'utf8')).toBe('{"secret":true}\n');
      expect((await fs.lstat(intruder)).isSymbolicLink()).toBe(true);
    });

    it(`is refused when ${use} although it leads nowhere, and its target is not made`, async () => {
      const { storage, outside, intruder } = await withVictim(place);
      await fs.symlink(path.join(outside, 'absent'), intruder);
      expect(await codeOf(act(storage()))).toBe('PATH_REFUSED');
      expect(await fs.readdir(outside)).toEqual(['victim']);
    });

    it(`is refused when ${use} although it leads to itself`, async () => {
      const { storage, intruder } = await withVictim(place);
      await fs.symlink(intruder, intruder);
      expect(await codeOf(act(storage()))).toBe('PATH_REFUSED');
    });
  }
});

describe('a symbolic link in the place of a folder', () => {
  for (const [index, [place, act]] of FOLDERS.entries()) {
    it(`is refused, and nothing appears behind it: ${place} (${index})`, async () => {
      const { storage, outside, intruder } = await withVictim(place);
      const target = path.join(outside, 'target');
      await fs.mkdir(target);
      await fs.symlink(target, intruder);
      expect(await codeOf(act(storage()))).toBe('PATH_REFUSED');
      expect(await fs.readdir(target)).toEqual([]);
    });
  }

  it('is refused for a file in the place of a folder too', async () => {
    const { storage, put } = await fileFixture();
    await put('agents', 'a file');
    expect(await codeOf(open(storage()))).toBe('PATH_REFUSED');
    expect(await codeOf(storage().documents.write(['agents', 'doc'], 1))).toBe('PATH_REFUSED');
  });
});

describe('a link to the root', () => {
  it('is allowed: a person may keep the store elsewhere', async () => {
    const { root, storage } = await fileFixture();
    const other = await tempFolder();
    const link = path.join(other, 'link');
    await fs.symlink(root, link);
    const { FileStorage } = await import('../../../src/storage/file/file-storage.js');
    const journal = await open(new FileStorage(link));
    await journal.append([{ n: 1 }]);
    await journal.close();
    expect(await recordsOf(await open(storage(), true))).toEqual([{ n: 1 }]);
  });

  it('is allowed where folders of the root are yet to be made', async () => {
    const { root } = await fileFixture();
    const other = await tempFolder();
    await fs.symlink(root, path.join(other, 'link'));
    const { FileStorage } = await import('../../../src/storage/file/file-storage.js');
    const store = new FileStorage(path.join(other, 'link', 'new', 'memory'));
    await store.documents.write(['doc'], 1);
    expect((await fs.stat(path.join(root, 'new', 'memory', 'doc'))).isFile()).toBe(true);
  });
});

describe('a special file', () => {
  for (const [use, place, act] of USES) {
    it(`is refused when ${use}: a pipe, without waiting for its other end`, { timeout: 2_000 }, async () => {
      const { storage, intruder } = await withVictim(place);
      execFileSync('mkfifo', [intruder]);
      expect(await codeOf(act(storage()))).toBe('PATH_REFUSED');
    });

    it(`is refused when ${use}: a folder`, async () => {
      const { storage, intruder } = await withVictim(place);
      await fs.mkdir(intruder);
      expect(await codeOf(act(storage()))).toBe('PATH_REFUSED');
      expect((await fs.stat(intruder)).isDirectory()).toBe(true);
    });
  }
});

describe('a planted temporary name', () => {
  it('cannot be guessed: the temporary file is new, or the write fails', async () => {
    const { storage, root } = await fileFixture();
    const seen = new Set<string>();
    const { NodeFileSystem } = await import('../../../src/storage/file/node-file-system.js');
    const disk = new NodeFileSystem();
    const opening = disk.open.bind(disk);
    disk.open = async (file, mode) => {
      if (mode === 'create') seen.add(path.basename(file));
      return opening(file, mode);
    };
    const store = storage({ fileSystem: disk });
    for (let n = 0; n < 50; n += 1) await store.documents.write(['doc'], n);
    expect(seen.size).toBe(50);
    expect([...seen].every((name) => /^\.tmp-\d+-[0-9a-f]{12}$/.test(name))).toBe(true);
    expect(await fs.readdir(root)).toEqual(['doc']);
  });
});
