/** What stands in PostgreSQL of one agent, read past the library: the rows themselves. */
import fs from 'node:fs/promises';
import type { Client } from 'pg';
import type { JsonObject } from '../../src/core/json.js';
import { keyOf } from '../../src/storage/name-key.js';

export interface StoredRow {
  readonly seq: number;
  readonly body: JsonObject;
}

export interface ToolRun {
  readonly key: string;
  readonly tag: string;
  readonly tool: string;
}

export interface StoredAgent {
  readonly agentId: string;
  /** What the stream says of its last row. */
  readonly head: number;
  readonly traces: readonly StoredRow[];
  readonly ledger: readonly StoredRow[];
  readonly runs: readonly ToolRun[];
}

/** Traces before runs before ledger: what an earlier one shows must be in the later ones, also while an owner works. */
export async function readAgent(client: Client, agentId: string, effectsFile: string): Promise<StoredAgent> {
  const traces = await rowsOf(client, agentId, 'raw_traces');
  const runs = await readRuns(effectsFile, agentId);
  const ledger = await rowsOf(client, agentId, 'pending_calls');
  return { agentId, head: await headOf(client, agentId), traces, ledger, runs };
}

export async function headOf(client: Client, agentId: string): Promise<number> {
  const key = keyOf(['agents', agentId, 'raw_traces']);
  const { rows } = await client.query<{ seq: string }>('SELECT seq FROM rekindle.streams WHERE key = $1', [
    key,
  ]);
  return Number(rows[0]?.seq ?? 0);
}

async function rowsOf(client: Client, agentId: string, journal: string): Promise<StoredRow[]> {
  const sql = 'SELECT seq, body FROM rekindle.records WHERE key = $1 ORDER BY seq';
  const key = keyOf(['agents', agentId, journal]);
  const { rows } = await client.query<{ seq: string; body: string }>(sql, [key]);
  return rows.map(({ seq, body }) => ({ seq: Number(seq), body: JSON.parse(body) as JsonObject }));
}

async function readRuns(effectsFile: string, agentId: string): Promise<ToolRun[]> {
  const text = await fs.readFile(effectsFile, 'utf8');
  const lines = text.split('\n').slice(0, -1);
  const runs = lines.map((line) => {
    const [key = '', tag = '', tool = ''] = line.split(' ');
    return { key, tag, tool };
  });
  return runs.filter(({ key }) => key.startsWith(`${agentId}/`));
}
