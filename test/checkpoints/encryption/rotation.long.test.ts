/** A new master key: data keys are wrapped anew, and nothing else changes, also when it is interrupted. */

import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { RekindleError } from '../../../src/core/errors.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import { NodeFileSystem } from '../../../src/storage/file/node-file-system.js';
import { KeyFile } from '../../../src/storage/sealing/key-file.js';
import type { MasterKeys } from '../../../src/storage/sealing/master-keys.js';
import { type SecretPlace, StoredKeys } from '../../../src/storage/sealing/stored-keys.js';
import {
  bytesIn,
  contextOf,
  environmentKeys,
  errorOf,
  K1,
  K2,
  serviceIn,
  sessionFolder,
  temporaryFolder,
} from './encryption-kit.js';

const SESSIONS = ['a', 'b'];

async function fill(root: string, masterKeys: MasterKeys): Promise<void> {
  const service = serviceIn(root, { masterKeys });
  for (const sessionId of SESSIONS)
    for (const step of [1, 2]) await service.save({ sessionId, context: contextOf(step) });
  await service.close();
}

async function assertReadable(root: string, masterKeys: MasterKeys): Promise<void> {
  const service = serviceIn(root, { masterKeys });
  for (const sessionId of SESSIONS)
    for (const step of [1, 2])
      expect((await service.load({ checkpointId: `${sessionId}@${step}` })).context).toEqual(contextOf(step));
  expect((await service.verify()).problems).toEqual([]);
  await service.close();
}

async function storedKeys(file: string): Promise<string[]> {
  return (JSON.parse(await fs.readFile(file, 'utf8')) as { keys: string[] }).keys;
}

async function allButKeys(root: string): Promise<Map<string, string>> {
  return new Map([...(await bytesIn(root))].filter(([name]) => !/keys\.json|access\.json/.test(name)));
}

/** In memory; the write of a chosen turn fails, before or after it took place. */
class FailingPlace implements SecretPlace {
  readonly name = 'a place';
  text: string | null = null;
  writes = 0;
  failAt = 0;
  late = false;

  async read(): Promise<string | null> {
    return this.text;
  }

  async write(text: string): Promise<void> {
    this.writes += 1;
    const fails = this.writes === this.failAt;
    if (!fails || this.late) this.text = text;
    if (fails) throw new RekindleError('KEY_UNAVAILABLE', 'The place cannot be written.');
  }
}

