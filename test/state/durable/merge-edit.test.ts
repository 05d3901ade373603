import { describe, expect, it } from 'vitest';
import { mergeEdit } from '../../../src/state/durable/merge-edit.js';

describe('mergeEdit', () => {
  it.each([
    ['takes what only the person changed', { a: 1, b: 1 }, { a: 2, b: 1 }, { a: 1, b: 3 }, { a: 2, b: 3 }],
    ['keeps what only agents added', { a: 1 }, { a: 1 }, { a: 1, c: 1 }, { a: 1, c: 1 }],
    ['takes a removal', { a: 1, b: 1 }, { b: 1 }, { a: 1, b: 2 }, { b: 2 }],
    ['keeps a removal by agents', { a: 1, b: 1 }, { a: 1, b: 2 }, { b: 1 }, { b: 2 }],
    [
      'merges inside objects',
      { o: { x: 1, y: 1 } },
      { o: { x: 2, y: 1 } },
      { o: { x: 1, y: 2 } },
      { o: { x: 2, y: 2 } },
    ],
    [
      'merges items with an id',
      {
        t: [
          { id: 'a', s: 1 },
          { id: 'b', s: 1 },
        ],
      },
      {
        t: [
          { id: 'a', s: 2 },
          { id: 'b', s: 1 },
          { id: 'n', s: 1 },
        ],
      },
      {
        t: [
          { id: 'a', s: 1 },
          { id: 'b', s: 3 },
          { id: 'm', s: 1 },
        ],
      },
      {
        t: [
          { id: 'a', s: 2 },
          { id: 'b', s: 3 },
          { id: 'm', s: 1 },
          { id: 'n', s: 1 },
        ],
      },
    ],
  ])('%s', (_, base, edited, current, value) => {
    expect(mergeEdit(base, edited, current)).toEqual({ value, conflicts: [] });
  });

  it.each([
    ['a value', { a: 1 }, { a: 2 }, { a: 3 }, '/a'],
    ['a removed value', { a: 1 }, {}, { a: 3 }, '/a'],
    ['a list in another order', { l: [1, 2, 3] }, { l: [3, 2, 1] }, { l: [1, 2, 3, 4] }, '/l'],
    ['a list with items twice', { l: [1, 1] }, { l: [1, 1, 2] }, { l: [1, 1, 3] }, '/l'],
    [
      'a field of an item',
      { t: [{ id: 'a', s: 1 }] },
      { t: [{ id: 'a', s: 2 }] },
      { t: [{ id: 'a', s: 3 }] },
      '/t/0/s',
    ],
    ['a key with a slash', { 'x/y': 1 }, { 'x/y': 2 }, { 'x/y': 3 }, '/x~1y'],
  ])('keeps the newer of %s, and reports it', (_, base, edited, current, path) => {
    const merged = mergeEdit(base, edited, current);
    expect(merged.value).toEqual(current);
    expect(merged.conflicts.map((conflict) => conflict.path)).toEqual([path]);
  });

  it('treats a key called __proto__ as any other', () => {
    const edited = JSON.parse('{"__proto__": {"x": 1}}') as Record<string, never>;
    const { value } = mergeEdit({}, edited, {});
    expect(JSON.stringify(value)).toBe('{"__proto__":{"x":1}}');
    expect(({} as { x?: number }).x).toBeUndefined();
  });
});
