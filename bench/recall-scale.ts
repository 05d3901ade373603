/**
 * The recall index as an agent grows: how long a search takes beside a plain BM25 over everything in memory, what indexing costs beside
 * parsing the same traces, how many bytes it takes, and how much memory.
 *
 *     npx tsx bench/recall-scale.ts [--traces 1000,100000] [--searches 100] [--turns 100]
 *
 * Before that: what a turn of a host's loop costs with recall, against one without; see `turns`.
 *
 * Texts are made of words whose frequencies fall as in natural text, half of them words without a meaning of their own; a new process measures each size.
 */
import { fork } from 'node:child_process';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../src/core/json.js';
import { openWorkingContext } from '../src/index.js';
import { openMemory } from '../src/memory/open-memory.js';
import { RecallIndex } from '../src/memory/recall/recall-index.js';
import { termsOf } from '../src/memory/recall/terms.js';
import { FileStorage } from '../src/storage/file/file-storage.js';
import { printTable, quantile } from './support.js';

const argument = (name: string, otherwise: string) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : process.argv[at + 1]!;
};
const SIZES = argument('traces', '1000,100000').split(',').map(Number);
const SEARCHES = Number(argument('searches', '100'));
const TURNS = Number(argument('turns', '100'));
const TURN_PROCESSES = 3;
const TURN_SIZES = [1_000, 10_000];
const WARM_TURNS = 10;
const AGENT = 'a';
const WORDS_A_TRACE = 30;
const VOCABULARY = 60_000;
/** More frequent ones are the words that say nothing. */
const RANK_MIN = 30;
const FILLERS = 'the of and to in is it that was for on with as be at by this have from or'.split(' ');

/** The same numbers for one seed: mulberry32. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const SYLLABLES = 'ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu'.split(' ');

function wordAt(rank: number): string {
  let rest = rank;
  let word = '';
  do {
    word += SYLLABLES[rest % SYLLABLES.length];
    rest = Math.floor(rest / SYLLABLES.length);
  } while (rest > 0);
  return word.length < 4 ? `${word}r` : word;
}

/** By Zipf's law: the n-th most frequent word is n times as rare as the first. Half are words that say nothing, as in most texts. */
function words(next: () => number, count: number): string {
  const content = () => wordAt(Math.floor(RANK_MIN * (VOCABULARY / RANK_MIN) ** next()));
  const filler = () => FILLERS[Math.floor(next() * FILLERS.length)]!;
  return Array.from({ length: count }, (_, at) => (at % 2 === 0 ? filler() : content())).join(' ');
}

interface Built {
  readonly indexMs: number;
  readonly parseMs: number;
  readonly indexBytes: number;
}

interface Searched {
  readonly searchMs: readonly number[];
  readonly plainMs: readonly number[];
  readonly openMs: number;
  /** Above the process before it opened the index. */
  readonly rssMb: number;
  readonly loopMs: number;
}

async function write(root: string, traces: number, agentId = AGENT): Promise<number> {
  const storage = new FileStorage(root, { durability: 'relaxed' });
  const opened = await openMemory(storage, agentId);
  const next = random(7);
  let textBytes = 0;
  for (let from = 0; from < traces; from += 1_000) {
    const rows: JsonObject[] = [];
    for (let at = from; at < Math.min(traces, from + 1_000); at += 1) {
      const content = words(next, WORDS_A_TRACE);
      textBytes += content.length;
      rows.push({
        id: `rt_${at}`,
        ts: 1_780_000_000 + at * 30,
        turn_id: `turn_${String(Math.floor(at / 2) + 1).padStart(4, '0')}`,
        seq: (at % 2) + 1,
        trace_type: at % 2 === 0 ? 'user' : 'assistant',
        source_event: 'Bench',
        content,
      });
    }
    await opened.memory.store.addTraces(rows);
  }
  await opened.close();
  await storage.close();
  return textBytes;
}

/** What making the index costs, beside reading and parsing the same traces. */
async function build(root: string): Promise<Built> {
  const storage = new FileStorage(root, { durability: 'relaxed' });
  const opened = await openMemory(storage, AGENT);
  const { store } = opened.memory;
  let started = performance.now();
  for await (const _ of (await store.journal('raw_traces')).read());
  const parseMs = performance.now() - started;
  started = performance.now();
  const index = new RecallIndex(store);
  await index.catchUp();
  const indexMs = performance.now() - started;
  const indexBytes = index.storedBytes;
  await opened.close();
  await storage.close();
  return { parseMs, indexMs, indexBytes };
}

