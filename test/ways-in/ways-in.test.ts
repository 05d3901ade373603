/** What comes in, whichever way, is the repaired original, and can be restored. `npm run test:ways-in` tries many more histories. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runParameters } from '../property/seed.js';
import { propertyOf, WAYS } from './ways.js';

it.each(WAYS.map((way) => [way.name, way] as const))('%s', async (name, way) => {
  let accepted = 0;
  const property = propertyOf(way, (verdict) => {
    if (verdict === 'accepted') accepted += 1;
  });
  const parameters = runParameters(`ways in, ${name}`, Math.ceil(120 * (way.share ?? 1)));
  await fc.assert(property, parameters);
  expect(accepted).toBeGreaterThan(parameters.numRuns / 2);
});