describe('a rotation', () => {
  it('wraps every data key anew, and writes nothing else', async () => {
    const root = await temporaryFolder();
    await fill(root, environmentKeys(K1));
    const before = await allButKeys(root);
    const report = await serviceIn(root, { masterKeys: environmentKeys(K2, K1) }).rotateKeys();
    expect(report).toMatchObject({ sessions: 2, rewrapped: 2, failed: [] });
    expect(await allButKeys(root)).toEqual(before);
    await assertReadable(root, environmentKeys(K2));
    const old = serviceIn(root, { masterKeys: environmentKeys(K1) });
    expect((await errorOf(old.load({ sessionId: 'a' }))).code).toBe('KEY_UNAVAILABLE');
  });

  it('with the same key from the environment changes nothing', async () => {
    const root = await temporaryFolder();
    await fill(root, environmentKeys(K1));
    const before = await bytesIn(root);
    const report = await serviceIn(root, { masterKeys: environmentKeys(K1) }).rotateKeys();
    expect(report).toMatchObject({ sessions: 2, rewrapped: 0, failed: [] });
    expect(await bytesIn(root)).toEqual(before);
  });

  it('without the key before leaves everything as it was, and says so', async () => {
    const root = await temporaryFolder();
    await fill(root, environmentKeys(K1));
    const before = await bytesIn(root);
    const report = await serviceIn(root, { masterKeys: environmentKeys(K2) }).rotateKeys();
    expect(report.failed.map(({ sessionId }) => sessionId)).toEqual(SESSIONS);
    expect(JSON.stringify(report)).not.toContain(K2);
    expect(await bytesIn(root)).toEqual(before);
    await assertReadable(root, environmentKeys(K1));
  });

  it('with a key file makes a new key, and keeps the old one, which other stores may need', async () => {
    const [root, copy] = [await temporaryFolder(), await temporaryFolder()];
    const file = path.join(await temporaryFolder(), 'keys.json');
    const keys = () => new StoredKeys(new KeyFile(file));
    await fill(root, keys());
    await fs.cp(root, copy, { recursive: true });
    const first = await storedKeys(file);
    await serviceIn(root, { masterKeys: keys() }).rotateKeys();
    const stored = await storedKeys(file);
    expect(stored).toHaveLength(2);
    expect(first).not.toContain(stored[0]);
    expect(stored[1]).toBe(first[0]);
    await assertReadable(root, keys());
    await assertReadable(copy, keys());
  });

  it('forgets no old key while a session still needs it', async () => {
    const root = await temporaryFolder();
    const file = path.join(await temporaryFolder(), 'keys.json');
    const masterKeys = new StoredKeys(new KeyFile(file));
    await fill(root, masterKeys);
    const keysOfB = path.join(sessionFolder(root, 'b'), 'keys.json');
    const text = await fs.readFile(keysOfB, 'utf8');
    await fs.writeFile(keysOfB, '{}');
    const report = await serviceIn(root, { masterKeys }).rotateKeys({ forgetOld: true });
    expect(report.failed.map(({ sessionId }) => sessionId)).toEqual(['b']);
    expect(await storedKeys(file)).toHaveLength(2);
    await fs.writeFile(keysOfB, text);
    await assertReadable(root, masterKeys);
  });

  it('with a key file forgets the old one when all is done, where that is asked for', async () => {
    const root = await temporaryFolder();
    const file = path.join(await temporaryFolder(), 'keys.json');
    const keys = () => new StoredKeys(new KeyFile(file));
    await fill(root, keys());
    const first = await storedKeys(file);
    expect(await serviceIn(root, { masterKeys: keys() }).rotateKeys({ forgetOld: true })).toMatchObject({
      rewrapped: 2,
      failed: [],
    });
    const stored = await storedKeys(file);
    expect(stored).toHaveLength(1);
    expect(first).not.toContain(stored[0]);
    expect((await fs.stat(file)).mode & 0o777).toBe(0o600);
    await assertReadable(root, keys());
  });

  it.each([
    [1, false],
    [1, true],
    [2, false],
    [2, true],
  ])(
    'whose write %i of master keys fails (after it took place: %s) is finished by the next',
    async (failAt, late) => {
      const root = await temporaryFolder();
      const place = new FailingPlace();
      const keys = () => new StoredKeys(place);
      await fill(root, keys());
      Object.assign(place, { writes: 0, failAt, late });
      await serviceIn(root, { masterKeys: keys() })
        .rotateKeys({ forgetOld: true })
        .catch(() => {});
      expect(place.writes).toBe(failAt);
      await assertReadable(root, keys());
      const next = serviceIn(root, { masterKeys: keys() });
      expect((await next.rotateKeys({ forgetOld: true })).failed).toEqual([]);
      await assertReadable(root, keys());
      expect((JSON.parse(place.text!) as { keys: string[] }).keys).toHaveLength(1);
    },
  );

  it('whose k-th change of the disk fails leaves everything readable, for every k, and is finished by the next', async () => {
    const root = await temporaryFolder();
    const place = new FailingPlace();
    const keys = () => new StoredKeys(place);
    await fill(root, keys());
    let finished = false;
    for (let failAt = 1; !finished; failAt += 1) {
      const fileSystem = new FailingFiles(failAt);
      const backend = new FileStorage(root, { fileSystem, durability: 'relaxed' });
      const report = await serviceIn(root, { masterKeys: keys(), backend })
        .rotateKeys({ forgetOld: true })
        .catch(() => null);
      finished = report !== null && report.failed.length === 0 && !fileSystem.failed;
      const service = serviceIn(root, { masterKeys: keys() });
      for (const sessionId of SESSIONS)
        expect((await service.load({ sessionId })).context).toEqual(contextOf(2));
      await service.close();
      expect(failAt).toBeLessThan(200);
    }
    await assertReadable(root, keys());
    expect((JSON.parse(place.text!) as { keys: string[] }).keys).toHaveLength(1);
  });
});

/** One rename fails: that is how a document gets its new content. */
class FailingFiles extends NodeFileSystem {
  readonly #failAt: number;
  #count = 0;
  failed = false;

  constructor(failAt: number) {
    super();
    this.#failAt = failAt;
  }

  override async rename(from: string, to: string): Promise<void> {
    if (!to.endsWith('keys.json')) return super.rename(from, to);
    this.#count += 1;
    if (this.#count !== this.#failAt) return super.rename(from, to);
    this.failed = true;
    throw Object.assign(new RangeError('EIO'), { code: 'EIO' });
  }
}
