/** Migrates a schema to this release's version. Safe for several processes at once. */
import { RekindleError } from '../../core/errors.js';
import { MIGRATIONS, type SchemaOptions } from './migrations.js';
import { sqlStateOf } from './postgres-errors.js';
import type { PostgresAttempt } from './postgres-pool.js';

/** Null if there is none. @throws UNSUPPORTED_VERSION, STORAGE_FAILED for a database with another encoding */
export async function schemaVersion(db: PostgresAttempt, schema: string): Promise<number | null> {
  const [encoding] = await db.query<{ server_encoding: string }>('SHOW server_encoding');
  if (encoding?.server_encoding.replace('-', '') !== 'UTF8') {
    throw new RekindleError('STORAGE_FAILED', 'The database must have the encoding UTF8.', {
      details: { encoding: encoding?.server_encoding ?? null },
    });
  }
  const version = await versionIn(db, schema);
  if (version === null || version <= MIGRATIONS.length) return version;
  throw new RekindleError(
    'UNSUPPORTED_VERSION',
    `The schema was written by a newer release (version ${version}).`,
    {
      details: { version, supported: MIGRATIONS.length },
    },
  );
}

async function versionIn(db: PostgresAttempt, schema: string): Promise<number | null> {
  try {
    const [row] = await db.query<{ version: number | null }>(
      `SELECT max(version)::bigint AS version FROM ${schema}.migrations`,
    );
    return row?.version ?? 0;
  } catch (thrown) {
    if (['42P01', '3F000'].includes(sqlStateOf(thrown) ?? '')) return null; // no such table, or no such schema
    throw thrown;
  }
}

export async function migrate(db: PostgresAttempt, options: SchemaOptions): Promise<void> {
  const { schema } = options;
  if ((await schemaVersion(db, schema)) === null) await makeSchema(db, schema);
  for (let version = (await schemaVersion(db, schema)) ?? 0; version < MIGRATIONS.length; version += 1) {
    await step(db, options, version + 1);
  }
}

async function makeSchema(db: PostgresAttempt, schema: string): Promise<void> {
  try {
    await db.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
    await db.query(`CREATE TABLE IF NOT EXISTS ${schema}.migrations (version bigint PRIMARY KEY)`);
  } catch (thrown) {
    if (!isRace(thrown)) throw thrown;
    await makeSchema(db, schema);
  }
}

/** The process that writes the number first runs the step; the others wait, and find it done. */
async function step(db: PostgresAttempt, options: SchemaOptions, version: number): Promise<void> {
  try {
    await db.transaction(async (tx) => {
      await tx.query(`INSERT INTO ${options.schema}.migrations (version) VALUES (${version})`);
      for (const sql of MIGRATIONS[version - 1]!(options)) await tx.query(sql);
    });
  } catch (thrown) {
    if (!isRace(thrown)) throw thrown;
  }
}

/** Two processes created the same at once: a unique violation, or the name exists already. */
function isRace(thrown: unknown): boolean {
  return ['23505', '42710', '42P06', '42P07'].includes(sqlStateOf(thrown) ?? '');
}
