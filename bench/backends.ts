/**
 * What each backend costs beside the plain limit of its engine (see `backends-support.ts`), in one run: turns, restores, turns of 64
 * agents, bytes. The goal is within twice the limit.
 *
 * Ours and the plain one take turns, so that both meet the same noise. `BENCH_QUICK=1` leaves out 10,000 messages,
 * `BENCH_BACKEND=file` (`sqlite`, `postgresql`) measures that one alone.
 */
import { type OpenMemory, openMemory } from '../src/memory/open-memory.js';
import { WorkingContextSnapshotBootstrapper } from '../src/memory/restore/working-context-snapshot-bootstrapper.js';
import { messageToJson } from '../src/messages/message-serializer.js';
import type { StorageBackend } from '../src/storage/ports.js';
import { type Backend, type BenchStore, backends, type PlainStore } from './backends-support.js';
import { inTempFolder, median, ms, printTable, quantile, ratio, textOfSize } from './support.js';

const MESSAGE_BYTES = 2_000;
const TURNS = 200;
const WARM_TURNS = 20;
const RESTORES = 9;
const WARM_RESTORES = 3;
const TURNS_BEHIND = 10;
const AGENTS = 64;
const SECONDS = 3;
const PROMPT = 'You are a bench.';

type Memory = OpenMemory['memory'];

interface Samples {
  readonly ours: number[];
  readonly plain: number[];
}

interface Figures {
  readonly backend: string;
  readonly messages: number;
  readonly turns: Samples;
  /** From a current cache, from one that is some turns behind, and the limit. */
  readonly restores: { readonly current: number[]; readonly behind: number[]; readonly plain: number[] };
  readonly bytes: { readonly total: number; readonly cache: number; readonly logical: number };
}

/** An agent with real turns in it, and everything that is measured on it. */
async function measure(backend: Backend, messages: number): Promise<Figures> {
  return inTempFolder(async (folder) => {
    const store = backend.store(folder);
    const logical = await build(store, messages);
    const bytes = { ...(await store.size()), logical };
    const plain = await store.openPlain();
    await plain.fill(await messageTexts(store));
    const current = await restores(store, plain);
    await fallBehind(store);
    const behind = await restores(store, plain);
    const turns = await measureTurns(store, plain);
    await plain.close();
    const read = [...current.plain, ...behind.plain];
    return {
      backend: backend.name,
      messages,
      turns,
      restores: { current: current.ours, behind: behind.ours, plain: read },
      bytes,
    };
  });
}

/** Gives the bytes of the messages, as JSON. */
async function build(store: BenchStore, messages: number): Promise<number> {
  return withMemory(store, async (memory) => {
    await memory.begin(PROMPT);
    for (let turn = 1; turn <= messages / 2; turn += 1) await oneTurn(memory, turn);
    const texts = memory.getWorkingContextMessages().map((message) => JSON.stringify(messageToJson(message)));
    return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  });
}

async function withMemory<T>(store: BenchStore, work: (memory: Memory) => Promise<T>): Promise<T> {
  const storage = await store.open();
  const opened = await openMemory(storage, 'bench', { compaction: null });
  try {
    await new WorkingContextSnapshotBootstrapper().bootstrap(opened.memory, null);
    return await work(opened.memory);
  } finally {
    await opened.close();
    await storage.close();
  }
}

/** One user input and one answer: two durable commits, and the cache brought up to date (`endTurn`). */
async function oneTurn(memory: Memory, turn: number, final = true): Promise<void> {
  const turnId = memory.startTurn();
  await memory.ingestUserMessage(textOfSize(MESSAGE_BYTES, 7_000 + turn), turnId);
  await memory.ingestAssistantResponse({ content: textOfSize(MESSAGE_BYTES, 90_000 + turn), final }, turnId);
}

function messageTexts(store: BenchStore): Promise<string[]> {
  return withMemory(store, async (memory) =>
    memory.getWorkingContextMessages().map((message) => JSON.stringify(messageToJson(message))),
  );
}

