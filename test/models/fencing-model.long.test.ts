/** The lease and the seal, explored in every interleaving; and each rule, left out, is seen to be needed. */
import { describe, expect, it } from 'vitest';
import { type ClaimMode, explore, type PlantedFault } from './fencing-model.js';

/** With how many take-overs of the third actor each fault shows. */
const FAULTS: readonly [PlantedFault, number][] = [
  ['no check', 1],
  ['check before the write', 1],
  ['no seal', 1],
  ['number written over', 1],
];

describe.each<ClaimMode>(['link', 'create'])('leases by %s', (mode) => {
  it('lose nothing that was acknowledged, and read nothing behind a seal', () => {
    const { states, bad, path } = explore(mode, 1);
    expect(path).toBeNull();
    expect(bad).toBe(0);
    expect(states).toBeGreaterThan(4_000);
  });

  it.each(FAULTS)('need what this fault leaves out: %s', (fault, lives) => {
    expect(explore(mode, lives, fault).bad).toBeGreaterThan(0);
  });
});
