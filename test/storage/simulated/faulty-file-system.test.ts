import { describe, expect, it } from 'vitest';
import type { FileSystem } from '../../../src/storage/file-system.js';
import { FaultyFileSystem } from '../../../src/storage/simulated/faulty-file-system.js';
import { contents, create, newDisk, readText } from './disk-workload.js';

/** Makes a file durably: open, write, datasync, close, rename, syncFolder. */
async function save(fs: FileSystem): Promise<void> {
  await create(fs, '/d/tmp', 'abcd', true);
  await fs.rename('/d/tmp', '/d/a');
  await fs.syncFolder('/d');
}

describe('the fault wrapper', () => {
  it('passes everything through and counts it while there is no fault', async () => {
    const faulty = new FaultyFileSystem(newDisk());
    await save(faulty);
    expect(await readText(faulty, '/d/a')).toBe('abcd');
    expect(faulty.calls).toBe(6 + 5);
    expect(faulty.injected).toBe(0);
  });

  it('fails the k-th call once with the given code, for each k, and no file stays open', async () => {
    for (let at = 1; at <= 6; at++) {
      const faulty = new FaultyFileSystem(newDisk(), { at, kind: 'ENOSPC' });
      await expect(save(faulty)).rejects.toMatchObject({ code: 'ENOSPC' });
      expect(faulty.injected).toBe(1);
    }
    const faulty = new FaultyFileSystem(newDisk(), { at: 7, kind: 'ENOSPC' });
    await save(faulty);
    expect(faulty.injected).toBe(0);
    expect(faulty.openFiles()).toEqual([]);
  });

  it('knows a file that was left open', async () => {
    const faulty = new FaultyFileSystem(newDisk(), { at: 2, kind: 'EIO' });
    await expect(save(faulty)).rejects.toMatchObject({ code: 'EIO' });
    expect(faulty.openFiles()).toEqual(['/d/tmp']);
  });

  it('fails every call from the k-th on when sticky, and can be mended', async () => {
    const faulty = new FaultyFileSystem(newDisk(), { at: 1, kind: 'EIO', sticky: true });
    for (let i = 0; i < 3; i++) await expect(faulty.list('/d')).rejects.toMatchObject({ code: 'EIO' });
    faulty.setFault(null);
    expect(await faulty.list('/d')).toEqual([]);
  });

  it('counts only the calls that are meant', async () => {
    const fault = { at: 1, kind: 'EACCES', only: (call: string) => call === 'rename' } as const;
    const faulty = new FaultyFileSystem(newDisk(), fault);
    await expect(save(faulty)).rejects.toMatchObject({ code: 'EACCES', path: '/d/a' });
    expect(await readText(faulty, '/d/tmp')).toBe('abcd');
  });

  it('writes short without an error, and half before a full disk', async () => {
    const disk = newDisk();
    const faulty = new FaultyFileSystem(disk, { at: 2, kind: 'short' });
    const file = await faulty.open('/d/a', 'create');
    expect(await file.write(Buffer.from('abcdef'), 0)).toBe(3);
    faulty.setFault({ at: 1, kind: 'ENOSPC', effect: 'half' });
    await expect(file.write(Buffer.from('defg'), 3)).rejects.toMatchObject({ code: 'ENOSPC' });
    expect(await readText(disk, '/d/a')).toBe('abcde');
  });

  it('may report as failed what was done all the same', async () => {
    const disk = newDisk();
    await create(disk, '/d/a', 'A', true);
    const faulty = new FaultyFileSystem(disk, { at: 1, kind: 'EIO', effect: 'all' });
    await expect(faulty.rename('/d/a', '/d/b')).rejects.toMatchObject({ code: 'EIO' });
    expect(await disk.list('/d')).toEqual(['b']);
    faulty.setFault({ at: 1, kind: 'EIO', effect: 'all' });
    await expect(faulty.open('/d/b', 'read')).rejects.toMatchObject({ code: 'EIO' });
    expect(disk.openFiles()).toEqual([]);
  });

  it('can leave the names of a failed folder sync as lost for every later one', async () => {
    for (const forgetsNames of [true, false]) {
      const disk = newDisk();
      const only = (call: string) => call === 'syncFolder';
      const faulty = new FaultyFileSystem(disk, { at: 1, kind: 'EIO', only, forgetsNames });
      await create(faulty, '/d/a', 'A', true);
      await expect(faulty.syncFolder('/d')).rejects.toMatchObject({ code: 'EIO' });
      await faulty.syncFolder('/d');
      expect(await contents(disk, '/d/a')).toEqual(forgetsNames ? [null, 'A'] : ['A']);
    }
  });

  it('closes the file below also when closing reports an error', async () => {
    const disk = newDisk();
    const faulty = new FaultyFileSystem(disk, { at: 1, kind: 'EIO', only: (call) => call === 'file.close' });
    const file = await faulty.open('/d/a', 'create');
    await expect(file.close()).rejects.toMatchObject({ code: 'EIO' });
    expect([...faulty.openFiles(), ...disk.openFiles()]).toEqual([]);
  });
});
