/** PostgreSQL as storage, as `PostgresStorage` makes it, that tells before and after each append; and may have a bug planted. */
import { PostgresEngine } from '../../src/storage/postgres/postgres-engine.js';
import { PostgresPool } from '../../src/storage/postgres/postgres-pool.js';
import type { ProcessIdentity } from '../../src/storage/process-identity.js';
import type { SqlAnswer, SqlEngine, SqlOperation, SqlRequest } from '../../src/storage/sql/sql-engine.js';
import { SqlStorage } from '../../src/storage/sql/sql-storage.js';
import type { Plant } from './child-lines.js';

/** Short, so that a host that is cut off knows soon. */
const QUERY_MS = 750;
const DEADLINE_MS = 2_000;

export interface ToldOptions {
  readonly url: string;
  readonly identity: ProcessIdentity;
  readonly plant: Plant | null;
  readonly tell: (what: 'append' | 'appended' | 'append-fenced') => void;
}

export class ToldStorage extends SqlStorage {
  readonly place = 'the shared store';

  constructor({ url, identity, plant, tell }: ToldOptions) {
    const pool = new PostgresPool({
      url,
      connectionsMax: 4,
      connectMs: QUERY_MS,
      queryMs: QUERY_MS,
      prepare: true,
    });
    const engine = new PostgresEngine(pool, {
      url,
      place: 'the shared store',
      schema: 'rekindle',
      partitions: 4,
      deadlineMs: DEADLINE_MS,
      notify: true,
      unsyncedCommits: true,
    });
    super(new ToldEngine(plant === null ? engine : new UnfencedEngine(engine), tell), { identity });
  }
}

class ToldEngine implements SqlEngine {
  readonly #engine: SqlEngine;
  readonly #tell: ToldOptions['tell'];

  constructor(engine: SqlEngine, tell: ToldOptions['tell']) {
    this.#engine = engine;
    this.#tell = tell;
  }

  async run<K extends SqlOperation>(operation: K, request: SqlRequest<K>): Promise<SqlAnswer<K>> {
    if (operation !== 'append') return this.#engine.run(operation, request);
    this.#tell('append');
    const answer = await this.#engine.run(operation, request);
    this.#tell(answer === 'fenced' ? 'append-fenced' : 'appended');
    return answer;
  }

  watch(onHint: (keys: readonly string[] | null) => void): Promise<() => Promise<void>> {
    return this.#engine.watch(onHint);
  }

  scrub(quick: boolean): Promise<void> {
    return this.#engine.scrub(quick);
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}

/** The planted bug: whoever once had the lease has it for ever. */
class UnfencedEngine implements SqlEngine {
  readonly #engine: SqlEngine;

  constructor(engine: SqlEngine) {
    this.#engine = engine;
  }

  async run<K extends SqlOperation>(operation: K, request: SqlRequest<K>): Promise<SqlAnswer<K>> {
    const answer = await this.#engine.run(operation, request);
    if (operation === 'holdsLease' || operation === 'beatLease') return true as SqlAnswer<K>;
    if (operation !== 'append' || answer !== 'fenced') return answer;
    const append = request as SqlRequest<'append'>;
    const { key } = append.lease;
    const standing = await this.#engine.run('readLease', { key, nowMs: null });
    const lease = { key, fence: standing?.fence ?? 0 };
    return (await this.#engine.run('append', { ...append, lease })) as SqlAnswer<K>;
  }

  watch(onHint: (keys: readonly string[] | null) => void): Promise<() => Promise<void>> {
    return this.#engine.watch(onHint);
  }

  scrub(quick: boolean): Promise<void> {
    return this.#engine.scrub(quick);
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}
