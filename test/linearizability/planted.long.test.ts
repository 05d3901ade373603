/** The check of histories is evidence only if it refuses stores that are not linearizable. */
import { expect, it } from 'vitest';
import { BUGS } from './client-plan.js';
import { runHistories } from './run-histories.js';

const seed = Number(process.env['REKINDLE_SEED'] ?? Date.now() % 2 ** 31);

it.each(BUGS)(
  'a store with the planted bug %s is refused',
  async (bug) => {
    console.log(`histories: REKINDLE_SEED=${seed}`);
    const report = await runHistories({ operations: 300, seed, kills: 0, pauses: [], bug });
    expect(report.violations.join('\n')).toContain('no order of the operations');
  },
  60_000,
);
