/**
 * Runs one fault suite to its full length:
 *
 *     tsx test/faults/run.ts kills --count 300 --seed 7
 *
 * Prints progress and, last, one line with the counts. Ends with 1 when something happened that must not.
 */
import { parseArgs } from 'node:util';
import { STORAGE_KINDS } from '../support/store-places.js';
import { bitFlips } from './bit-flips.js';
import { diskErrors } from './disk-errors.js';
import { type FaultSuite, seedFromEnvironment } from './fault-suite.js';
import { fullDisk } from './full-disk.js';
import { kills } from './kills.js';
import { pauses, pausesWhileSealing } from './pauses.js';
import { postgresFaults } from './postgres-faults.js';
import { syncOrder } from './sync-order.js';

const SUITES: Readonly<Record<string, FaultSuite>> = {
  kills,
  pauses,
  'pauses-sealing': pausesWhileSealing,
  errors: diskErrors,
  bitflips: bitFlips,
  fulldisk: fullDisk,
  postgres: postgresFaults,
  syncs: syncOrder,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string' },
    seed: { type: 'string' },
    storage: { type: 'string', default: 'file' },
  },
});
const name = positionals[0] ?? '';
const suite = SUITES[name];
const storage = STORAGE_KINDS.find((kind) => kind === values.storage);
if (!suite || !storage) {
  const kinds = STORAGE_KINDS.join(' | ');
  console.error(
    `usage: run.ts ${Object.keys(SUITES).join(' | ')} [--count N] [--seed S] [--storage ${kinds}]`,
  );
  process.exit(2);
}

const seed = Number(values.seed ?? seedFromEnvironment());
const count = Number(values.count ?? suite.defaultCount);
console.log(`${name}: ${suite.title}; count ${count}, REKINDLE_SEED=${seed}`);
const unhandled: string[] = [];
process.on('unhandledRejection', (reason) => unhandled.push(String(reason)));

const start = Date.now();
const report = await suite.run({ count, seed, storage, log: (line) => console.log(`  ${line}`) });
for (const text of [...report.violations, ...unhandled.map((text) => `unhandled rejection: ${text}`)]) {
  console.log(`  VIOLATION ${text}`);
}
const counts = Object.entries(report.counts).map(([key, value]) => `${key} ${value}`);
const seconds = ((Date.now() - start) / 1_000).toFixed(1);
if (report.skipped) console.log(`${name}: skipped: ${report.skipped}`);
const failed = report.violations.length + unhandled.length;
console.log(`${name}: ${failed === 0 ? 'ok' : 'FAILED'} in ${seconds} s; seed ${seed}; ${counts.join(', ')}`);
process.exitCode = failed === 0 ? 0 : 1;
