/**
 * One PostgreSQL cluster for a whole run of the tests, as it takes two seconds to start: each test makes a schema of its own in it.
 * Workers find it in REKINDLE_TEST_POSTGRES; whoever sets that beforehand has a server, and none is started.
 */
import { postgresMissing, startPostgres } from './postgres-cluster.js';

export default async function postgres(): Promise<(() => Promise<void>) | undefined> {
  if (process.env['REKINDLE_TEST_POSTGRES']) return undefined;
  const cluster = await startPostgres();
  if (cluster === null) {
    console.warn(postgresMissing());
    return undefined;
  }
  process.env['REKINDLE_TEST_POSTGRES'] = cluster.url;
  return async () => {
    delete process.env['REKINDLE_TEST_POSTGRES'];
    await cluster.stop();
  };
}
