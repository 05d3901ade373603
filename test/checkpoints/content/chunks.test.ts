import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chunksOf } from '../../../src/checkpoints/content/chunks.js';
import { ChunkIndex, planContent } from '../../../src/checkpoints/content/content-plan.js';
import { runParameters } from '../../property/seed.js';
import { noise } from '../checkpoint-kit.js';

const always = () => true;

describe('chunks', () => {
  it('are all of the bytes, in order, none of them empty or above 4 KiB, and only the last one short', () => {
    const sizes = fc.oneof(fc.constantFrom(0, 1, 255, 256, 257, 4_095, 4_096, 4_097), fc.nat(60_000));
    fc.assert(
      fc.property(sizes, fc.nat(), fc.boolean(), (size, seed, same) => {
        const bytes = Buffer.from(same ? 'a'.repeat(size) : noise(seed, size));
        let at = 0;
        for (const { start, end } of chunksOf(bytes)) {
          expect(start).toBe(at);
          expect(end).toBeGreaterThan(start);
          expect(end - start).toBeLessThanOrEqual(4_096);
          if (end < bytes.length) expect(end - start).toBeGreaterThan(256);
          at = end;
        }
        expect(at).toBe(bytes.length);
      }),
      runParameters('chunks', 30),
    );
  });

  it('are cut where they always were: what is stored depends on it', () => {
    const ends = [...chunksOf(Buffer.from(noise(1, 20_000)))].map(({ end }) => end);
    expect(ends).toEqual([
      608, 2_195, 5_183, 5_977, 10_073, 12_097, 13_625, 14_599, 15_015, 16_035, 17_784, 19_921, 20_000,
    ]);
  });

  it('stay the same away from a change, also one that moves what follows', () => {
    const text = noise(2, 200_000);
    const known = new Set(texts(text));
    for (const changed of [
      `${text.slice(0, 100_000)}!${text.slice(100_000)}`,
      text.slice(0, 50_000) + text.slice(50_100),
      `at the beginning ${text}`,
      `${text} at the end`,
      text.slice(100_000) + text.slice(0, 100_000),
    ]) {
      const fresh = texts(changed).filter((chunk) => !known.has(chunk));
      expect(fresh.length).toBeLessThanOrEqual(8);
    }
  });
});

describe('the plan of a content', () => {
  it('makes the content again from its own data and that of earlier ones', () => {
    const parts = fc.array(fc.tuple(fc.nat(20), fc.integer({ min: 1, max: 6_000 })), { maxLength: 25 });
    fc.assert(
      fc.property(fc.array(parts, { minLength: 1, maxLength: 5 }), (contents) => {
        const index = new ChunkIndex();
        const packs = new Map<number, Buffer>();
        contents.forEach((made, at) => {
          const content = Buffer.from(made.map(([seed, length]) => noise(seed, length)).join(''));
          const plan = planContent(content, at + 1, index, always);
          packs.set(at + 1, plan.data);
          const pieces = plan.extents.map(({ pack, offset, length }) =>
            packs.get(pack)!.subarray(offset, offset + length),
          );
          expect(Buffer.concat(pieces).equals(content)).toBe(true);
          index.add(at + 1, content, plan.extents);
        });
      }),
      runParameters('content plans', 20),
    );
  });

  it('stores what repeats in it once, and nothing of what is known', () => {
    const part = noise(3, 30_000);
    const index = new ChunkIndex();
    const first = Buffer.from(part + part);
    const plan = planContent(first, 1, index, always);
    expect(plan.data.length).toBeLessThan(45_000);
    index.add(1, first, plan.extents);
    expect(planContent(first, 2, index, always).data).toHaveLength(0);
  });

  it('does not rely on packs that are gone', () => {
    const index = new ChunkIndex();
    const content = Buffer.from(noise(4, 10_000));
    index.add(1, content, planContent(content, 1, index, always).extents);
    const plan = planContent(content, 2, index, () => false);
    expect(plan.data.equals(content)).toBe(true);
    expect(plan.extents).toEqual([{ pack: 2, offset: 0, length: content.length }]);
  });
});

function texts(text: string): string[] {
  const bytes = Buffer.from(text);
  return [...chunksOf(bytes)].map(({ start, end }) => bytes.toString('latin1', start, end));
}
