/** One seed replays one run: `REKINDLE_SEED=... npx vitest run <file>`. More runs: `REKINDLE_RUNS=2000`. */
export interface RunParameters {
  readonly seed: number;
  readonly numRuns: number;
}

export function runParameters(name: string, numRuns: number): RunParameters {
  const seed = Number(process.env['REKINDLE_SEED'] ?? Date.now() % 2 ** 31);
  const runs = Number(process.env['REKINDLE_RUNS'] ?? numRuns);
  console.log(`${name}: REKINDLE_SEED=${seed} REKINDLE_RUNS=${runs}`);
  return { seed, numRuns: runs };
}
