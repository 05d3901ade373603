/** The contract of `ObjectStorage`, held by every implementation. */
import { describe, expect, it } from 'vitest';
import { keyOf } from '../../../src/storage/name-key.js';
import type { ObjectStorage } from '../../../src/storage/objects/index.js';
import type { Name } from '../../../src/storage/ports.js';
import { AWKWARD_NAMES, REFUSED_NAMES } from '../../../src/storage/testing/awkward-samples.js';

const ABSENT = ['agents', 'one', 'absent'];

/** @param open an empty store, closed after the test */
export function objectsContract(
  open: () => Promise<ObjectStorage>,
  awkwardNames: readonly string[] = AWKWARD_NAMES,
): void {
  describe('objects', () => {
    putTests(open);
    nameTests(open, awkwardNames);
    listTests(open);
  });
}

function putTests(open: () => Promise<ObjectStorage>): void {
  it.each([
    ['no bytes', Buffer.alloc(0)],
    ['all byte values', Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))],
    ['5 MiB', patternOf(5 * 1024 * 1024)],
  ])('gives %s back exactly', async (_, bytes) => {
    const objects = await open();
    await objects.put(['a', 'b'], bytes);
    expect(Buffer.from((await objects.get(['a', 'b']))!).equals(bytes)).toBe(true);
    expect((await objects.stat(['a', 'b']))?.size).toBe(bytes.length);
  });

  it('replaces an object as a whole', async () => {
    const objects = await open();
    await objects.put(['a'], Buffer.from('a long first text'));
    await objects.put(['a'], Buffer.from('short'));
    expect(await textOf(objects, ['a'])).toBe('short');
  });

  it('tells when an object was put', async () => {
    const objects = await open();
    const before = Date.now();
    await objects.put(['a'], Buffer.from('a'));
    const { modifiedMs } = (await objects.stat(['a']))!;
    expect(modifiedMs).toBeGreaterThan(before - 2_000);
    expect(modifiedMs).toBeLessThan(Date.now() + 2_000);
  });

  it('gives null for what is absent', async () => {
    const objects = await open();
    expect(await objects.get(ABSENT)).toBeNull();
    expect(await objects.stat(ABSENT)).toBeNull();
  });

  it('deletes, and tells whether something was there', async () => {
    const objects = await open();
    expect(await objects.delete(ABSENT)).toBe(false);
    await objects.put(['a', 'b'], Buffer.from('a'));
    expect(await objects.delete(['a', 'b'])).toBe(true);
    expect(await objects.get(['a', 'b'])).toBeNull();
    expect(await namesOf(objects, [])).toEqual([]);
    expect(await objects.delete(['a', 'b'])).toBe(false);
    await objects.put(['a', 'b'], Buffer.from('again'));
    expect(await textOf(objects, ['a', 'b'])).toBe('again');
  });
}

function nameTests(open: () => Promise<ObjectStorage>, awkwardNames: readonly string[]): void {
  it('accepts awkward names and keeps them apart', async () => {
    const objects = await open();
    for (const name of awkwardNames) await objects.put(['agents', name, name], Buffer.from(name));
    for (const name of awkwardNames) expect(await textOf(objects, ['agents', name, name])).toBe(name);
    const sorted = awkwardNames.map((name) => [name, name]).sort(byKey);
    expect(await namesOf(objects, ['agents'])).toEqual(sorted);
  });

  it('refuses names that cannot be stored with INVALID_NAME, and touches nothing', async () => {
    const objects = await open();
    for (const bad of REFUSED_NAMES) {
      for (const name of [[bad], ['agents', bad], [bad, 'x']]) {
        const invalid = { code: 'INVALID_NAME' };
        await expect(objects.put(name, Buffer.from('a'))).rejects.toMatchObject(invalid);
        await expect((async () => objects.get(name))()).rejects.toMatchObject(invalid);
        await expect((async () => objects.stat(name))()).rejects.toMatchObject(invalid);
        await expect((async () => objects.delete(name))()).rejects.toMatchObject(invalid);
        await expect(namesOf(objects, name)).rejects.toMatchObject(invalid);
      }
    }
    expect(await namesOf(objects, [])).toEqual([]);
  });

  it('refuses a name without a segment with INVALID_ARGUMENT', async () => {
    const objects = await open();
    await expect(objects.put([], Buffer.from('a'))).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(objects.get([])).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
}

function listTests(open: () => Promise<ObjectStorage>): void {
  it('lists what is below a prefix, sorted by encoded name, with sizes', async () => {
    const objects = await open();
    const inside = [['b', 'x', 'y'], ['b', 'x-z'], ['b-c'], ['a'], ['B'], ['b0'], ['\u00e9']];
    for (const [size, name] of inside.entries()) await objects.put(['p', ...name], Buffer.alloc(size));
    for (const name of [['pq', 'z'], ['q'], ['o', 'p', 'a']]) await objects.put(name, Buffer.from('beside'));
    const listed = [];
    for await (const { name, size } of objects.list(['p'])) listed.push({ name, size });
    const expected = inside.map((name, size) => ({ name, size })).sort((a, b) => byKey(a.name, b.name));
    expect(listed).toEqual(expected);
  });

  it('lists everything below no prefix', async () => {
    const objects = await open();
    for (const name of [['b'], ['a', 'c'], ['a', 'b', 'd']]) await objects.put(name, Buffer.from('x'));
    expect(await namesOf(objects, [])).toEqual([['a', 'b', 'd'], ['a', 'c'], ['b']]);
  });

  it('tells the next segments of what is below a prefix, sorted, each once, and none whose objects are gone', async () => {
    const objects = await open();
    for (const name of [
      ['p', 'b', 'x'],
      ['p', 'b', 'y'],
      ['p', 'A'],
      ['p', 'gone', 'deep', 'z'],
      ['q', 'other'],
    ]) {
      await objects.put(name, Buffer.from('a'));
    }
    await objects.delete(['p', 'gone', 'deep', 'z']);
    expect(await objects.names(['p'])).toEqual(['A', 'b']);
    expect(await objects.names(['absent'])).toEqual([]);
  });

  it('lists nothing below what is absent', async () => {
    const objects = await open();
    expect(await namesOf(objects, [])).toEqual([]);
    expect(await namesOf(objects, ABSENT)).toEqual([]);
  });
}

export async function namesOf(objects: ObjectStorage, prefix: Name): Promise<Name[]> {
  const names = [];
  for await (const { name } of objects.list(prefix)) names.push(name);
  return names;
}

export async function textOf(objects: ObjectStorage, name: Name): Promise<string> {
  return Buffer.from((await objects.get(name))!).toString();
}

/** No two neighbouring pieces of it are equal, so that parts in a wrong order are seen. */
export function patternOf(size: number): Buffer {
  const bytes = Buffer.alloc(size);
  for (let at = 0; at + 4 <= size; at += 4) bytes.writeUInt32LE((at * 2_654_435_761) >>> 0, at);
  return bytes;
}

function byKey(a: Name, b: Name): number {
  return keyOf(a) < keyOf(b) ? -1 : 1;
}
