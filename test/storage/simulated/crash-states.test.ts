import { describe, expect, it } from 'vitest';
import type { SimulatedDisk } from '../../../src/storage/simulated/simulated-disk.js';
import { append, contents, create, newDisk, readText } from './disk-workload.js';

/** A disk that durably holds `/d/a` with this text. */
async function holding(text: string): Promise<SimulatedDisk> {
  const disk = newDisk();
  await create(disk, '/d/a', text, true);
  await disk.syncFolder('/d');
  return disk.powerCut();
}

describe('what a power cut leaves of data', () => {
  it('can lose everything of an append without sync', async () => {
    const disk = await holding('old\n');
    await append(disk, '/d/a', 'new\n', false);
    expect(await contents(disk, '/d/a')).toContain('old\n');
    expect(await contents(disk, '/d/a')).toContain('old\nnew\n');
  });

  it('loses nothing of an append with sync', async () => {
    const disk = await holding('old\n');
    await append(disk, '/d/a', 'new\n', true);
    expect(await contents(disk, '/d/a')).toEqual(['old\nnew\n']);
  });

  it('loses nothing of a new file whose data and name were synced, and the name alone without the latter', async () => {
    const disk = newDisk();
    await create(disk, '/d/a', 'text', true);
    expect(await contents(disk, '/d/a')).toEqual([null, 'text']);
    await disk.syncFolder('/d');
    expect(await contents(disk, '/d/a')).toEqual(['text']);
  });

  it('tears the last write at 1 byte, at half, at all but one, with and without zeros to its end', async () => {
    const disk = await holding('.');
    await append(disk, '/d/a', 'abcdef', false);
    const found = await contents(disk, '/d/a');
    for (const part of ['', 'a', 'abc', 'abcde']) {
      expect(found).toContain(`.${part}`);
      expect(found).toContain(`.${part.padEnd(6, '\0')}`);
    }
  });

  it('tears a long write at the sectors of the file, and may keep its end without its head', async () => {
    const disk = await holding('#'.repeat(500));
    await append(disk, '/d/a', 'x'.repeat(1000), false);
    const found = await contents(disk, '/d/a');
    expect(found).toContain('#'.repeat(500) + 'x'.repeat(12));
    expect(found).toContain('#'.repeat(500) + 'x'.repeat(524));
    expect(found).toContain('#'.repeat(500) + '\0'.repeat(12) + 'x'.repeat(988));
    const ordered = await contents(disk, '/d/a', { weak: false });
    expect(ordered).not.toContain('#'.repeat(500) + '\0'.repeat(12) + 'x'.repeat(988));
  });

  it('keeps the old end of a torn overwrite', async () => {
    const disk = await holding('abcdef');
    const file = await disk.open('/d/a', 'update');
    await file.write(Buffer.from('ABCD'), 0);
    expect((await contents(disk, '/d/a')).sort()).toEqual(['ABCDef', 'ABCdef', 'ABcdef', 'Abcdef', 'abcdef']);
  });

  it('keeps any prefix of several writes, and in weak mode also later ones without an earlier one', async () => {
    const disk = await holding('');
    await append(disk, '/d/a', 'one\n', false);
    await append(disk, '/d/a', 'two\n', false);
    await append(disk, '/d/a', 'six\n', false);
    const ordered = await contents(disk, '/d/a', { weak: false });
    for (const text of ['', 'one\n', 'one\ntwo\n', 'one\ntwo\nsix\n']) expect(ordered).toContain(text);
    expect(ordered).not.toContain('one\n\0\0\0\0six\n');
    expect(await contents(disk, '/d/a')).toContain('one\n\0\0\0\0six\n');
  });

  it('may keep or lose a truncate, also against the write after it', async () => {
    const disk = await holding('good\ntorn');
    const file = await disk.open('/d/a', 'update');
    await file.truncate(5);
    await file.write(Buffer.from('n\n'), 5);
    const found = await contents(disk, '/d/a');
    for (const text of ['good\ntorn', 'good\n', 'good\nn\n', 'good\nn\nrn']) expect(found).toContain(text);
    await file.datasync();
    expect(await contents(disk, '/d/a')).toEqual(['good\nn\n']);
  });

  it('does not count a write as synced that was still under way when the sync was called', async () => {
    const disk = await holding('');
    const file = await disk.open('/d/a', 'update');
    await Promise.all([file.write(Buffer.from('x'), 0), file.datasync()]);
    expect(await contents(disk, '/d/a')).toContain('');
    await file.datasync();
    expect(await contents(disk, '/d/a')).toEqual(['x']);
  });

  it('never makes durable what a failed sync covered, although reads still show it', async () => {
    const { FaultyFileSystem } = await import('../../../src/storage/simulated/faulty-file-system.js');
    const disk = await holding('');
    const faulty = new FaultyFileSystem(disk, {
      at: 1,
      kind: 'EIO',
      only: (call) => call === 'file.datasync',
    });
    const file = await faulty.open('/d/a', 'update');
    await file.write(Buffer.from('one\n'), 0);
    await expect(file.datasync()).rejects.toMatchObject({ code: 'EIO' });
    expect(await readText(disk, '/d/a')).toBe('one\n');
    await file.datasync();
    expect(await contents(disk, '/d/a')).toContain('');
    await file.write(Buffer.from('two\n'), 4);
    await file.datasync();
    const found = await contents(disk, '/d/a');
    expect(found).toContain('\0\0\0\0two\n');
    expect(found).toContain('one\ntwo\n');
    await file.write(Buffer.from('ONE\n'), 0);
    await file.datasync();
    expect(await contents(disk, '/d/a')).toEqual(['ONE\ntwo\n']);
  });
});

