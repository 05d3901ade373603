import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../src/core/clock.js';
import { SimulatedDisk } from '../../../src/storage/simulated/simulated-disk.js';
import { append, create, newDisk, readText } from './disk-workload.js';

describe('the simulated disk as a file system', () => {
  it('reads what was written, with holes as zeros and nothing beyond the end', async () => {
    const disk = newDisk();
    const file = await disk.open('/d/a', 'create');
    expect(await file.write(Buffer.from('xyz'), 2)).toBe(3);
    const target = new Uint8Array(10);
    expect(await file.read(target, 1)).toBe(4);
    expect([...target.subarray(0, 4)]).toEqual([0, 120, 121, 122]);
    expect(await file.read(target, 5)).toBe(0);
    expect(await file.sizeBytes()).toBe(5);
  });

  it('grows with zeros when truncated to more, also over bytes that an earlier truncate cut', async () => {
    const disk = newDisk();
    await create(disk, '/d/a', 'abcdef', false);
    const file = await disk.open('/d/a', 'update');
    await file.truncate(2);
    await file.truncate(4);
    expect(await readText(disk, '/d/a')).toBe('ab\0\0');
  });

  it('keeps the bytes of a write although the caller reuses its buffer', async () => {
    const disk = newDisk();
    const file = await disk.open('/d/a', 'create');
    const buffer = Buffer.from('one');
    await file.write(buffer, 0);
    buffer.fill('x');
    expect(await readText(disk, '/d/a')).toBe('one');
    expect(await readText(disk.powerCut('everything'), '/d/a')).toBe('one');
  });

  it.each([
    ['open for reading', 'ENOENT', (d: SimulatedDisk) => d.open('/d/none', 'read')],
    ['open for writing', 'ENOENT', (d: SimulatedDisk) => d.open('/d/none', 'update')],
    ['open a folder', 'EISDIR', (d: SimulatedDisk) => d.open('/d', 'read')],
    ['create a taken name', 'EEXIST', (d: SimulatedDisk) => d.open('/d/a', 'create')],
    ['create in no folder', 'ENOENT', (d: SimulatedDisk) => d.open('/none/a', 'create')],
    ['create below a file', 'ENOTDIR', (d: SimulatedDisk) => d.open('/d/a/b', 'create')],
    ['make a folder over a taken name', 'EEXIST', (d: SimulatedDisk) => d.makeFolder('/d/a')],
    ['link over a taken name', 'EEXIST', (d: SimulatedDisk) => d.link('/d/b', '/d/a')],
    ['link nothing', 'ENOENT', (d: SimulatedDisk) => d.link('/d/none', '/d/c')],
    ['rename nothing', 'ENOENT', (d: SimulatedDisk) => d.rename('/d/none', '/d/c')],
    ['rename a file over a folder', 'EISDIR', (d: SimulatedDisk) => d.rename('/d/a', '/d/sub')],
    ['rename a folder over a file', 'ENOTDIR', (d: SimulatedDisk) => d.rename('/d/sub', '/d/a')],
    ['unlink nothing', 'ENOENT', (d: SimulatedDisk) => d.unlink('/d/none')],
    ['unlink a folder', 'EISDIR', (d: SimulatedDisk) => d.unlink('/d/sub')],
    ['list nothing', 'ENOENT', (d: SimulatedDisk) => d.list('/none')],
    ['list a file', 'ENOTDIR', (d: SimulatedDisk) => d.list('/d/a')],
    ['sync no folder', 'ENOENT', (d: SimulatedDisk) => d.syncFolder('/none')],
    ['touch nothing', 'ENOENT', (d: SimulatedDisk) => d.touch('/d/none', 1)],
  ])('refuses to %s with %s and changes nothing', async (_, code, act) => {
    const disk = newDisk();
    await create(disk, '/d/a', 'A', false);
    await create(disk, '/d/b', 'B', false);
    await disk.makeFolder('/d/sub');
    const before = disk.point;
    await expect(act(disk)).rejects.toMatchObject({ code });
    expect(disk.point).toBe(before);
    expect((await disk.list('/d')).sort()).toEqual(['a', 'b', 'sub']);
  });

  it('refuses to write through a handle for reading, and anything through a closed one', async () => {
    const disk = newDisk();
    await create(disk, '/d/a', 'A', false);
    const file = await disk.open('/d/a', 'read');
    await expect(file.write(Buffer.from('x'), 0)).rejects.toMatchObject({ code: 'EBADF' });
    await expect(file.truncate(0)).rejects.toMatchObject({ code: 'EBADF' });
    expect(disk.openFiles()).toEqual(['/d/a']);
    await file.close();
    await expect(file.sizeBytes()).rejects.toMatchObject({ code: 'EBADF' });
    await expect(file.close()).rejects.toMatchObject({ code: 'EBADF' });
    expect(disk.openFiles()).toEqual([]);
  });

  it('goes on reading and writing an open file whose name was removed or replaced', async () => {
    const disk = newDisk();
    await create(disk, '/d/a', 'old', false);
    await create(disk, '/d/b', 'new', false);
    const file = await disk.open('/d/a', 'update');
    await disk.rename('/d/b', '/d/a');
    await file.write(Buffer.from('OLD'), 0);
    const target = new Uint8Array(3);
    await file.read(target, 0);
    expect(Buffer.from(target).toString()).toBe('OLD');
    expect(await readText(disk, '/d/a')).toBe('new');
  });

  it('shows one file under both names of a link, and a rename between them changes nothing', async () => {
    const disk = newDisk();
    await create(disk, '/d/a', 'A', false);
    await disk.link('/d/a', '/d/b');
    await append(disk, '/d/b', 'B', false);
    expect(await readText(disk, '/d/a')).toBe('AB');
    await disk.rename('/d/a', '/d/b');
    expect((await disk.list('/d')).sort()).toEqual(['a', 'b']);
  });

  it('states kind, size, time and mode, and null for what is not there', async () => {
    const clock = new ManualClock(5_000);
    const disk = new SimulatedDisk({ clock, folders: ['/d/e'] });
    await create(disk, '/d/a', 'abc', false);
    expect(await disk.stat('/d/a')).toEqual({
      kind: 'file',
      sizeBytes: 3,
      modifiedMs: 5_000,
      changedMs: 5_000,
      inode: expect.any(Number),
      mode: 0o600,
      links: 1,
      ownerId: 0,
    });
    await disk.touch('/d/a', 9_000);
    expect((await disk.stat('/d/a'))?.modifiedMs).toBe(9_000);
    expect((await disk.stat('/d/e'))?.kind).toBe('folder');
    expect(await disk.stat('/d/none')).toBeNull();
    expect(await disk.stat('/d/a/x')).toBeNull();
  });
});