/** Turns that were killed before their end: the cache does not have them. */
async function fallBehind(store: BenchStore): Promise<void> {
  await withMemory(store, async (memory) => {
    for (let turn = 1; turn <= TURNS_BEHIND; turn += 1) await oneTurn(memory, turn, false);
  });
}

/** Each with a new backend object, whose thread or connection is there. */
async function restores(store: BenchStore, plain: PlainStore): Promise<Samples> {
  const samples: Samples = { ours: [], plain: [] };
  for (let run = -WARM_RESTORES; run < RESTORES; run += 1) {
    const storage = await store.open();
    const ours = await timeOf(() => restore(storage));
    await storage.close();
    const limit = await timeOf(() => plain.readAll());
    if (run < 0) continue; // code that is not compiled yet
    samples.ours.push(ours);
    samples.plain.push(limit);
  }
  return samples;
}

let restored: OpenMemory | null = null;

/** What is timed ends when the agent can go on; closing it is not part of it. */
async function restore(storage: StorageBackend): Promise<void> {
  restored = await openMemory(storage, 'bench', { compaction: null });
  await new WorkingContextSnapshotBootstrapper().bootstrap(restored.memory, null);
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  const took = performance.now() - start;
  await restored?.close();
  restored = null;
  return took;
}

async function measureTurns(store: BenchStore, plain: PlainStore): Promise<Samples> {
  return withMemory(store, async (memory) => {
    const [write] = await plain.writers(1);
    for (let turn = 1; turn <= WARM_TURNS; turn += 1) await oneTurn(memory, turn);
    const texts = await recordTexts(memory);
    const samples: Samples = { ours: [], plain: [] };
    const ours = async (turn: number) => samples.ours.push(await timeOf(() => oneTurn(memory, turn)));
    const limit = async () => {
      const work = async () => {
        for (const text of texts) await write!([text]);
      };
      samples.plain.push(await timeOf(work));
    };
    for (let turn = 1; turn <= WARM_TURNS; turn += 1) await limit();
    samples.plain.length = 0;
    for (let turn = 1; turn <= TURNS; turn += 1) {
      if (turn % 2 === 0) await limit();
      await ours(WARM_TURNS + turn);
      if (turn % 2 === 1) await limit();
    }
    return samples;
  });
}

/** The records of one turn: the plain limit writes texts of the same size. */
async function recordTexts(memory: Memory): Promise<string[]> {
  const texts: string[] = [];
  for await (const entry of (await memory.store.journal('raw_traces')).readBackward()) {
    if (entry.kind === 'record') texts.push(JSON.stringify(entry.record));
    if (texts.length === 2) break;
  }
  return texts.reverse();
}

interface Throughput {
  readonly backend: string;
  /** Whole turns: two commits, cache, context. */
  readonly ours: number;
  /** The store alone: what a turn says, in one append to a journal of its own. */
  readonly store: number;
  readonly plain: number;
}

/** Turns a second of many agents in one process: ours, then the plain driver with a transaction a turn, twice each. */
async function measureAgents(backend: Backend): Promise<Throughput> {
  return inTempFolder(async (folder) => {
    const store = backend.store(folder);
    const storage = await store.open();
    const opened: OpenMemory[] = [];
    for (let agent = 0; agent < AGENTS; agent += 1) {
      const one = await openMemory(storage, `agent-${agent}`, { compaction: null });
      await one.memory.begin(PROMPT);
      opened.push(one);
    }
    const plain = await store.openPlain();
    const writers = await plain.writers(AGENTS);
    const texts = await recordTextsOf(opened[0]!.memory);
    const journals = await Promise.all(
      opened.map((_, agent) => storage.openJournal<{ text: string }>(['journals', String(agent)])),
    );
    const records = texts.map((text) => ({ text }));
    const ours: number[] = [];
    const alone: number[] = [];
    const limit: number[] = [];
    for (let round = 0; round < 2; round += 1) {
      ours.push(
        await turnsPerSecond(
          opened.map(
            ({ memory }) =>
              () =>
                oneTurn(memory, round + 1),
          ),
        ),
      );
      alone.push(await turnsPerSecond(journals.map((journal) => () => journal.append(records))));
      limit.push(await turnsPerSecond(writers.map((write) => () => write(texts))));
    }
    for (const one of opened) await one.close();
    await plain.close();
    await storage.close();
    return {
      backend: backend.name,
      ours: Math.max(...ours),
      store: Math.max(...alone),
      plain: Math.max(...limit),
    };
  });
}

