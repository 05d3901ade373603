/** Opens a database: applies and verifies settings, and migrates the schema to this release. */
import { RekindleError } from '../../core/errors.js';
import { APPLICATION_ID, MIGRATIONS } from './migrations.js';
import { SqliteConnection } from './sqlite-connection.js';
import type { SqliteDriver } from './sqlite-driver.js';

/** A log that grew larger is truncated to this size. */
const LOG_BYTES_KEPT = 16 * 1024 * 1024;
const FULL = 2;
const NORMAL = 1;

export interface Connections {
  /** Every commit is synced before it is acknowledged. */
  readonly durable: SqliteConnection;
  /** Commits are synced together with the next commit of the other connection. */
  readonly volatile: SqliteConnection;
}

/**
 * @throws STORAGE_FAILED for a file of another program, or one that cannot be durable; UNSUPPORTED_VERSION for a file
 * of a newer release
 */
export function openDatabase(driver: SqliteDriver, file: string, busyTimeoutMs: number): Connections {
  const durable = connect(driver, file, busyTimeoutMs, FULL);
  try {
    migrate(durable, file);
    return { durable, volatile: connect(driver, file, busyTimeoutMs, NORMAL) };
  } catch (thrown) {
    durable.close();
    throw thrown;
  }
}

function connect(
  driver: SqliteDriver,
  file: string,
  busyTimeoutMs: number,
  synchronous: number,
): SqliteConnection {
  const connection = new SqliteConnection(new driver.DatabaseSync(file));
  try {
    connection.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    assertOurs(connection, file); // before anything is changed
    const { journal_mode: mode } = connection.get('PRAGMA journal_mode = WAL') ?? {};
    if (mode !== 'wal') throw notDurable(file, `its journal mode is ${String(mode)}, not WAL`);
    connection.exec(`PRAGMA synchronous = ${synchronous}`);
    connection.exec('PRAGMA secure_delete = ON'); // deleted data is overwritten
    connection.exec('PRAGMA wal_autocheckpoint = 0'); // see `SqliteStore.checkpoint`
    connection.exec(`PRAGMA journal_size_limit = ${LOG_BYTES_KEPT}`);
    // On macOS an ordinary sync does not reach the disk.
    connection.exec('PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON');
    return connection;
  } catch (thrown) {
    connection.close();
    throw thrown;
  }
}

/** The setting may read differently before and after the first write. @throws STORAGE_FAILED */
export function assertSynchronous(connection: SqliteConnection, file: string): void {
  const value = Number(Object.values(connection.get('PRAGMA synchronous') ?? {})[0]);
  if (value !== FULL) throw notDurable(file, `synchronous is ${value} after the first write, not ${FULL}`);
}

function assertOurs(connection: SqliteConnection, file: string): void {
  const { id, tables } = connection.get<{ id: number; tables: number }>(
    'SELECT application_id AS id, (SELECT count(*) FROM sqlite_schema) AS tables FROM pragma_application_id',
  ) ?? { id: 0, tables: 0 };
  if (id === APPLICATION_ID || (id === 0 && tables === 0)) return;
  throw new RekindleError('STORAGE_FAILED', `${file} belongs to another program; it was not changed.`, {
    details: { path: file, applicationId: id },
  });
}

/** Each step has its own transaction; several processes may open a new file at once. */
function migrate(connection: SqliteConnection, file: string): void {
  const version = () =>
    connection.get<{ version: number }>('SELECT user_version AS version FROM pragma_user_version')!.version;
  if (version() === MIGRATIONS.length) return;
  connection.exec('BEGIN IMMEDIATE');
  try {
    const from = version();
    if (from > MIGRATIONS.length) {
      throw new RekindleError(
        'UNSUPPORTED_VERSION',
        `${file} was written by a newer release (schema ${from}).`,
        {
          details: { path: file, version: from, supported: MIGRATIONS.length },
        },
      );
    }
    for (const step of MIGRATIONS.slice(from)) connection.exec(step);
    connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${MIGRATIONS.length}`);
    connection.exec('COMMIT');
  } catch (thrown) {
    connection.exec('ROLLBACK');
    throw thrown;
  }
}

function notDurable(file: string, why: string): RekindleError {
  return new RekindleError('STORAGE_FAILED', `${file} cannot be made durable: ${why}.`, {
    details: { path: file, why },
  });
}
