/**
 * An agent that moves between two hosts that share one PostgreSQL. Its owner is killed, cut off or stopped at some point of its work;
 * the other host restores it as soon as the lease lets it, and goes on; then the old owner comes back, and must find itself fenced.
 * After each move, what is stored is held against what the owners were told.
 */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { SeededRandom } from '../../src/storage/simulated/seeded-random.js';
import type { PostgresCluster } from '../support/postgres-cluster.js';
import { AgentMoves, type AgentMovesOptions, LEASE_TTL_MS } from './agent-moves.js';
import { buildChildren } from './child-build.js';
import type { Plant } from './child-lines.js';
import { type Heard, Host } from './host.js';
import { type Link, ProxyLink } from './link.js';
import { planMove } from './move-plan.js';
import { type MovesReport, MoveTally } from './move-tally.js';
import { openNamespaceLinks } from './namespace-links.js';

export interface MovesOptions {
  readonly count: number;
  readonly seed: number;
  /** Each host in a network namespace of its own: needs root and iproute2. Default: a proxy in front of each. */
  readonly namespaces?: boolean;
  readonly plant?: Plant;
  readonly log: (line: string) => void;
}

/** An agent is moved this often, then a new one begins: reading all of it grows with its age. */
const MOVES_PER_AGENT = 12;

export async function runMoves(cluster: PostgresCluster, options: MovesOptions): Promise<MovesReport> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-moves-'));
  const effectsFile = path.join(folder, 'effects');
  const build = path.join(folder, 'build');
  const client = new pg.Client({ connectionString: cluster.url });
  client.on('error', () => {}); // told by the query that fails
  const hosts: Host[] = [];
  let links: readonly Link[] = [];
  try {
    await fs.writeFile(effectsFile, '');
    await buildChildren(build, ['test/moves/host-child', 'test/moves/relay-child']);
    await client.connect();
    links = options.namespaces
      ? await openNamespaceLinks({ folder, build, port: cluster.port })
      : [await openProxy(cluster), await openProxy(cluster)];
    let onLine = (_: Heard) => {};
    for (const [index, link] of links.entries()) {
      const settings = { ...settingsFor(cluster, link), host: `host-${'ab'[index]}`, effectsFile };
      hosts.push(new Host(link, build, { ...settings, ...planted(options) }, (line) => onLine(line)));
    }
    const tally = new MoveTally();
    const given = { hosts, client, effectsFile, tally, random: new SeededRandom(options.seed) };
    await moveAgents(given, options, (hear) => (onLine = hear));
    for (const { name, errors } of hosts) if (errors !== '') tally.complain(`${name} complained: ${errors}`);
    return tally.report();
  } finally {
    await Promise.all(hosts.map((host) => host.kill()));
    for (const link of links) await link.close();
    await client.end();
    await fs.rm(folder, { recursive: true, force: true });
  }
}

async function moveAgents(
  given: Omit<AgentMovesOptions, 'agentId' | 'first'>,
  { count, plant, log }: MovesOptions,
  listen: (hear: (line: Heard) => void) => void,
): Promise<void> {
  const { tally, random } = given;
  for (let done = 0; done < count && !tally.isEnough(plant); ) {
    const moves = new AgentMoves({ ...given, agentId: `agent-${done}`, first: done });
    listen((line) => moves.hear(line));
    await moves.begin();
    const last = Math.min(count, done + MOVES_PER_AGENT);
    for (; done < last && !tally.isEnough(plant); done += 1) {
      await moves.move(planMove(random));
      log(`${done + 1} of ${count} moves: ${tally.lastMove}`);
    }
    await moves.end();
  }
}

function openProxy({ port }: PostgresCluster): Promise<Link> {
  return ProxyLink.open({ host: '127.0.0.1', port });
}

function settingsFor(cluster: PostgresCluster, { address }: Link) {
  const url = new URL(cluster.url);
  url.hostname = address.host;
  url.port = String(address.port);
  return { url: url.href, leaseTtlMs: LEASE_TTL_MS };
}

function planted({ plant }: MovesOptions) {
  return plant === undefined ? {} : { plant };
}
