import fs from 'node:fs/promises';
import * as zlib from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  assertCompression,
  type CompressionOptions,
  compress,
  decompress,
} from '../../../src/checkpoints/content/compression.js';
import { runParameters } from '../../property/seed.js';
import { bigContext, errorOf, noise, Place, thrownBy } from '../checkpoint-kit.js';

const GZIP: CompressionOptions = {
  enabled: true,
  algorithm: 'gzip',
  level: 'standard',
  minSizeForCompression: 0,
};
const HAS_ZSTD = 'zstdCompress' in zlib;
const BOMB_BYTES = 64 * 1024 * 1024;

describe('compression', () => {
  it('is without loss at every level', async () => {
    const levels = fc.constantFrom('basic', 'standard', 'aggressive');
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 3_000 }),
      fc.nat(20_000).map((n) => Buffer.alloc(n, 'ab')),
    );
    await fc.assert(
      fc.asyncProperty(bytes, levels, fc.boolean(), async (raw, level, enabled) => {
        const options = { ...GZIP, level: level as 'basic', enabled };
        const compressed = await compress(raw, options);
        expect((await decompress(compressed, raw.length)).equals(Buffer.from(raw))).toBe(true);
      }),
      runParameters('compression', 30),
    );
  });

  it.skipIf(!HAS_ZSTD)('is without loss by zstd', async () => {
    const raw = Buffer.from(noise(1, 1_000).repeat(10));
    const compressed = await compress(raw, { ...GZIP, algorithm: 'zstd' });
    expect(compressed.type).toBe('zstd');
    expect((await decompress(compressed, raw.length)).equals(raw)).toBe(true);
  });

  it.skipIf(HAS_ZSTD)('says when the runtime lacks an algorithm, before anything is saved', async () => {
    const options = { ...GZIP, algorithm: 'zstd' } as const;
    expect((await thrownBy(() => assertCompression(options))).code).toBe('DEPENDENCY_MISSING');
    const place = await Place.make();
    const service = place.service({ config: { compression: { algorithm: 'zstd' } } });
    const saving = service.save({ sessionId: 's', context: { text: 'x'.repeat(5_000) } });
    expect((await errorOf(saving)).code).toBe('DEPENDENCY_MISSING');
    expect(await place.packs('s')).toEqual([]);
  });

  it('leaves alone what is short, what does not get smaller, and everything when it is off', async () => {
    const text = Buffer.from('a'.repeat(2_000));
    expect((await compress(text, { ...GZIP, minSizeForCompression: 2_001 })).type).toBe('none');
    expect((await compress(text, { ...GZIP, minSizeForCompression: 2_000 })).type).toBe('gzip');
    expect((await compress(text, { ...GZIP, enabled: false })).type).toBe('none');
    const dense = zlib.gzipSync(Buffer.from(noise(2, 5_000)));
    expect(await compress(dense, GZIP)).toEqual({ type: 'none', bytes: dense });
  });
});

describe('decompression', () => {
  const bomb = zlib.gzipSync(Buffer.alloc(BOMB_BYTES));

  it.each([0, 1, 1_000, BOMB_BYTES - 1])('never gives more than %i bytes when that was said', async (raw) => {
    const before = process.memoryUsage().arrayBuffers;
    expect((await errorOf(decompress({ type: 'gzip', bytes: bomb }, raw))).code).toBe('CHECKPOINT_DAMAGED');
    if (raw <= 1_000) expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 1024 * 1024);
  });

  it.each([
    ['too short', zlib.gzipSync('abc'), 4],
    ['cut off', zlib.gzipSync('abc'.repeat(100)).subarray(0, 20), 300],
    ['no gzip', Buffer.from('abc'), 3],
    ['nothing', Buffer.alloc(0), 3],
  ])('refuses what is %s', async (_, bytes, raw) => {
    expect((await errorOf(decompress({ type: 'gzip', bytes }, raw))).code).toBe('CHECKPOINT_DAMAGED');
  });

  it('refuses plain bytes of another length', async () => {
    const bytes = Buffer.from('abc');
    expect((await errorOf(decompress({ type: 'none', bytes }, 2))).code).toBe('CHECKPOINT_DAMAGED');
    expect((await decompress({ type: 'none', bytes }, 3)).toString()).toBe('abc');
  });
});

describe('a stored pack', () => {
  it('that became a bomb is refused, and the other checkpoints still load', async () => {
    const place = await Place.make();
    await place.service().save({ sessionId: 's', context: bigContext(1, 5) });
    const [first] = await place.packs('s');
    await place.service().save({ sessionId: 's', context: { n: 2 } });
    await fs.writeFile(first!, zlib.gzipSync(Buffer.alloc(BOMB_BYTES)));
    const service = place.service();
    expect((await errorOf(service.load({ checkpointId: 's@1' }))).code).toBe('CHECKPOINT_DAMAGED');
    expect((await service.load({ sessionId: 's' })).context).toEqual({ n: 2 });
    expect((await service.verify()).problems).toMatchObject([
      { checkpointId: 's@1', code: 'CHECKPOINT_DAMAGED' },
    ]);
  });
});
