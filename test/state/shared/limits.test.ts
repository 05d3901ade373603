import { describe, expect, it } from 'vitest';
import { SHARED_LIMITS } from '../../../src/state/shared/shared-limits.js';
import { SharedSessions } from '../../../src/state/shared/shared-sessions.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import { errorOf } from '../durable/state-kit.js';
import { Den, valuesOf } from './shared-kit.js';

const text = (bytes: number) => 'x'.repeat(bytes - 2); // with its quotes

describe('the limits of a shared state', () => {
  it('are those that are documented', () => {
    expect(SHARED_LIMITS).toEqual({
      keys: 1_000,
      valueBytes: 262_144,
      totalBytes: 10_485_760,
      depth: 64,
      batch: 1_000,
      batchBytes: 16_777_216,
      history: 10_000,
    });
  });

  it.each([{ keys: 20_001 }, { depth: -1 }, { history: 0.5 }])('cannot be %j', (limits) => {
    for (const make of [
      () => new SharedSessions(new MemoryStorage(), { limits }),
      () => Den.memory().state({ limits }),
    ])
      expect(make).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
  });

  it('hold 1,000 keys in one batch, and not one more', async () => {
    const state = Den.memory().state();
    const operations = Array.from({ length: 1_000 }, (_, n) => ({
      op: 'set' as const,
      key: `k${n}`,
      value: n,
    }));
    expect(await errorOf(state.batch([...operations, operations[0]!]))).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { limit: 'batch', allowed: 1_000, actual: 1_001 },
    });
    await state.batch(operations);
    expect(await errorOf(state.set('another', 1))).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { limit: 'keys', allowed: 1_000, actual: 1_001 },
    });
    expect(await state.set('k0', 'changed')).toMatchObject({ version: 2, globalVersion: 1_001 });
    await state.delete('k1');
    expect(await state.set('another', 1)).toMatchObject({ version: 1 });
  });

  it('hold a value of 256 KiB as JSON, and not one byte more', async () => {
    const state = Den.memory().state();
    await state.set('a', text(262_144));
    expect(await errorOf(state.set('a', text(262_145)))).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { limit: 'valueBytes', allowed: 262_144, actual: 262_145 },
    });
    expect((await errorOf(state.set('b', 'ä'.repeat(131_072)))).code).toBe('LIMIT_EXCEEDED');
    expect(await state.getAll()).toMatchObject({ globalVersion: 1, keys: [{ key: 'a', version: 1 }] });
  });

  it('count a value that grew by appending and merging to the byte', async () => {
    const den = await Den.files();
    const state = den.state({ limits: { valueBytes: 20 } });
    await state.append('list', ['ä', 1]);
    await state.append('list', ['12345678']);
    expect(JSON.stringify((await state.get('list'))?.value)).toHaveLength(18); // 19 bytes
    expect((await errorOf(state.append('list', [1]))).details).toEqual({
      limit: 'valueBytes',
      allowed: 20,
      actual: 21,
    });
    await state.close();
    const again = den.state({ limits: { valueBytes: 20 } });
    expect((await errorOf(again.append('list', [1]))).details).toMatchObject({ actual: 21 });
    await again.merge('object', { a: '123456789012' });
    expect((await errorOf(again.merge('object', { b: 1 }))).details).toMatchObject({ actual: 26 });
    expect((await again.merge('object', { a: null, b: 1 })).value).toEqual({ b: 1 });
  });

  it('hold a total of keys and values, and what is refused beyond it changes nothing', async () => {
    const den = await Den.files();
    const limits = { totalBytes: 20 };
    const state = den.state({ limits });
    await state.set('a', text(9));
    await state.set('bb', text(8));
    expect(await errorOf(state.set('c', 1))).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { limit: 'totalBytes', allowed: 20, actual: 22 },
    });
    expect((await errorOf(state.patch({ a: text(5), c: text(5) }))).code).toBe('LIMIT_EXCEEDED');
    expect(await valuesOf(state)).toEqual({ a: text(9), bb: text(8) });
    await state.set('a', text(7));
    await state.close();
    const again = den.state({ limits });
    expect(await again.set('c', 1)).toMatchObject({ version: 1, globalVersion: 4 });
    expect((await errorOf(again.increment('d'))).details).toMatchObject({ actual: 22 });
    await again.delete('bb');
    expect(await again.increment('d')).toMatchObject({ globalVersion: 6 });
  });

  it('are kept by two instances that fill the state at once', async () => {
    const den = await Den.files();
    const states = [den.state({ limits: { keys: 10 } }), den.state({ limits: { keys: 10 } })];
    const sets = Array.from({ length: 24 }, (_, n) => states[n % 2]!.set(`k${n}`, n));
    const results = await Promise.allSettled(sets);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    expect((await states[0]!.getAll()).keys).toHaveLength(10);
  });

  it('let a key that is there be changed and become smaller where they are exceeded already', async () => {
    const den = Den.memory();
    const state = den.state();
    await state.patch({ a: text(100), b: text(100) });
    const limits = { keys: 1, totalBytes: 50 };
    expect(await den.state({ limits }).set('a', 1)).toMatchObject({ version: 2 });
  });
});