describe('what a power cut leaves of names', () => {
  it('shows torn content under the final name when a temporary file was renamed without sync', async () => {
    const disk = await holding('old');
    await create(disk, '/d/tmp', 'new text', false);
    await disk.rename('/d/tmp', '/d/a');
    await disk.syncFolder('/d');
    const found = await contents(disk, '/d/a');
    expect(found).toContain('');
    expect(found).toContain('new ');
    expect(found).toContain('\0'.repeat(8));
    expect(found).not.toContain('old');
  });

  it('shows the old or the new content, never a mix, when the temporary file was synced first', async () => {
    const disk = await holding('old');
    await create(disk, '/d/tmp', 'new text', true);
    await disk.rename('/d/tmp', '/d/a');
    expect(await contents(disk, '/d/a')).toEqual(['old', 'new text']);
    expect(await contents(disk, '/d/a', { fromPoint: 0 })).toEqual(['old', 'new text']);
    await disk.syncFolder('/d');
    expect(await contents(disk, '/d/a')).toEqual(['new text']);
  });

  it('exposes a rename that reached the disk before the data that was written before it', async () => {
    const disk = await holding('old');
    await create(disk, '/d/tmp', 'new', false);
    await disk.rename('/d/tmp', '/d/a');
    expect(await contents(disk, '/d/a', { weak: false })).toContain('');
  });

  it('keeps any prefix of name operations, and in weak mode any subset that can have happened', async () => {
    const disk = newDisk();
    for (const name of ['x', 'y']) await create(disk, `/d/${name}`, name, true);
    await disk.rename('/d/x', '/d/z');
    const sets = async (weak: boolean) => {
      const found = new Set<string>();
      for (const state of disk.crashStates({ fromPoint: disk.point, weak })) {
        found.add((await disk.reboot(state).list('/d')).sort().join(''));
      }
      return [...found].sort();
    };
    expect(await sets(false)).toEqual(['', 'x', 'xy', 'yz']);
    expect(await sets(true)).toEqual(['', 'x', 'xy', 'y', 'yz', 'z']);
  });

  it('can keep a create under a name that a lost rename had freed: then the file that was renamed is gone', async () => {
    const disk = await holding('old');
    await disk.rename('/d/a', '/d/b');
    await create(disk, '/d/a', 'new', true);
    const found = new Set<string>();
    for (const state of disk.crashStates({ fromPoint: disk.point })) {
      const after = disk.reboot(state);
      found.add(`${await readText(after, '/d/a')},${await readText(after, '/d/b')}`);
    }
    expect([...found].sort()).toEqual(['new,null', 'new,old', 'null,old', 'old,null']);
  });

  it('can lose a folder with all that was synced inside it, until its own name is synced', async () => {
    const disk = newDisk();
    await disk.makeFolder('/d/sub');
    await create(disk, '/d/sub/a', 'text', true);
    await disk.syncFolder('/d/sub');
    expect(await contents(disk, '/d/sub/a')).toEqual([null, 'text']);
    await disk.syncFolder('/d');
    expect(await contents(disk, '/d/sub/a')).toEqual(['text']);
  });

  it('never loses a file that is renamed between folders: it has the old name, the new one, or both', async () => {
    const disk = await holding('text');
    await disk.makeFolder('/d/sub');
    await disk.syncFolder('/d');
    await disk.rename('/d/a', '/d/sub/a');
    const places = async () => {
      const found = new Set<string>();
      for (const state of disk.crashStates({ fromPoint: disk.point })) {
        const after = disk.reboot(state);
        const has = async (path: string) => ((await after.stat(path)) === null ? '-' : 'x');
        found.add((await has('/d/a')) + (await has('/d/sub/a')));
      }
      return [...found].sort();
    };
    expect(await places()).toEqual(['-x', 'x-', 'xx']);
    await disk.syncFolder('/d');
    expect(await places()).toEqual(['-x']);
  });

  it('never makes durable the names that a failed folder sync covered', async () => {
    const disk = newDisk();
    await create(disk, '/d/a', 'text', true);
    await disk.loseUnsyncedNames('/d');
    await disk.syncFolder('/d');
    expect(await contents(disk, '/d/a')).toEqual([null, 'text']);
  });
});

