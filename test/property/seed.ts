/**
 * One seed replays one run: `REKINDLE_SEED=... npx vitest run <file>`. More runs: `REKINDLE_RUNS=2000`. `npm test` does a share of the
 * usual number, `npm run test:long` all.
 */
export interface RunParameters {
  readonly seed: number;
  readonly numRuns: number;
}

export function runParameters(name: string, numRuns: number): RunParameters {
  const seed = Number(process.env['REKINDLE_SEED'] ?? Date.now() % 2 ** 31);
  const share = Number(process.env['REKINDLE_RUNS_SHARE'] ?? 1);
  const runs = Number(process.env['REKINDLE_RUNS'] ?? Math.ceil(numRuns * share));
  console.log(`${name}: REKINDLE_SEED=${seed} REKINDLE_RUNS=${runs}`);
  return { seed, numRuns: runs };
}
