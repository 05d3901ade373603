/** A few moves of the campaign, and one with a bug that it must find. */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { runParameters } from '../property/seed.js';
import { type PostgresCluster, postgresMissing, startPostgres } from '../support/postgres-cluster.js';
import { runMoves } from './moves.js';

const { seed, numRuns } = runParameters('moves', 6);
let cluster: PostgresCluster | null = null;

beforeAll(async () => {
  cluster = await startPostgres();
}, 60_000);

/** The next campaign begins with agents of the same names. */
afterEach(async () => {
  if (!cluster) return;
  const client = new pg.Client({ connectionString: cluster.url });
  await client.connect();
  await client.query('SET client_min_messages = warning');
  await client.query('DROP SCHEMA IF EXISTS rekindle CASCADE');
  await client.end();
});

afterAll(async () => {
  await cluster?.stop();
});

describe('an agent that moves between hosts', () => {
  it('loses nothing, doubles nothing, and runs no tool twice', {
    timeout: 60_000 + 15_000 * numRuns,
  }, async (context) => {
    if (!cluster) return context.skip(postgresMissing());
    const { violations, counts } = await runMoves(cluster, { count: numRuns, seed, log: () => {} });
    expect(violations).toEqual([]);
    expect(counts['refused at first']).toBeGreaterThan(0);
    expect(counts['turns']).toBeGreaterThan(0);
    expect(counts['tool runs that the ledger calls finished']).toBeGreaterThan(0);
  });

  it('is found to lose turns when an owner is not fenced', { timeout: 120_000 }, async (context) => {
    if (!cluster) return context.skip(postgresMissing());
    const { violations } = await runMoves(cluster, { count: 12, seed, plant: 'no-fence', log: () => {} });
    expect(violations.join('\n')).toMatch(/came back and was not fenced|wrote trace \d+ in the time of/);
  });
});
