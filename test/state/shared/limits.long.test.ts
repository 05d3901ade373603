import { describe, expect, it } from 'vitest';
import { Den } from './shared-kit.js';

const text = (bytes: number) => 'x'.repeat(bytes - 2); // with its quotes

describe('the limits of a shared state', () => {
  it('are the only ones: changes within them succeed also when many run at once', async () => {
    const state = Den.memory().state();
    const large = Array.from({ length: 36 }, () => ({ op: 'set' as const, key: 'a', value: text(262_144) }));
    const results = await Promise.allSettled([
      ...Array.from({ length: 8 }, () => state.batch(large)),
      state.increment('innocent'),
    ]);
    expect(results.filter(({ status }) => status === 'rejected')).toEqual([]);
  });
});
