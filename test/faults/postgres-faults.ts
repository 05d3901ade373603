/**
 * A PostgreSQL server that is killed, and a network that is cut, silent or late, under writers in several processes; then everything
 * that they were told must be true.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { messageOf } from '../../src/core/errors.js';
import type { StorageBackend } from '../../src/storage/ports.js';
import { SeededRandom } from '../../src/storage/simulated/seeded-random.js';
import { type PostgresCluster, postgresMissing, startPostgres } from '../support/postgres-cluster.js';
import { buildChildren, startChild } from './child-build.js';
import {
  type FaultOptions,
  type FaultReport,
  type FaultSuite,
  FaultTally,
  progress,
  withTempFolder,
} from './fault-suite.js';
import { PostgresLedger } from './postgres-ledger.js';
import { observeFound, openPostgres, type PostgresBug, type StoreSettings } from './postgres-store.js';
import { PostgresWriter, type WriterEvent, type WriterSettings } from './postgres-writer.js';
import { PROXY_FAULTS, type ProxyFault, TcpProxy } from './tcp-proxy.js';

type Settings = WriterSettings & StoreSettings;
type RoundFault = ProxyFault | 'kill';

const SCHEMA = 'faults';
const LIMITS = { deadlineMs: 6_000, queryMs: 1_500, connectionsMax: 4 };
/** One that gives up soon, so that there are unknown outcomes. */
const HASTY = { ...LIMITS, deadlineMs: 2_000, queryMs: 700 };
const HEARD_WITHIN_MS = 6_000;
const BUGS: readonly PostgresBug[] = ['blind-retry', 'no-time-outs'];

export const postgresFaults: FaultSuite = {
  title: 'its PostgreSQL server is killed, or the network to it fails',
  defaultCount: 50,
  run: async (options) => {
    const cluster = await startPostgres();
    if (cluster === null) return { counts: {}, violations: [], skipped: postgresMissing() };
    try {
      return await withTempFolder((folder) => new Campaign(cluster, folder, options).run());
    } finally {
      await cluster.stop();
    }
  },
};

/** A writer here or in a process of its own. */
interface Driven {
  readonly name: string;
  go(round: number): void;
  pause(): Promise<void>;
  end(): Promise<void>;
}

class Campaign {
  readonly #cluster: PostgresCluster;
  readonly #folder: string;
  readonly #options: FaultOptions;
  readonly #tally = new FaultTally();
  readonly #ledger = new PostgresLedger(this.#tally);
  readonly #random: SeededRandom;
  readonly #bug: PostgresBug | undefined;
  readonly #heard = new Set<string>();
  #proxies: readonly TcpProxy[] = [];
  #writers: readonly Driven[] = [];
  #deck: RoundFault[] = [];

  constructor(cluster: PostgresCluster, folder: string, options: FaultOptions) {
    this.#cluster = cluster;
    this.#folder = folder;
    this.#options = options;
    this.#random = new SeededRandom(options.seed);
    this.#bug = BUGS.find((bug) => bug === options.plant);
  }

