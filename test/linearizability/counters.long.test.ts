import { describe, expect, it } from 'vitest';
import { SharedState } from '../../src/state/shared/shared-state.js';
import { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import { runCounters } from './counters.js';

/** By each process. `run.ts --counters 1000` counts further. */
const TIMES = 100;

describe('a counter that 8 processes share', () => {
  it('loses no increment by compare-and-set, with a new try after each conflict', async () => {
    const { value, version, failures } = await runCounters({ clients: 8, times: TIMES });
    expect(failures).toEqual([]);
    expect({ value, version }).toEqual({ value: 8 * TIMES, version: 8 * TIMES });
  });

  it('needs no second try for 10 increments at once', async () => {
    const report = await runCounters({ clients: 10, times: 1, atomic: true });
    expect(report).toEqual({ value: 10, version: 10, conflicts: 0, failures: [] });
  });
});

describe('a counter of one process', () => {
  it('needs no second try for 10 increments at once, and gives each its own version', async () => {
    const state = new SharedState(new MemoryStorage(), { root: 'counting' });
    const counted = await Promise.all(Array.from({ length: 10 }, () => state.increment('counter')));
    expect(counted.map(({ value, version }) => [value, version])).toEqual(
      Array.from({ length: 10 }, (_, index) => [index + 1, index + 1]),
    );
    expect((await state.get('counter'))?.value).toBe(10);
    await state.close();
  });
});
