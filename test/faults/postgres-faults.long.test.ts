/** A share of `tsx test/faults/run.ts postgres`, and the bugs that it has to find. */
import { describe, expect, it } from 'vitest';
import { postgresBinaries } from '../support/postgres-binaries.js';
import { postgresMissing } from '../support/postgres-cluster.js';
import { postgresFaults } from './postgres-faults.js';

const SEED = 7;
const isMissing = postgresBinaries() === null;
if (isMissing) console.warn(postgresMissing());

describe.skipIf(isMissing)('writers of a store in PostgreSQL', () => {
  it('are told the truth while its server is killed and the network fails', {
    timeout: 120_000,
  }, async () => {
    const report = await postgresFaults.run({ count: 5, seed: SEED, log: () => {} });
    expect(report.violations).toEqual([]);
    expect(report.counts).toMatchObject({ rounds: 5 });
  });

  it.each(['blind-retry', 'no-time-outs'] as const)(
    'with the planted bug %s are found out',
    { timeout: 180_000 },
    async (plant) => {
      const report = await postgresFaults.run({ count: 16, seed: SEED, plant, log: () => {} });
      const found = plant === 'blind-retry' ? /was refused|met a conflict/ : /more than \d+: no end/;
      expect(report.violations.join('\n')).toMatch(found);
    },
  );
});
