/** A share of the mutations. `tsx test/tampering/run.ts --count 100000` tries many more. */
import { expect, it } from 'vitest';
import { runParameters } from '../property/seed.js';
import { Campaign, indicesOf } from './campaign.js';
import { makeStores } from './stores.js';
import { Tally } from './tally.js';

it('what was tampered with is exactly what was saved, or refused, and no change goes untold', {
  timeout: 60_000,
}, async () => {
  const { seed, numRuns } = runParameters('tampering', 120);
  const campaign = new Campaign(await makeStores(), { seed });
  const tally = new Tally();
  for await (const attempt of campaign.attempts(indicesOf(0, 1, numRuns))) tally.add(attempt);
  expect(tally.shown).toEqual([]);
  expect(tally.tried).toBe(numRuns);
});
