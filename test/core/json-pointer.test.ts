import { describe, expect, it } from 'vitest';
import { itemIndex, pointerParts, valueAt } from '../../src/core/json-pointer.js';

/** The document of RFC 6901, section 5. */
const DOCUMENT = { foo: ['bar', 'baz'], '': 0, 'a/b': 1, 'm~n': 8, ' ': 7 };

describe('a JSON Pointer', () => {
  it.each([
    ['', DOCUMENT],
    ['/foo', ['bar', 'baz']],
    ['/foo/0', 'bar'],
    ['/', 0],
    ['/a~1b', 1],
    ['/m~0n', 8],
    ['/ ', 7],
  ])('%j names a value, as in RFC 6901', (pointer, value) => {
    expect(valueAt(DOCUMENT, pointer)).toEqual(value);
  });

  it.each([
    '/none',
    '/foo/2',
    '/foo/-',
    '/foo/01',
    '/foo/0/x',
    '/foo/length',
    'foo',
    '/constructor',
    '/__proto__',
  ])('%j names nothing', (pointer) => {
    expect(valueAt(DOCUMENT, pointer)).toBeUndefined();
  });

  it('decodes ~01 to ~1, not to a slash', () => {
    expect(pointerParts('/~01')).toEqual(['~1']);
  });

  it('is null without a slash at its beginning', () => {
    expect(pointerParts('tasks')).toBeNull();
  });

  it('names an item only by its plain number', () => {
    expect(['0', '1', '2', '-1', '1e0', '00', ''].map((part) => itemIndex(part, 2))).toEqual([
      0,
      1,
      null,
      null,
      null,
      null,
      null,
    ]);
  });
});