/** In a process of its own, as one that starts again: the longest time in which nothing else could run is taken from a timer. */
async function search(root: string, traces: number): Promise<Searched> {
  const storage = new FileStorage(root, { durability: 'relaxed' });
  const opened = await openMemory(storage, AGENT);
  const { store } = opened.memory;
  const rssBefore = process.memoryUsage().rss;
  const started = performance.now();
  const index = new RecallIndex(store);
  await index.catchUp();
  const openMs = performance.now() - started;
  const next = random(11);
  const questions = Array.from({ length: SEARCHES }, () => words(next, 8));
  let loopMs = 0;
  let tick = performance.now();
  const timer = setInterval(() => {
    loopMs = Math.max(loopMs, performance.now() - tick - 1);
    tick = performance.now();
  }, 1);
  const searchMs: number[] = [];
  for (const text of questions) {
    const asked = performance.now();
    let found = 0;
    for await (const _ of index.hits({ text, limit: 60 })) found += 1;
    if (found === 0) throw new Error(`nothing was found for ${text}`);
    searchMs.push(performance.now() - asked);
  }
  clearInterval(timer);
  const rssMb = (process.memoryUsage().rss - rssBefore) / 2 ** 20;
  const plainMs = traces <= 100_000 ? await plain(store, questions) : [];
  await opened.close();
  await storage.close();
  return { searchMs, plainMs, openMs, rssMb, loopMs };
}

interface TurnTimes {
  readonly onMs: readonly number[];
  readonly offMs: readonly number[];
  readonly onCpuMs: readonly number[];
  readonly offCpuMs: readonly number[];
  readonly recalled: number;
}

/**
 * Two agents in one process, alike but for recall, take turns of a host's loop with default settings, so that they meet the same disk.
 * Most of what was said has left the context of both. No model is called: it would take most of the time of a turn.
 */
async function turns(root: string): Promise<TurnTimes> {
  const storage = new FileStorage(root);
  const open = async (agentId: string, options: object) => {
    const ctx = await openWorkingContext({ agentId, storage, system: 'You are a bench.', ...options });
    await ctx.memory.compact();
    return ctx;
  };
  const agents = { on: await open('on', {}), off: await open('off', { memory: { recall: null } }) };
  let recalled = 0;
  agents.on.memory.events.on('recalled', () => {
    recalled += 1;
  });
  const took = { on: [] as number[], off: [] as number[] };
  const used = { on: [] as number[], off: [] as number[] };
  const next = random(13);
  for (let turn = 0; turn < TURNS + WARM_TURNS; turn += 1) {
    const [question, answer] = [words(next, WORDS_A_TRACE), words(next, 100)];
    for (const name of turn % 2 === 0 ? (['on', 'off'] as const) : (['off', 'on'] as const)) {
      const cpu = process.cpuUsage();
      const started = performance.now();
      await agents[name].beginTurn(question);
      agents[name].messagesFor('ai-sdk');
      await agents[name].endTurn([{ role: 'assistant', content: [{ type: 'text', text: answer }] }] as never);
      const ms = performance.now() - started;
      const { user, system } = process.cpuUsage(cpu);
      if (turn >= WARM_TURNS) took[name].push(ms);
      if (turn >= WARM_TURNS) used[name].push((user + system) / 1_000);
      await new Promise((resolve) => setTimeout(resolve, 20)); // the model answers meanwhile, and the index takes in the turn
    }
  }
  for (const ctx of Object.values(agents)) await ctx.close();
  await storage.close();
  return { onMs: took.on, offMs: took.off, onCpuMs: used.on, offCpuMs: used.off, recalled };
}

