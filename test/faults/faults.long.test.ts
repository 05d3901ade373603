/** The fault suites, each for a few seconds. `tsx test/faults/run.ts <suite>` runs them to their full length. */
import { describe, expect, it } from 'vitest';
import { bitFlips } from './bit-flips.js';
import { diskErrors } from './disk-errors.js';
import { type FaultSuite, seedFromEnvironment } from './fault-suite.js';
import { fullDisk } from './full-disk.js';
import { kills } from './kills.js';
import { pauses, pausesWhileSealing } from './pauses.js';

const seed = seedFromEnvironment();

/** A share of each: `.ci/run` runs all but the sealing ones to their full length. */
const SUITES: readonly [FaultSuite, number][] = [
  [kills, 4],
  [pauses, 3],
  [pausesWhileSealing, 6],
  [diskErrors, 40],
  [bitFlips, 300],
  [fullDisk, 16],
];

describe('a store on a real disk keeps what it acknowledged, and tells what it cannot keep', () => {
  for (const [suite, count] of SUITES) {
    it(`when ${suite.title}`, { timeout: 120_000 }, async (context) => {
      console.log(`faults: REKINDLE_SEED=${seed}`);
      const report = await suite.run({ count, seed, log: () => {} });
      expect(report.violations).toEqual([]);
      if (report.skipped) context.skip(report.skipped);
      expect(Object.keys(report.counts).length).toBeGreaterThan(0);
    });
  }
});
