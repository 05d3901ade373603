/** One connection: statements are prepared once, and a transaction is all or nothing. */
import { countClosed } from './closed-connections.js';
import type { SqliteDatabase, SqliteRow, SqliteStatement, SqliteValue } from './sqlite-driver.js';

export class SqliteConnection {
  readonly #database: SqliteDatabase;
  readonly #statements = new Map<string, SqliteStatement>();

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  /** Returns the number of changed rows. */
  run(sql: string, ...values: readonly SqliteValue[]): number {
    return Number(this.#prepared(sql).run(...values).changes);
  }

  get<Row extends SqliteRow>(sql: string, ...values: readonly SqliteValue[]): Row | null {
    return (this.#prepared(sql).get(...values) as Row | undefined) ?? null;
  }

  all<Row extends SqliteRow>(sql: string, ...values: readonly SqliteValue[]): Row[] {
    return this.#prepared(sql).all(...values) as Row[];
  }

  /** For long results that may be left early. */
  each<Row extends SqliteRow>(sql: string, ...values: readonly SqliteValue[]): Iterable<Row> {
    return this.#prepared(sql).iterate(...values) as Iterable<Row>;
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  #prepared(sql: string): SqliteStatement {
    let statement = this.#statements.get(sql);
    if (!statement) this.#statements.set(sql, (statement = this.#database.prepare(sql)));
    return statement;
  }

  close(): void {
    this.#statements.clear();
    countClosed();
    this.#database.close();
  }
}
