import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LocalObjects } from '../../../src/storage/objects/index.js';
import { tempFolder } from '../file/file-fixture.js';
import { namesOf, objectsContract } from './objects-contract.js';

async function open(folder?: string): Promise<LocalObjects> {
  const objects = new LocalObjects(folder ?? path.join(await tempFolder(), 'objects'));
  onTestFinished(() => objects.close());
  return objects;
}

objectsContract(open);

describe('LocalObjects', () => {
  it('keeps objects for the next process', async () => {
    const folder = await tempFolder();
    await (await open(folder)).put(['a', 'b'], Buffer.from('kept'));
    expect(Buffer.from((await (await open(folder)).get(['a', 'b']))!).toString()).toBe('kept');
  });

  it('makes nothing before the first put', async () => {
    const folder = path.join(await tempFolder(), 'deep', 'objects');
    const objects = await open(folder);
    expect(await objects.get(['a'])).toBeNull();
    expect(await namesOf(objects, [])).toEqual([]);
    await expect(fs.stat(folder)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('leaves unfinished and foreign files out of its lists', async () => {
    const folder = await tempFolder();
    const objects = await open(folder);
    await objects.put(['a'], Buffer.from('a'));
    await fs.writeFile(path.join(folder, '.tmp-1-0'), 'unfinished');
    await fs.writeFile(path.join(folder, 'README.md'), 'foreign');
    expect(await namesOf(objects, [])).toEqual([['a']]);
  });

  it('refuses links with PATH_REFUSED', async () => {
    const folder = await tempFolder();
    const objects = await open(folder);
    await objects.put(['a'], Buffer.from('a'));
    await fs.symlink(path.join(folder, 'a'), path.join(folder, 'b'));
    await expect(objects.get(['b'])).rejects.toMatchObject({ code: 'PATH_REFUSED' });
    await expect(namesOf(objects, [])).rejects.toMatchObject({ code: 'PATH_REFUSED' });
  });
});
