/**
 * What a LangGraph conversation costs in each saver: 400 turns of a graph with two channels, both of which get a new value of 2 kB in
 * every turn. The savers take turns, so that all meet the same noise.
 *
 * The calls are those of LangGraph's loop: `put` of the input checkpoint (only `__start__` is new), `putWrites` of the task, `put` of the
 * checkpoint after it (both channels are new, `__start__` was consumed); each is waited for, as with `durability: 'sync'`.
 *
 * Before that, a conversation in files whose messages are one channel, to which each turn appends one of 1 kB: a thread that stores all of them
 * again in each turn grows with the square of their number.
 *
 * The official SQLite saver brings a package that may have to be compiled for minutes, so it is not among this package's own:
 * `npm ci --prefix bench/peers` installs it. It comes with `synchronous=NORMAL`, which syncs no commit; it is measured so, and with FULL,
 * which is what ours does.
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  type BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  uuid5,
  uuid6,
} from '@langchain/langgraph-checkpoint';
import { RekindleSaver } from '../src/adapters/langgraph/index.js';
import { FileStorage } from '../src/storage/file/file-storage.js';
import { backends } from './backends-support.js';
import { inTempFolder, ms, printTable, quantile, ratio, textOfSize } from './support.js';

const TURNS = 400;
const WARM_TURNS = 10;
const VALUE_BYTES = 2_000;
const LOGICAL_BYTES = TURNS * 2 * VALUE_BYTES;
const MESSAGE_BYTES = 1_000;
const MESSAGE_COUNTS = [40, 80, 160, 320];
const PEERS = fileURLToPath(new URL('./peers/', import.meta.url));

type Saver = Pick<BaseCheckpointSaver, 'put' | 'putWrites' | 'getTuple'>;
type Config = Parameters<Saver['put']>[0];

interface Contestant {
  readonly name: string;
  readonly saver: Saver;
  /** Bytes on the disk, once it is closed. */
  closed(): Promise<number>;
}

/** One thread of a graph, as LangGraph's loop sees it. */
class GraphThread {
  readonly putMs: number[] = [];
  readonly turnMs: number[] = [];
  readonly #saver: Saver;
  readonly #threadId: string;
  #config: Config;
  #step = -1;
  #version = 0;
  #versions: ChannelVersions = {};
  #values: Record<string, unknown> = {};
  #seen: Checkpoint['versions_seen'] = {};

  constructor(saver: Saver, threadId: string) {
    this.#saver = saver;
    this.#threadId = threadId;
    this.#config = { configurable: { thread_id: threadId, checkpoint_ns: '' } };
  }

  turn(turn: number): Promise<void> {
    const question = textOfSize(VALUE_BYTES, turn);
    const written = { question, answer: textOfSize(VALUE_BYTES, 50_000 + turn) };
    return this.#turn(turn, written, written);
  }

  /** One more message: the task wrote it, and the channel has all of them. */
  message(turn: number): Promise<void> {
    const message = { id: `message-${turn}`, content: textOfSize(MESSAGE_BYTES, turn) };
    const before = (this.#values['messages'] ?? []) as readonly unknown[];
    return this.#turn(turn, { messages: message }, { messages: [...before, message] });
  }

  async #turn(turn: number, written: object, values: Record<string, unknown>): Promise<void> {
    const start = performance.now();
    await this.#put('input', { ...this.#values, __start__: { turn } }, ['__start__']);
    const task = uuid5(`task-${turn}`, uuid6(0));
    await this.#saver.putWrites(this.#config, Object.entries(written), task);
    this.#seen = { ...this.#seen, node: { __start__: this.#versions['__start__']! } };
    await this.#put('loop', values, [...Object.keys(written), '__start__']);
    this.turnMs.push(performance.now() - start);
  }

