/** A bounded share of what `run.ts` explores: all short sequences, up to a number of states for each workload. */
import { describe, expect, it } from 'vitest';
import { exploreSequence } from './explorer.js';
import { SeenStates } from './seen-states.js';
import { exhaustiveSequences, randomSequences } from './sequences.js';
import { POWER } from './workload.js';
import { workloads } from './workloads/all.js';
import { streamedAnswer } from './workloads/streamed-answer.js';

/** `.ci/run` explores two million. */
const STATES_EACH = 40;
/** Each of their states reads and writes many files. */
const STATES_DEAR = 10;
const DEAR: ReadonlySet<string> = new Set(['checkpoints', 'checkpoint-keys', 'recall']);
/** A second or two where the machine is free. */
const TIMEOUT_MS = 60_000;

describe('every crash state is recovered from', { timeout: TIMEOUT_MS }, () => {
  it.each(workloads.map((workload) => [workload.name, workload] as const))(
    'in the workload %s',
    async (_, workload) => {
      const seen = new SeenStates();
      const states = DEAR.has(workload.name) ? STATES_DEAR : STATES_EACH;
      const explore = async (
        sequences: Iterable<string[]>,
        until: number,
        options: object,
      ): Promise<void> => {
        for (const sequence of sequences) {
          if (seen.size >= until) return;
          const violation = await exploreSequence(workload, sequence, seen, { seed: 1, ...options });
          expect(
            violation && `${violation.sequence.join(', ')}: ${violation.message}\n${violation.description}`,
          ).toBeNull();
        }
      };
      // Of recall, one short sequence alone has thousands of states.
      const bound = workload.name === 'recall' ? { statesMax: states } : {};
      await explore(exhaustiveSequences(workload.alphabet), states / 2, bound);
      await explore(randomSequences(workload.alphabet, 1), states, {
        allPoints: true,
        perPoint: 20,
        statesMax: 150,
        branches: 3,
      });
      expect(seen.size).toBeGreaterThanOrEqual(states);
    },
  );
});

/** Violated once; each is replayed as it was found. */
const FOUND = [{ workload: streamedAnswer, sequence: ['ask', POWER, 'ask'], seed: 20261127 }];

it.each(FOUND)(
  '$workload.name: $sequence stays mended',
  { timeout: TIMEOUT_MS },
  async ({ workload, sequence, seed }) => {
    const violation = await exploreSequence(workload, sequence, new SeenStates(), { seed });
    expect(violation?.message ?? null).toBeNull();
  },
);
