/**
 * What a fleet of agents costs in one PostgreSQL: statements, commits, log and bytes of a turn, rows and indexes of an agent. The
 * arithmetic of `docs/scale.md` starts from these figures. A cluster of its own on loopback, with fsync on.
 */
import pg from 'pg';
import { openMemory } from '../src/memory/open-memory.js';
import { PostgresStorage } from '../src/storage/postgres/postgres-storage.js';
import { postgresMissing, startPostgres } from '../test/support/postgres-cluster.js';
import { median, printTable, textOfSize } from './support.js';

const AGENTS = Number(process.env['REKINDLE_SCALE_AGENTS'] ?? 1_000);
const TURNS = 5;
const MESSAGE_BYTES = 2_000;
const AT_ONCE = 50;

interface Totals {
  readonly commits: number;
  readonly logBytes: number;
}

async function totals(client: pg.Client): Promise<Totals> {
  // Statistics of other connections arrive with a delay.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const { rows } = await client.query<{ commits: string; log: string }>(
    `SELECT xact_commit AS commits, pg_current_wal_insert_lsn() - '0/0' AS log FROM pg_stat_database WHERE datname = current_database()`,
  );
  return { commits: Number(rows[0]!.commits), logBytes: Number(rows[0]!.log) };
}

async function eachAgent(work: (agent: number) => Promise<void>): Promise<number> {
  const start = performance.now();
  let next = 0;
  const worker = async () => {
    for (let agent = next++; agent < AGENTS; agent = next++) await work(agent);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return performance.now() - start;
}

async function liveFor(
  storage: PostgresStorage,
  agent: number,
  turns: number,
  times: number[],
): Promise<void> {
  const opened = await openMemory(storage, `agent-${agent}`, { compaction: null });
  const { memory } = opened;
  await memory.begin('You are a bench.');
  for (let turn = 0; turn < turns; turn += 1) {
    const start = performance.now();
    const turnId = memory.startTurn();
    await memory.ingestUserMessage(textOfSize(MESSAGE_BYTES, agent + turn), turnId);
    await memory.ingestAssistantResponse({ content: textOfSize(MESSAGE_BYTES, agent - turn) }, turnId);
    times.push(performance.now() - start);
  }
  await opened.close();
}

async function main(): Promise<void> {
  const cluster = await startPostgres();
  if (!cluster) {
    console.log(postgresMissing());
    return;
  }
  const client = new pg.Client({ connectionString: cluster.url });
  await client.connect();
  const storage = new PostgresStorage(cluster.url);
  try {
    await liveFor(storage, -1, 1, []); // the schema
    const start = await totals(client);
    await eachAgent((agent) => liveFor(storage, agent, 1, []));
    const opened = await totals(client);
    const times: number[] = [];
    const elapsed = await eachAgent((agent) => liveFor(storage, agent, TURNS, times));
    const after = await totals(client);
    // The second life opened each agent once more, as the first did: what is left is turns alone.
    const turns = AGENTS * (TURNS - 1);
    const perTurn = (key: keyof Totals) => (after[key] - opened[key] - (opened[key] - start[key])) / turns;
    const turnsInAll = AGENTS * (TURNS + 1);
    printTable(
      `${AGENTS} agents of ${TURNS + 1} turns in one PostgreSQL`,
      ['', 'a turn', 'an agent that is opened, for one turn, and closed'],
      [
        ['commits', perTurn('commits').toFixed(1), ((opened.commits - start.commits) / AGENTS).toFixed(1)],
        [
          'log (WAL), bytes',
          perTurn('logBytes').toFixed(0),
          ((opened.logBytes - start.logBytes) / AGENTS).toFixed(0),
        ],
      ],
    );
    console.log(
      `\n${AT_ONCE} agents at once, 10 connections: ${((AGENTS * TURNS) / (elapsed / 1000)).toFixed(0)} turns a second, opening included; a turn ${median(times).toFixed(1)} ms (p50).\n`,
    );
    await client.query('VACUUM ANALYZE');
    const { rows } = await client.query<{ name: string; rows: string; table: string; index: string }>(
      `SELECT regexp_replace(c.relname, '_\\d{3}$', '') AS name, sum(c.reltuples)::bigint AS rows,
         sum(pg_table_size(c.oid)) AS table, sum(pg_indexes_size(c.oid)) AS index
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = 'rekindle' AND c.relkind = 'r' GROUP BY 1 ORDER BY 3 DESC`,
    );
    printTable(
      'what is stored of them',
      ['table', 'rows an agent', 'bytes a turn', 'index bytes a turn'],
      rows.map(({ name, rows: count, table, index }) => [
        name,
        (Number(count) / AGENTS).toFixed(1),
        (Number(table) / turnsInAll).toFixed(0),
        (Number(index) / turnsInAll).toFixed(0),
      ]),
    );
    const { rows: counts } = await client.query<{ count: string }>(
      "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'rekindle'",
    );
    console.log(`\nConnections: ${counts[0]!.count}. A turn is two messages of ${MESSAGE_BYTES} bytes.`);
  } finally {
    await storage.close();
    await client.end();
    await cluster.stop();
  }
}

await main();
