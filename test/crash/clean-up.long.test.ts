/** One sequence of `run.ts`, with enough of its states to tell a clean-up that relies on what may not last. */
import { expect, it } from 'vitest';
import { exploreSequence } from './explorer.js';
import { SeenStates } from './seen-states.js';
import { KILL } from './workload.js';
import { workloads } from './workloads/all.js';

it('every crash state is recovered from in a clean-up by a process that read what the one before did not make durable', async () => {
  const workload = workloads.find(({ name }) => name === 'checkpoints')!;
  const sequence = ['save', 'delete newest', KILL, 'prune'];
  const violation = await exploreSequence(workload, sequence, new SeenStates(), {
    seed: 1,
    statesMax: 1_000,
  });
  expect(violation?.message).toBeUndefined();
});
