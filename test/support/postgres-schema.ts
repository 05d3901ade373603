/** Schemas of tests in the server that `postgres-global.ts` names. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';

export function testPostgres(): string | null {
  return process.env['REKINDLE_TEST_POSTGRES'] || null;
}

export function newSchemaName(): string {
  return `test_${randomBytes(6).toString('hex')}`;
}

const TABLES = ['streams', 'records', 'leases', 'documents', 'document_pieces', 'blobs'];

/** Takes away what a test left; making a schema takes longer. Deleting a few rows is faster than truncating tables. */
export async function emptySchema(url: string, schema: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(TABLES.map((table) => `DELETE FROM ${schema}.${table};`).join(''));
  } catch (thrown) {
    const { code } = thrown as { readonly code?: string };
    if (code !== '42P01' && code !== '3F000') throw thrown; // nothing was written: it is not there
  } finally {
    await client.end();
  }
}
