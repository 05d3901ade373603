/** Random histories through one way in, in chunks that can be repeated alone; what fails is made as small as it can be. */
import fc from 'fast-check';
import { propertyOf, type Verdict, wayNamed } from './ways.js';

/** One chunk of a way: its number and the seed give its histories. */
export interface Chunk {
  readonly way: string;
  readonly number: number;
  readonly runs: number;
}

export interface ChunkReport {
  readonly way: string;
  readonly runs: number;
  readonly verdicts: Readonly<Record<Verdict, number>>;
  readonly milliseconds: number;
  readonly finding: Finding | null;
}

export interface Finding {
  readonly problem: string;
  /** The smallest history that was found to fail. */
  readonly history: string;
}

export const CHUNK_RUNS = 500;

export async function runChunk(seed: number, { way, number, runs }: Chunk): Promise<ChunkReport> {
  const verdicts: Record<Verdict, number> = { accepted: 0, refused: 0, 'not expressed': 0 };
  const start = performance.now();
  const property = propertyOf(wayNamed(way), (verdict) => {
    verdicts[verdict] += 1;
  });
  const result = await fc.check(property, { seed: (seed * 1009 + number) | 0, numRuns: runs });
  const milliseconds = performance.now() - start;
  if (!result.failed) return { way, runs, verdicts, milliseconds, finding: null };
  const { errorInstance: thrown } = result;
  const problem = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  const history = JSON.stringify(result.counterexample?.[0]);
  return { way, runs: result.numRuns, verdicts, milliseconds, finding: { problem, history } };
}
