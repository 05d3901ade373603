/** A harmful change that a person could make, and what must notice it. */
export interface Mutant {
  readonly id: string;
  /** Relative to the repository. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  /** The test files of vitest that must fail; or one script and its arguments, which must end with 1. */
  readonly caughtBy: readonly string[];
}

/** Bounded: a share of the crash states of one workload. */
export function crash(workload: string, states = 4_000): readonly string[] {
  return [
    'test/crash/run.ts',
    '--workload',
    workload,
    '--states',
    String(states),
    '--jobs',
    '1',
    '--seed',
    '1',
  ];
}

/** Bounded: the crash states of one sequence of operations. */
export function crashSequence(workload: string, sequence: string): readonly string[] {
  return ['test/crash/run.ts', '--workload', workload, '--sequence', sequence, '--seed', '1'];
}

/** Bounded: some random histories through one way in. */
export function wayIn(way: string, count = 500): readonly string[] {
  return ['test/ways-in/run.ts', '--way', way, '--count', String(count), '--jobs', '1', '--seed', '1'];
}

/** Mutants of one file share it. */
export function inFile(file: string, caughtBy: readonly string[], mutants: readonly Change[]): Mutant[] {
  return mutants.map(([id, find, replace, others]) => ({
    id,
    file,
    find,
    replace,
    caughtBy: others ?? caughtBy,
  }));
}

/** Name, text, what stands in its place; and what must notice it, where that is not what notices the others of the file. */
export type Change = readonly [id: string, find: string, replace: string, caughtBy?: readonly string[]];
