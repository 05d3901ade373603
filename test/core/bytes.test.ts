import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  byteText,
  decodeBase64,
  encodeBase64,
  fromBase64,
  joinBytes,
  toBase64,
  utf8Bytes,
  utf8Length,
  utf8Text,
} from '../../src/core/bytes.js';
import { sha256Hex } from '../../src/core/sha256.js';

const TEXTS = ['', 'a', 'zażółć', '\uFEFFmarked', '🙂'.repeat(40), 'x'.repeat(200_001)];

describe('bytes', () => {
  it.each(TEXTS)('are UTF-8 of a text and back, the byte order mark included', (text) => {
    expect(utf8Text(utf8Bytes(text))).toBe(text);
    expect(utf8Length(text)).toBe(Buffer.byteLength(text));
  });

  it('that are no UTF-8 become the replacement character', () => {
    expect(utf8Text(Uint8Array.of(0x61, 0xff, 0x62))).toBe('a\uFFFDb');
  });

  it('are joined in order, and read as Latin-1', () => {
    expect(byteText(joinBytes([Uint8Array.of(0x61), new Uint8Array(), Uint8Array.of(0xff)]))).toBe('a\xff');
  });

  it('become base64 and come back, with and without a way of the runtime, at every length', () => {
    for (let length = 0; length < 70; length += 1) {
      const bytes = new Uint8Array(randomBytes(length));
      const text = Buffer.from(bytes).toString('base64');
      expect([toBase64(bytes), encodeBase64(bytes)]).toEqual([text, text]);
      expect(Uint8Array.from(fromBase64(text))).toEqual(bytes);
      expect(Uint8Array.from(decodeBase64(text))).toEqual(bytes);
    }
  });

  it('of a view over a larger buffer become base64 without what lies around them', () => {
    expect(toBase64(Uint8Array.of(1, 2, 3, 4).subarray(1, 3))).toBe('AgM=');
  });

  it.each(['-_-_', 'YQ', 'Y Q = =', 'YQ==YQ==', '', '!'])('decode base64 %j as the runtime does', (text) => {
    expect(Uint8Array.from(decodeBase64(text))).toEqual(new Uint8Array(Buffer.from(text, 'base64')));
  });
});

describe('sha256Hex', () => {
  it('gives what the runtime gives, at every length around a block', () => {
    for (const length of [0, 1, 54, 55, 56, 57, 63, 64, 65, 119, 120, 128, 10_000]) {
      const text = 'é😀x'.repeat(length).slice(0, length).toWellFormed();
      expect(sha256Hex(text), String(length)).toBe(createHash('sha256').update(text).digest('hex'));
    }
  });
});
