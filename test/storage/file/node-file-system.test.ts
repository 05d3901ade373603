/** The calls to the system: what fails there is told. */
import fs from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { NodeFileSystem } from '../../../src/storage/file/node-file-system.js';
import { tempFolder } from './file-fixture.js';

afterEach(() => vi.restoreAllMocks());

/** Fails as a disk does that went away. */
function broken(_fd: number, done: (error: NodeJS.ErrnoException) => void): void {
  done(Object.assign(new Error('planted'), { code: 'EIO' }));
}

describe('a sync that fails', () => {
  it('of a folder is told, and the descriptor is closed', async () => {
    const folder = await tempFolder();
    vi.spyOn(fs, 'fsync').mockImplementation(broken);
    const close = vi.spyOn(fs, 'close');
    await expect(new NodeFileSystem().syncFolder(folder)).rejects.toMatchObject({ code: 'EIO' });
    expect(close).toHaveBeenCalledTimes(1);
  });

  it('of a file is told', async () => {
    const folder = await tempFolder();
    const file = await new NodeFileSystem().open(`${folder}/file`, 'create');
    vi.spyOn(fs, 'fdatasync').mockImplementation(broken);
    await expect(file.datasync()).rejects.toMatchObject({ code: 'EIO' });
    await file.close();
  });
});