  async run(): Promise<FaultReport> {
    const tell = progress(this.#options.log);
    const unhandled = (thrown: unknown) => this.#tally.violation(`nobody caught: ${messageOf(thrown)}`);
    process.on('unhandledRejection', unhandled);
    process.on('uncaughtException', unhandled);
    const stopObserving = observeFound(() => this.#ledger.hear({ t: 'found' }));
    const direct = openPostgres({
      ...LIMITS,
      url: `${this.#cluster.url}?application_name=direct`,
      schema: SCHEMA,
    });
    const random = () => new SeededRandom(this.#random.bits());
    const start = () => TcpProxy.start(this.#cluster.port, random());
    this.#proxies = [await start(), await start()];
    const watcher = openPostgres({ ...LIMITS, url: this.#urlThrough(0), schema: SCHEMA });
    try {
      await direct.documents.write(['watched', 'begin'], 0);
      await watcher.watch(['watched'], ({ path: changed }) => this.#heard.add(changed));
      this.#writers = await this.#startWriters();
      const { count } = this.#options;
      for (let round = 0; round < count && !this.#tally.isEnough(this.#options); round += 1) {
        await this.#round(round, direct);
        tell(
          () =>
            `${round + 1} of ${count} rounds, ${this.#tally.counts['append acknowledged']} appends acknowledged`,
        );
      }
      await this.#endInSilence(watcher);
    } finally {
      await Promise.all(this.#proxies.map((proxy) => proxy.close()));
      await direct.close();
      stopObserving();
      process.off('unhandledRejection', unhandled);
      process.off('uncaughtException', unhandled);
    }
    this.#tally.add('longest call in ms', this.#ledger.longestMs);
    this.#tally.add(
      'answers cut off',
      this.#proxies.reduce((sum, { answersCut }) => sum + answersCut, 0),
    );
    return this.#tally.report();
  }

  #urlThrough(proxy: number): string {
    return this.#cluster.url.replace(`:${this.#cluster.port}/`, `:${this.#proxies[proxy]!.port}/`);
  }

  async #startWriters(): Promise<Driven[]> {
    await buildChildren(this.#folder);
    const settings = (name: string, proxy: number, limits: typeof LIMITS): Settings => {
      return {
        name,
        ...limits,
        url: this.#urlThrough(proxy),
        schema: SCHEMA,
        seed: this.#random.bits(),
        bug: this.#bug,
      };
    };
    return [
      this.#here(settings('here', 0, LIMITS)),
      this.#here(settings('hasty', 1, this.#bug ? LIMITS : HASTY)),
      this.#child(settings('child', 0, LIMITS)),
      this.#child(settings('other', 1, LIMITS)),
    ];
  }

  #here(settings: Settings): Driven {
    const storage = openPostgres(settings);
    const writer = new PostgresWriter(storage, settings, (event) => this.#ledger.hear(event));
    return {
      name: settings.name,
      go: (round) => writer.go(round),
      pause: () => writer.pause(),
      end: async () => void (await writer.call({ op: 'close' }, () => storage.close())),
    };
  }

  #child(settings: Settings): Driven {
    const { name } = settings;
    let idle = () => {};
    let ending = false;
    const child = startChild(this.#folder, 'postgres-writer-child.js', [JSON.stringify(settings)], (line) => {
      const event = JSON.parse(line) as WriterEvent;
      if (event.t === 'idle') idle();
      else this.#ledger.hear(event);
    });
    void child.ended.then(() => this.#tally.expect(ending, () => `${name} ended too early`));
    return {
      name,
      go: (round) => child.send(`go ${round}`),
      pause: () => {
        const paused = new Promise<void>((resolve) => (idle = resolve));
        child.send('pause');
        return Promise.race([paused, child.ended]);
      },
      end: async () => {
        ending = true;
        child.send('end');
        const late = setTimeout(() => child.kill('SIGKILL'), 2 * LIMITS.deadlineMs);
        await child.ended;
        clearTimeout(late);
        this.#tally.expect(
          child.errors.length === 0,
          () => `${name} complained: ${child.errors.join(' | ')}`,
        );
      },
    };
  }

  async #round(round: number, direct: StorageBackend): Promise<void> {
    for (const writer of this.#writers) writer.go(round);
    await sleep(150 + this.#random.below(300));
    const kind = this.#draw();
    const lasts = 500 + 3_500 * (this.#random.bits() / 2 ** 32) ** 3; // most are short
    const label = `round ${round} (${kind}, ${Math.round(lasts)} ms)`;
    await (kind === 'kill' ? this.#kill() : this.#fail(kind, lasts));
    this.#tally.add(`fault ${kind}`);
    await Promise.all([this.#expectToHear(label, round, direct), sleep(300)]);
    await Promise.all(this.#writers.map((writer) => writer.pause()));
    const before = this.#tally.violations.length;
    await this.#ledger.check(direct);
    await this.#expectNoLeak(label);
    if (this.#tally.violations.length > before) this.#tally.violation(`${label}: see above`);
    this.#tally.add('rounds');
  }

  /** Each kind as often as the others, in an order of chance. */
  #draw(): RoundFault {
    if (this.#deck.length === 0) this.#deck = ['kill', ...PROXY_FAULTS];
    return this.#deck.splice(this.#random.below(this.#deck.length), 1)[0]!;
  }

  async #kill(): Promise<void> {
    await this.#cluster.kill();
    await sleep(200 + this.#random.below(1_800));
    await this.#cluster.start();
  }

  /** For some of the writers or for all: where only some are cut off, the others take over. */
  async #fail(kind: ProxyFault, lastsMs: number): Promise<void> {
    const some = this.#random.below(3);
    const failing = this.#proxies.filter((_, index) => some === 2 || some === index);
    for (const proxy of failing) proxy.begin(kind);
    await sleep(lastsMs);
    for (const proxy of failing) proxy.heal();
  }

  async #expectToHear(label: string, round: number, direct: StorageBackend): Promise<void> {
    const name = `round-${round}`;
    try {
      await direct.documents.write(['watched', name], round);
    } catch (thrown) {
      this.#tally.violation(`${label}: the server cannot be written: ${messageOf(thrown)}`);
    }
    const start = performance.now();
    while (!this.#heard.has(name) && performance.now() - start < 2 * HEARD_WITHIN_MS) await sleep(20);
    const ms = Math.round(performance.now() - start);
    const { counts } = this.#tally;
    counts['heard after ms at most'] = Math.max(ms, counts['heard after ms at most'] ?? 0);
    this.#tally.expect(ms <= HEARD_WITHIN_MS, () => `${label}: a watcher heard of a change after ${ms} ms`);
  }

  /** Connections that were given up end at the server too. */
  async #expectNoLeak(label: string): Promise<void> {
    const limit = (this.#writers.length + 1) * LIMITS.connectionsMax + 1;
    let count = Number.POSITIVE_INFINITY;
    for (
      const start = performance.now();
      count > limit && performance.now() - start < 5_000;
      await sleep(50)
    ) {
      count = await this.#countConnections();
    }
    this.#tally.expect(count <= limit, () => `${label}: ${count} connections, of ${limit} at most`);
  }

  async #countConnections(): Promise<number> {
    const client = new pg.Client({ connectionString: this.#cluster.url });
    await client.connect();
    try {
      const sql = `SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'rekindle'`;
      return (await client.query<{ count: number }>(sql)).rows[0]?.count ?? 0;
    } finally {
      await client.end();
    }
  }

  /** Also closing ends within its time when nothing answers. */
  async #endInSilence(watcher: StorageBackend): Promise<void> {
    for (const proxy of this.#proxies) proxy.begin('lose-both');
    const settings = { ...LIMITS, name: 'watcher', seed: 0 };
    const closer = new PostgresWriter(watcher, settings, (event) => this.#ledger.hear(event));
    await Promise.all([
      closer.call({ op: 'close' }, () => watcher.close()),
      ...this.#writers.map((writer) => writer.end()),
    ]);
  }
}