  /** All channels that changed in a step get one number, the next after the highest. */
  async #put(
    source: 'input' | 'loop',
    values: Record<string, unknown>,
    changed: readonly string[],
  ): Promise<void> {
    this.#version += 1;
    const newVersions = Object.fromEntries(changed.map((channel) => [channel, this.#version]));
    this.#versions = { ...this.#versions, ...newVersions };
    this.#values = values;
    const checkpoint: Checkpoint = {
      v: 4,
      id: uuid6(this.#step),
      ts: new Date().toISOString(),
      channel_values: values,
      channel_versions: this.#versions,
      versions_seen: this.#seen,
    };
    const metadata = { source, step: this.#step, parents: {} };
    const start = performance.now();
    this.#config = await this.#saver.put(this.#config, checkpoint, metadata, newVersions);
    this.putMs.push(performance.now() - start);
    this.#step += 1;
  }

  /** A saver that has lost something is not to be compared. */
  async check(name: string): Promise<void> {
    const config = { configurable: { thread_id: this.#threadId, checkpoint_ns: '' } };
    const tuple = await this.#saver.getTuple(config);
    const read = JSON.stringify(tuple?.checkpoint.channel_values ?? null);
    if (read !== JSON.stringify(this.#values)) throw new Error(`${name} gives back ${read.slice(0, 200)}`);
  }
}

async function growth(folder: string): Promise<void> {
  const storage = new FileStorage(folder);
  const saver = new RekindleSaver({ storage });
  const thread = new GraphThread(saver, 'growth');
  const rows: (string | number)[][] = [];
  let turns = 0;
  for (const count of MESSAGE_COUNTS) {
    while (turns < count) await thread.message((turns += 1));
    const start = performance.now();
    await thread.check('RekindleSaver');
    const readMs = performance.now() - start;
    const [put, bytes] = [quantile(thread.putMs.slice(-40), 0.5), await filesIn(folder)];
    rows.push([count, (bytes / 1e6).toFixed(2), ratio(bytes, count * MESSAGE_BYTES), ms(put), ms(readMs)]);
  }
  await saver.close();
  await storage.close();
  const title = `A LangGraph thread to which each turn appends a message of ${MESSAGE_BYTES} bytes, in files: bytes on disk, ms a put (of the last 40) and a getTuple`;
  printTable(title, ['messages', 'MB', 'vs messages', 'put p50', 'getTuple'], rows);
}

async function filesIn(folder: string): Promise<number> {
  let size = 0;
  for (const name of await readdir(folder, { recursive: true })) {
    const found = await stat(path.join(folder, name));
    if (found.isFile()) size += found.size;
  }
  return size;
}

async function contestants(
  folder: string,
): Promise<{ readonly all: Contestant[]; readonly end: () => Promise<void> }> {
  const { list, end } = await backends();
  const all: Contestant[] = [];
  for (const backend of list) {
    const place = path.join(folder, backend.name);
    await mkdir(place);
    const store = backend.store(place);
    const storage = await store.open();
    const saver = new RekindleSaver({ storage });
    const closed = async () => {
      await saver.close();
      await storage.close();
      return (await store.size()).total;
    };
    all.push({ name: `RekindleSaver, ${backend.name}`, saver, closed });
  }
  all.push(...(await officialSavers(folder)));
  return { all, end };
}

interface OfficialSaver extends Saver {
  readonly db: { pragma(sql: string): unknown; close(): void };
  setup(): void;
}

async function officialSavers(folder: string): Promise<Contestant[]> {
  const entry = path.join(PEERS, 'node_modules/@langchain/langgraph-checkpoint-sqlite/dist/index.js');
  if (!existsSync(entry)) {
    process.stdout.write('The official SqliteSaver is not installed: npm ci --prefix bench/peers\n');
    return [];
  }
  const { SqliteSaver } = (await import(pathToFileURL(entry).href)) as {
    readonly SqliteSaver: { fromConnString(file: string): OfficialSaver };
  };
  return ['NORMAL', 'FULL'].map((synchronous) => {
    const place = path.join(folder, `official-${synchronous}`);
    const saver = SqliteSaver.fromConnString(`${place}.db`);
    saver.setup();
    saver.db.pragma(`synchronous = ${synchronous}`);
    const closed = async () => {
      saver.db.close();
      return sizeOf(folder, `official-${synchronous}`);
    };
    return { name: `SqliteSaver 1.0.4, synchronous=${synchronous}`, saver, closed };
  });
}

async function sizeOf(folder: string, prefix: string): Promise<number> {
  let size = 0;
  for (const name of await readdir(folder))
    if (name.startsWith(prefix)) size += (await stat(path.join(folder, name))).size;
  return size;
}

await inTempFolder(growth);
await inTempFolder(async (folder) => {
  const { all, end } = await contestants(folder);
  try {
    const warm = all.map(({ saver }) => new GraphThread(saver, 'warm'));
    for (let turn = 1; turn <= WARM_TURNS; turn += 1) for (const thread of warm) await thread.turn(turn);
    const threads = all.map(({ saver }) => new GraphThread(saver, 'bench'));
    for (let turn = 1; turn <= TURNS; turn += 1) for (const thread of threads) await thread.turn(turn);
    const rows: (string | number)[][] = [];
    for (const [index, { name, closed }] of all.entries()) {
      const { putMs, turnMs } = threads[index]!;
      await threads[index]!.check(name);
      const bytes = await closed();
      rows.push([
        name,
        (bytes / 1e6).toFixed(2),
        ratio(bytes, LOGICAL_BYTES),
        ms(quantile(putMs, 0.5)),
        ms(quantile(putMs, 0.99)),
        ms(quantile(turnMs, 0.5)),
        ms(quantile(turnMs, 0.99)),
      ]);
    }
    printTable(
      `${TURNS} LangGraph turns of 2 x ${VALUE_BYTES} bytes (${LOGICAL_BYTES / 1e6} MB): bytes on disk after close (with ${WARM_TURNS} turns of warm-up), ms a put and a turn (two puts and a putWrites)`,
      ['saver', 'MB', 'vs logical', 'put p50', 'put p99', 'turn p50', 'turn p99'],
      rows,
    );
  } finally {
    await end();
  }
});