async function recordTextsOf(memory: Memory): Promise<string[]> {
  await oneTurn(memory, 1);
  return recordTexts(memory);
}

async function turnsPerSecond(agents: readonly (() => Promise<unknown>)[]): Promise<number> {
  const start = performance.now();
  const end = start + SECONDS * 1_000;
  let turns = 0;
  const work = async (turn: () => Promise<unknown>) => {
    while (performance.now() < end) {
      await turn();
      turns += 1;
    }
  };
  await Promise.all(agents.map(work));
  return turns / ((performance.now() - start) / 1_000);
}

function printTurns(figures: readonly Figures[]): void {
  const [p50, p99] = [0.5, 0.99];
  const pair = ({ ours, plain }: Samples, share: number) => [
    ms(quantile(ours, share)),
    ms(quantile(plain, share)),
    ratio(quantile(ours, share), quantile(plain, share)),
  ];
  printTable(
    `A turn of two messages of ${MESSAGE_BYTES} bytes: two durable commits and a cache write (${TURNS} turns), beside two plain commits of the same bytes`,
    ['backend', 'messages', 'p50 ms', 'plain', 'ratio', 'p99 ms', 'plain', 'ratio'],
    figures.map(({ backend, messages, turns }) => [
      backend,
      messages,
      ...pair(turns, p50),
      ...pair(turns, p99),
    ]),
  );
}

function printRestores(figures: readonly Figures[]): void {
  printTable(
    `Restore (open, lease, context in memory), median of ${RESTORES}, beside one ordered read of the same messages as rows (file: lines), each parsed, and no more`,
    [
      'backend',
      'messages',
      'plain ms',
      'current cache ms',
      'ratio',
      `${TURNS_BEHIND} turns behind ms`,
      'ratio',
    ],
    figures.map(({ backend, messages, restores: { current, behind, plain } }) => [
      backend,
      messages,
      ms(median(plain)),
      ms(median(current)),
      ratio(median(current), median(plain)),
      ms(median(behind)),
      ratio(median(behind), median(plain)),
    ]),
  );
}

function printBytes(figures: readonly Figures[]): void {
  const mb = (bytes: number) => (bytes / 1e6).toFixed(1);
  printTable(
    'Bytes on disk after real turns, in MB; logical are the messages as JSON; each message is in the journal and in the cache',
    ['backend', 'messages', 'logical', 'on disk', 'ratio', 'of which cache', 'without cache, ratio'],
    figures.map(({ backend, messages, bytes: { total, cache, logical } }) => [
      backend,
      messages,
      mb(logical),
      mb(total),
      ratio(total, logical),
      mb(cache),
      ratio(total - cache, logical),
    ]),
  );
}

function printAgents(rows: readonly Throughput[]): void {
  printTable(
    `Durable turns a second of ${AGENTS} agents in one process (${SECONDS} s, the better of two), beside the plain driver with one transaction a turn`,
    ['backend', 'whole turns', 'one append a turn', 'plain'],
    rows.map(({ backend, ours, store, plain }) => [
      backend,
      ours.toFixed(0),
      store.toFixed(0),
      plain.toFixed(0),
    ]),
  );
}

const sizes = process.env['BENCH_QUICK'] === '1' ? [1_000] : [1_000, 10_000];
const only = process.env['BENCH_BACKEND'];
const { list, end } = await backends();
try {
  const chosen = list.filter(({ name }) => only === undefined || name.toLowerCase() === only.toLowerCase());
  const figures: Figures[] = [];
  for (const backend of chosen) for (const size of sizes) figures.push(await measure(backend, size));
  printTurns(figures);
  printRestores(figures);
  printBytes(figures);
  const throughput: Throughput[] = [];
  for (const backend of chosen) throughput.push(await measureAgents(backend));
  printAgents(throughput);
} finally {
  await end();
}
