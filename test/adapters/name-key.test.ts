import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { nameKey } from '../../src/adapters/name-key.js';
import { encodeNameSegment } from '../../src/storage/name-encoding.js';

describe('the key of an id', () => {
  it('is the id where that can be a name', () => {
    for (const id of ['user-1', 'User 1', 'é', '会话', 'a:b']) expect(nameKey(id)).toBe(id);
  });

  it('is a digest of its UTF-16 code units where it cannot', () => {
    const digest = createHash('sha256').update(Buffer.from('../etc', 'utf16le')).digest('hex');
    expect(nameKey('../etc')).toBe(`~${digest}`);
  });

  it('is always a name, and never that of another id', () => {
    const hostile = ['', '.', '..', 'a/b', 'a\\b', 'a\0b', ' a', 'a.', 'con', '~', `~${'0'.repeat(64)}`];
    const ids = [
      ...hostile,
      nameKey('a/b'),
      '\ud800',
      '\ud801',
      '\udc00',
      'x'.repeat(201),
      'x'.repeat(10_000),
    ];
    const keys = ids.map(nameKey);
    expect(new Set(keys).size).toBe(ids.length);
    expect(() => keys.map(encodeNameSegment)).not.toThrow();
  });
});
