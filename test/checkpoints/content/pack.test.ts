import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Extent } from '../../../src/checkpoints/content/content-plan.js';
import { contentDigest, decodePack, encodePack } from '../../../src/checkpoints/content/pack.js';
import { isRekindleError } from '../../../src/core/errors.js';
import { runParameters } from '../../property/seed.js';
import { thrownBy } from '../checkpoint-kit.js';

const NUMBER = 1_000_000;
const DIGEST = contentDigest('s', NUMBER, Buffer.from('a content'));

function anyExtents(): fc.Arbitrary<Extent[]> {
  const size = fc.oneof(fc.nat(300), fc.nat(2 ** 40));
  const extent = fc.record({
    pack: fc.oneof(fc.constant(NUMBER), fc.integer({ min: 1, max: NUMBER })),
    offset: size,
    length: size.map((length) => length + 1),
  });
  return fc.array(extent, { maxLength: 60 });
}

describe('the digest of a content', () => {
  it('is of 32 bytes, and another one for another session, number or content', () => {
    const digests = [
      contentDigest('s', 1, Buffer.from('{}')),
      contentDigest('t', 1, Buffer.from('{}')),
      contentDigest('s', 2, Buffer.from('{}')),
      contentDigest('s', 1, Buffer.from('{"a":1}')),
      contentDigest('s', 11, Buffer.from('{}')),
      contentDigest('s', 1, Buffer.from('1{}')),
    ];
    for (const digest of digests) expect(digest).toHaveLength(32);
    expect(new Set(digests.map((digest) => digest.toString('hex'))).size).toBe(digests.length);
  });
});

describe('a pack', () => {
  it('gives back its extents, its data and the digest of the content', () => {
    fc.assert(
      fc.property(anyExtents(), fc.uint8Array({ maxLength: 100 }), (extents, bytes) => {
        const data = Buffer.from(bytes);
        const pack = decodePack(NUMBER, encodePack(NUMBER, DIGEST, { extents, data }));
        expect(pack.extents).toEqual(extents);
        expect(pack.data.equals(data)).toBe(true);
        expect(pack.digest.equals(DIGEST)).toBe(true);
      }),
      runParameters('packs', 100),
    );
  });

  it('is small beside its data', () => {
    const data = Buffer.alloc(10_000);
    const extents = Array.from({ length: 100 }, (_, n) => ({ pack: 7, offset: n * 100, length: 100 }));
    expect(encodePack(7, DIGEST, { extents, data }).length - data.length).toBeLessThan(400);
  });

  it('that is cut off or changed is read as another pack or refused, never with any other error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), fc.integer({ min: 1, max: 9 }), (bytes, number) => {
        try {
          for (const { pack, offset, length } of decodePack(number, Buffer.from(bytes)).extents) {
            expect(pack).toBeGreaterThanOrEqual(1);
            expect(pack).toBeLessThanOrEqual(number);
            expect(offset).toBeGreaterThanOrEqual(0);
            expect(length).toBeGreaterThanOrEqual(1);
          }
        } catch (thrown) {
          if (!isRekindleError(thrown, 'CHECKPOINT_DAMAGED')) throw thrown;
        }
      }),
      runParameters('damaged packs', 400),
    );
  });

  it.each([
    ['nothing', []],
    ['less than a digest', Array.from({ length: 20 }, () => 0)],
    ['a digest alone', Array.from({ length: 32 }, () => 0)],
    [
      'a number that does not end',
      [...Array.from({ length: 32 }, () => 0), ...Array.from({ length: 20 }, () => 0xff)],
    ],
    [
      'more extents than there are',
      [...Array.from({ length: 32 }, () => 0), 0xff, 0xff, 0xff, 0x7f, 0, 0, 1],
    ],
    ['an extent before the first pack', [...Array.from({ length: 32 }, () => 0), 1, 9, 0, 1]],
    ['an extent before the beginning', [...Array.from({ length: 32 }, () => 0), 1, 0, 1, 1]],
    ['an empty extent', [...Array.from({ length: 32 }, () => 0), 1, 0, 0, 0]],
  ])('is refused when it is %s', async (_, bytes) => {
    const { code } = await thrownBy(() => decodePack(3, Buffer.from(bytes)));
    expect(code).toBe('CHECKPOINT_DAMAGED');
  });
});
