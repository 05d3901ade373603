import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { imageSizeOf } from '../../src/messages/media-size.js';
import { runParameters } from '../property/seed.js';
import { gifOf, jpegOf, pngOf, webpOf } from './media-bytes.js';

const FORMATS: readonly [name: string, make: (width: number, height: number) => Uint8Array][] = [
  ['PNG', pngOf],
  ['GIF', gifOf],
  ['JPEG', jpegOf],
  ['progressive JPEG', (width, height) => jpegOf(width, height, 0xc2)],
  ['lossy WebP', (width, height) => webpOf('VP8 ', width, height)],
  ['lossless WebP', (width, height) => webpOf('VP8L', width, height)],
  ['extended WebP', (width, height) => webpOf('VP8X', width, height)],
];

describe('imageSizeOf', () => {
  it.each(FORMATS)('reads the size of a %s', (name, make) => {
    const side = fc.integer({ min: 1, max: 16_383 });
    const property = fc.property(side, side, (width, height) => {
      expect(imageSizeOf(make(width, height))).toEqual({ width, height });
    });
    fc.assert(property, runParameters(`media size, ${name}`, 200));
  });

  it.each(FORMATS)('gives null for a %s whose header is cut', (_, make) => {
    const bytes = make(300, 200);
    const headerEnd = bytes.findLastIndex((byte) => byte !== 0);
    for (let length = 0; length < Math.min(headerEnd, 10); length++) {
      expect(imageSizeOf(bytes.subarray(0, length))).toBeNull();
    }
  });

  it('gives null for an image without a side', () => {
    expect(imageSizeOf(pngOf(0, 5))).toBeNull();
    expect(imageSizeOf(gifOf(5, 0))).toBeNull();
  });

  it('reads from the middle of a larger buffer', () => {
    const buffer = new Uint8Array(100);
    buffer.set(pngOf(7, 8), 40);
    expect(imageSizeOf(buffer.subarray(40))).toEqual({ width: 7, height: 8 });
  });

  it('does not throw on whatever bytes behind any signature', () => {
    const heads = FORMATS.map(([, make]) => make(9, 9));
    const property = fc.property(
      fc.constantFrom(...heads),
      fc.nat(32),
      fc.uint8Array({ maxLength: 200 }),
      (head, kept, tail) => {
        const size = imageSizeOf(Uint8Array.from([...head.subarray(0, kept), ...tail]));
        expect(size === null || (size.width > 0 && size.height > 0)).toBe(true);
      },
    );
    fc.assert(property, runParameters('media size, damaged', 1000));
  });

  it('does not walk on the spot in a JPEG of segments without length', () => {
    expect(
      imageSizeOf(Uint8Array.from([0xff, 0xd8, ...Array(1000).fill([0xff, 0xe0, 0, 0]).flat()])),
    ).toBeNull();
  });
});