describe('the enumeration', () => {
  it('visits every point of a workload that ran once, from nothing done to all done', async () => {
    const disk = newDisk();
    await create(disk, '/d/a', 'one', true);
    await disk.syncFolder('/d');
    const points = new Set([...disk.crashStates()].map((state) => state.point));
    expect([...points]).toEqual([0, 1, 2, 3, 4]);
    expect([...disk.crashStates({ toPoint: 0 })]).toHaveLength(1);
  });

  it('combines what files and folders kept, and bounds the combinations by the same sample for the same seed', async () => {
    const disk = newDisk();
    for (const name of ['a', 'b', 'c', 'e']) await create(disk, `/d/${name}`, `${name}-text`, false);
    const hashes = (options: object) =>
      [...disk.crashStates({ fromPoint: disk.point, ...options })].map((s) => s.hash());
    const all = hashes({ perPoint: 1e9 });
    expect(new Set(all).size).toBe(all.length);
    expect(all.length).toBeGreaterThan(9 ** 4);
    const some = hashes({ perPoint: 300, seed: 7 });
    expect(some.length).toBeLessThan(600);
    expect(hashes({ perPoint: 300, seed: 7 })).toEqual(some);
    expect(hashes({ perPoint: 300, seed: 8 })).not.toEqual(some);
    expect(some.every((hash) => all.includes(hash))).toBe(true);
  });

  it('gives equal hashes exactly to states with equal names and bytes', async () => {
    const one = newDisk();
    await create(one, '/d/a', 'xy', true);
    const two = newDisk();
    await create(two, '/d/tmp', 'x', true);
    await append(two, '/d/tmp', 'y', true);
    await two.rename('/d/tmp', '/d/a');
    const last = (disk: SimulatedDisk) => [...disk.crashStates()].at(-1)!.hash();
    expect(last(one)).toBe(last(two));
    await append(two, '/d/a', '\0', true);
    expect(last(one)).not.toBe(last(two));
  });

  it('leaves earlier states as they were while the disk and rebooted disks are used further', async () => {
    const disk = await holding('old');
    await append(disk, '/d/a', '1', false);
    const states = [...disk.crashStates()];
    const before = await Promise.all(states.map((state) => readText(disk.reboot(state), '/d/a')));
    await append(disk, '/d/a', '2', true);
    const other = disk.reboot(states.at(-1)!);
    await append(other, '/d/a', '3', true);
    await other.unlink('/d/a');
    expect(await Promise.all(states.map((state) => readText(disk.reboot(state), '/d/a')))).toEqual(before);
  });

  it('shows everything to the next process after a kill, and can still lose it to a later power cut', async () => {
    const disk = await holding('old');
    await append(disk, '/d/a', '1', false);
    const point = disk.point;
    await append(disk, '/d/a', '2', true);
    const next = disk.killedAt(point);
    expect(await readText(next, '/d/a')).toBe('old1');
    expect(await readText(next.powerCut(), '/d/a')).toBe('old');
    await append(next, '/d/a', 'x', true);
    expect(await contents(next, '/d/a')).toEqual(['old1x']);
  });

  it('says in words what survived', async () => {
    const disk = await holding('old');
    await create(disk, '/d/b', 'abcd', false);
    const texts = [...disk.crashStates()].map((state) => state.describe());
    expect(texts).toContainEqual(expect.stringContaining('/d: kept create b; lost nothing'));
    expect(texts).toContainEqual(
      expect.stringContaining('/d/b: first 0 of 1 kept, the next torn at byte 2 of 4'),
    );
  });

  it('starts 20,000 and more rebooted disks a second', async () => {
    const disk = await holding('line\n'.repeat(200));
    for (let i = 0; i < 12; i++) await append(disk, '/d/a', `line ${i}\n`, i % 4 === 3);
    await create(disk, '/d/b', 'b'.repeat(100), false);
    const start = performance.now();
    let count = 0;
    for (const state of disk.crashStates()) {
      state.hash();
      const after = disk.reboot(state);
      await after.stat('/d/a');
      count++;
    }
    const perSecond = (count / (performance.now() - start)) * 1000;
    expect(count).toBeGreaterThan(300);
    expect(perSecond).toBeGreaterThan(4_000); // a loaded machine; 20,000 and more on an idle one
  });
});