/** The baseline: every posting in a map, everything scored, the texts in memory. */
async function plain(
  store: Awaited<ReturnType<typeof openMemory>>['memory']['store'],
  questions: readonly string[],
): Promise<number[]> {
  const postings = new Map<string, [number, number][]>();
  const lengths: number[] = [];
  const journal = await store.journal('raw_traces');
  for await (const entry of journal.read()) {
    if (entry.kind !== 'record') continue;
    const { terms } = await termsOf(String(entry.record['content'] ?? ''));
    const times = new Map<string, number>();
    for (const term of terms) times.set(term, (times.get(term) ?? 0) + 1);
    for (const [term, count] of times) {
      const list = postings.get(term) ?? [];
      if (list.length === 0) postings.set(term, list);
      list.push([lengths.length, count]);
    }
    lengths.push(terms.length);
  }
  const mean = lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
  const took: number[] = [];
  for (const text of questions) {
    const started = performance.now();
    const scores = new Map<number, number>();
    for (const term of (await termsOf(text)).terms) {
      const list = postings.get(term) ?? [];
      const rarity = Math.log(1 + (lengths.length - list.length + 0.5) / (list.length + 0.5));
      for (const [at, count] of list) {
        const gain = (rarity * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * lengths[at]!) / mean));
        scores.set(at, (scores.get(at) ?? 0) + gain);
      }
    }
    [...scores].sort((a, b) => b[1] - a[1]).slice(0, 60);
    took.push(performance.now() - started);
  }
  return took;
}

async function inTemp<T>(run: (root: string) => Promise<T>): Promise<T> {
  const root = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-recall-'));
  try {
    return await run(root);
  } finally {
    await fs.rm(root, { recursive: true, force: true });
  }
}

async function turnTable(): Promise<void> {
  const rows: string[][] = [];
  for (const traces of TURN_SIZES) {
    for (let process = 0; process < TURN_PROCESSES; process += 1) {
      await inTemp(async (root) => {
        for (const agent of ['on', 'off']) await write(root, traces, agent);
        const all = await inNewProcess<TurnTimes>(['--turn', root, '--turns', String(TURNS)]);
        const pair = (on: readonly number[], off: readonly number[]) => [
          `${quantile(on, 0.5).toFixed(1)} / ${quantile(off, 0.5).toFixed(1)}`,
          (quantile(on, 0.5) / quantile(off, 0.5)).toFixed(2),
        ];
        rows.push([
          String(traces),
          String(all.recalled),
          ...pair(all.onMs, all.offMs),
          ...pair(all.onCpuMs, all.offCpuMs),
        ]);
      });
    }
  }
  printTable(
    `A turn of a host's loop with recall, against one without, medians of ${TURNS}; a row is a process`,
    ['traces', 'recalls', 'turn ms', 'times', 'CPU ms', 'times'],
    rows,
  );
}

async function main(): Promise<void> {
  if (TURNS > 0) await turnTable();
  const rows: string[][] = [];
  for (const traces of SIZES) {
    await inTemp(async (root) => {
      const textBytes = await write(root, traces);
      const built = await inNewProcess<Built>(['--build', root]);
      const found = await inNewProcess<Searched>([
        '--search',
        root,
        String(traces),
        '--searches',
        `${SEARCHES}`,
      ]);
      const times = (all: readonly number[]) =>
        all.length === 0 ? '-' : `${quantile(all, 0.5).toFixed(1)} / ${quantile(all, 0.99).toFixed(1)}`;
      rows.push([
        String(traces),
        times(found.searchMs),
        times(found.plainMs),
        `${(built.indexMs / built.parseMs).toFixed(2)} (${(built.indexMs / 1000).toFixed(1)} s)`,
        found.openMs.toFixed(0),
        (built.indexBytes / textBytes).toFixed(2),
        found.rssMb.toFixed(0),
        found.loopMs.toFixed(0),
      ]);
    });
  }
  printTable(
    'Recall as an agent grows',
    [
      'traces',
      'search ms p50 / p99',
      'plain BM25 ms',
      'indexing / parsing',
      'open ms',
      'index / text bytes',
      'MB more',
      'loop held ms',
    ],
    rows,
  );
}

function inNewProcess<T>(argv: readonly string[]): Promise<T> {
  const child = fork(fileURLToPath(import.meta.url), argv);
  return new Promise((resolve, reject) => {
    child.on('message', (figures) => resolve(figures as T));
    child.on('error', reject);
    child.on('exit', (code) => code !== 0 && reject(new Error(`the measuring process ended with ${code}`)));
  });
}

const CHILDREN: Readonly<Record<string, (root: string, traces: number) => Promise<object>>> = {
  '--turn': turns,
  '--build': build,
  '--search': search,
};
const [, , mode = '', root = '', traces = ''] = process.argv;
const run = CHILDREN[mode];
if (run) {
  process.send!(await run(root, Number(traces)));
  process.disconnect();
} else await main();
