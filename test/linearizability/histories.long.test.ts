import { describe, expect, it } from 'vitest';
import { runHistories } from './run-histories.js';

/** Replays a run, as far as the processes keep to the same times. */
const seed = Number(process.env['REKINDLE_SEED'] ?? Date.now() % 2 ** 31);

describe('8 processes that change one shared state', () => {
  it('see one order of all changes, though some are killed and one is stopped past its right to write', async () => {
    console.log(`histories: REKINDLE_SEED=${seed}`);
    const report = await runHistories({ operations: 400, seed, kills: 2, pauses: [300, 5_200] });
    expect(report.violations).toEqual([]);
    expect(report).toMatchObject({ kills: 2, pauses: 2, longPauses: 1, histories: 5 });
    expect(report.operations).toBeGreaterThanOrEqual(400);
  }, 60_000);
});
