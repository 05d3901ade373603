/**
 * What a restore costs beside `readFile` + `JSON.parse` of the same snapshot file.
 *
 * - Cold: each restore is the first thing that a new process does, through the build and with default settings
 *   (`npm run build` first). The imports are not counted: `bench/imports.ts` measures them.
 * - Warm: restores in one process, and their peak memory, each in a process of its own (`--child`).
 * - Old: an agent with 1,000,000 traces and a compacted context, beside one with 10,000.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { openMemory } from '../src/memory/open-memory.js';
import { WorkingContextSnapshotBootstrapper } from '../src/memory/restore/working-context-snapshot-bootstrapper.js';
import type { Message } from '../src/messages/message.js';
import { FileStorage } from '../src/storage/file/file-storage.js';
import { encodeLineEnd, encodeRecord } from '../src/storage/record-encoding.js';
import { inTempFolder, median, ms, printTable, ratio, textOfSize } from './support.js';

const MESSAGE_BYTES = 2_000;
const RUNS = 7;
const PROMPT = 'You are a bench.';
const snapshotOf = (folder: string) => path.join(folder, 'agents', 'bench', 'working_context_snapshot.json');

const DIST = fileURLToPath(new URL('../dist/index.js', import.meta.url));
/** A new process: it writes the time and the CPU time that it needs until the list of messages is there, in ms. */
const COLD = `
  import { readFile } from 'node:fs/promises';
  import path from 'node:path';
  import { FileStorage, openWorkingContext } from ${JSON.stringify(pathToFileURL(DIST).href)};
  const [folder, what] = process.argv.slice(-2);
  const [cpu, start] = [process.cpuUsage(), performance.now()];
  if (what === 'parse') {
    JSON.parse(await readFile(path.join(folder, 'agents', 'bench', 'working_context_snapshot.json'), 'utf8'));
  } else {
    const ctx = await openWorkingContext({ agentId: 'bench', storage: new FileStorage(folder) });
    if (ctx.messages.length === 0) throw new Error('Nothing was restored.');
  }
  const { user, system } = process.cpuUsage(cpu);
  console.log(JSON.stringify({ ms: performance.now() - start, cpuMs: (user + system) / 1000 }));
  process.exit(0);`;

interface Cold {
  readonly ms: number;
  readonly cpuMs: number;
}

function inNewProcess(folder: string, what: 'parse' | 'restore'): Cold {
  const child = spawnSync(process.execPath, ['--input-type=module', '--eval', COLD, folder, what], {
    encoding: 'utf8',
  });
  if (child.status !== 0) throw new Error(`It did not run: ${child.stderr}`);
  return JSON.parse(child.stdout) as Cold;
}

async function coldBench(): Promise<void> {
  if (!existsSync(DIST)) throw new Error('There is no build: npm run build');
  const rows: (string | number)[][] = [];
  for (const messages of [1_000, 10_000]) {
    await inTempFolder(async (folder) => {
      await buildByTurns(folder, messages);
      const [parse, cache, rebuilt]: [Cold[], Cold[], Cold[]] = [[], [], []];
      // In turns, so that a busy moment of the machine meets every column.
      for (let run = 0; run < RUNS; run += 1) {
        parse.push(inNewProcess(folder, 'parse'));
        cache.push(inNewProcess(folder, 'restore'));
        const snapshot = await readFile(snapshotOf(folder));
        await rm(snapshotOf(folder));
        rebuilt.push(inNewProcess(folder, 'restore'));
        await writeFile(snapshotOf(folder), snapshot);
      }
      const cell = (list: readonly Cold[], key: keyof Cold) => {
        const [own, base] = [median(list.map((one) => one[key])), median(parse.map((one) => one[key]))];
        return list === parse ? ms(own) : `${ms(own)} (${ratio(own, base)})`;
      };
      const keys = ['ms', 'cpuMs'] as const;
      rows.push([messages, ...[parse, cache, rebuilt].flatMap((list) => keys.map((key) => cell(list, key)))]);
    });
  }
  printTable(
    `The first restore of a new process, median of ${RUNS}; ratios to readFile + JSON.parse of the snapshot`,
    ['messages', 'parse ms', 'CPU', 'from cache ms', 'CPU', 'rebuilt ms', 'CPU'],
    rows,
  );
}

/** Without the cache: the file is put aside for the time of the restore. */
async function restoreMs(folder: string, withoutCache: boolean): Promise<{ ms: number; messages: number }> {
  const aside = path.join(folder, 'aside.json');
  if (withoutCache) await rename(snapshotOf(folder), aside);
  try {
    return await restoreOnce(folder);
  } finally {
    if (withoutCache) await rename(aside, snapshotOf(folder));
  }
}

async function restoreOnce(folder: string): Promise<{ ms: number; messages: number }> {
  const storage = new FileStorage(folder);
  const start = performance.now();
  const opened = await openMemory(storage, 'bench', { compaction: null });
  const report = await new WorkingContextSnapshotBootstrapper().bootstrap(opened.memory, PROMPT);
  const took = performance.now() - start;
  await opened.close();
  return { ms: took, messages: report.messages };
}

async function parseMs(folder: string): Promise<number> {
  const start = performance.now();
  JSON.parse(await readFile(snapshotOf(folder), 'utf8'));
  return performance.now() - start;
}

/** An agent whose context is made of real turns, so that a rebuild reads them one by one. */
async function buildByTurns(folder: string, messages: number): Promise<void> {
  const opened = await openMemory(new FileStorage(folder, { durability: 'relaxed' }), 'bench', {
    compaction: null,
  });
  await opened.memory.begin(PROMPT);
  for (let turn = 0; turn < messages / 2; turn += 1) {
    const turnId = opened.memory.startTurn();
    await opened.memory.ingestUserMessage(textOfSize(MESSAGE_BYTES, turn), turnId);
    const content = textOfSize(MESSAGE_BYTES, turn + 50_000);
    await opened.memory.ingestAssistantResponse({ content, final: false }, turnId);
  }
  await opened.memory.persistWorkingContextSnapshot();
  await opened.close();
}

async function restoreBench(): Promise<void> {
  const rows: (string | number)[][] = [];
  for (const messages of [1_000, 10_000]) {
    await inTempFolder(async (folder) => {
      await buildByTurns(folder, messages);
      const parse: number[] = [];
      const cache: number[] = [];
      const rebuild: number[] = [];
      for (let run = 0; run < RUNS; run += 1) {
        parse.push(await parseMs(folder));
        cache.push((await restoreMs(folder, false)).ms);
        rebuild.push((await restoreMs(folder, true)).ms);
      }
      const size = (await stat(snapshotOf(folder))).size;
      const base = memoryOf(folder, 'nothing');
      const cacheMb = memoryOf(folder, 'cache') - base;
      const rebuildMb = memoryOf(folder, 'rebuild') - base;
      const sizeMb = size / 1e6;
      rows.push([
        messages,
        sizeMb.toFixed(1),
        ms(median(parse)),
        `${ms(median(cache))} (${ratio(median(cache), median(parse))})`,
        `${ms(median(rebuild))} (${ratio(median(rebuild), median(parse))})`,
        `${cacheMb.toFixed(0)} (${ratio(cacheMb, sizeMb)})`,
        `${rebuildMb.toFixed(0)} (${ratio(rebuildMb, sizeMb)})`,
      ]);
    });
  }
  printTable(
    `Restore in a process that has restored before, median of ${RUNS}; ratios to readFile + JSON.parse of the snapshot, and of peak memory to the snapshot's size`,
    [
      'messages',
      'snapshot MB',
      'parse ms',
      'from cache ms',
      'rebuild ms',
      'peak MB, cache',
      'peak MB, rebuild',
    ],
    rows,
  );
}

/** Peak resident memory of a process that does one thing, in MB. */
function memoryOf(folder: string, what: 'nothing' | 'cache' | 'rebuild'): number {
  const script = fileURLToPath(import.meta.url);
  const child = spawnSync(process.execPath, [...process.execArgv, script, '--child', what, folder], {
    encoding: 'utf8',
  });
  return Number(child.stdout.trim()) / 1_000;
}

async function child(what: string, folder: string): Promise<void> {
  if (what !== 'nothing') await restoreMs(folder, what === 'rebuild');
  process.stdout.write(String(process.resourceUsage().maxRSS));
}

/** A long history of traces, written as the journal would, then a compaction and some turns. */
async function buildLongHistory(folder: string, traces: number): Promise<void> {
  const agent = path.join(folder, 'agents', 'bench');
  await mkdir(agent, { recursive: true });
  const journal = path.join(agent, 'raw_traces.jsonl');
  await writeFile(journal, '');
  let block: Buffer[] = [];
  for (let seq = 1; seq <= traces; seq += 1) {
    const turn = Math.ceil(seq / 2);
    const encoded = encodeRecord({
      id: `rt_${seq}`,
      ts: 1_700_000_000 + seq,
      turn_id: `turn_${String(turn).padStart(4, '0')}`,
      seq: ((seq - 1) % 2) + 1,
      trace_type: seq % 2 === 1 ? 'user' : 'assistant',
      source_event: 'Bench',
      content: `message ${seq} of a long history`,
    });
    block.push(encoded.body, Buffer.from(encodeLineEnd(encoded, seq).text));
    if (block.length >= 20_000) {
      await appendFile(journal, Buffer.concat(block));
      block = [];
    }
  }
  await appendFile(journal, Buffer.concat(block));
  await compactLongHistory(folder);
}

/** The context that such an agent has: what a compaction left, and ten turns. */
async function compactLongHistory(folder: string): Promise<void> {
  const opened = await openMemory(new FileStorage(folder), 'bench', { compaction: null });
  const memory: Message = {
    role: 'user',
    content: `[MEMORY:EPISODIC]\n1) ${textOfSize(MESSAGE_BYTES, 3)}`,
    kind: 'memory',
  };
  await opened.memory.resetWorkingContextSnapshot(
    [{ role: 'system', content: PROMPT }, memory],
    'compaction of the bench',
  );
  for (let turn = 0; turn < 10; turn += 1) {
    const turnId = opened.memory.startTurn();
    await opened.memory.ingestUserMessage(textOfSize(MESSAGE_BYTES, turn), turnId);
    await opened.memory.ingestAssistantResponse({ content: textOfSize(MESSAGE_BYTES, turn + 500) }, turnId);
  }
  await opened.close();
}

async function ageBench(): Promise<void> {
  const rows: (string | number)[][] = [];
  let base: { cache: number; rebuild: number } | null = null;
  for (const traces of [10_000, 1_000_000]) {
    await inTempFolder(async (folder) => {
      await buildLongHistory(folder, traces);
      const cache: number[] = [];
      const rebuild: number[] = [];
      let messages = 0;
      for (let run = 0; run < 15; run += 1) {
        cache.push((await restoreMs(folder, false)).ms);
        const rebuilt = await restoreMs(folder, true);
        rebuild.push(rebuilt.ms);
        messages = rebuilt.messages;
      }
      base ??= { cache: median(cache), rebuild: median(rebuild) };
      rows.push([
        traces,
        messages,
        `${ms(median(cache))} (${ratio(median(cache), base.cache)})`,
        `${ms(median(rebuild))} (${ratio(median(rebuild), base.rebuild)})`,
      ]);
      await rm(folder, { recursive: true, force: true });
    });
  }
  printTable(
    'Restore of an old agent with a compacted context, median of 15; ratios to 10,000 traces',
    ['traces', 'messages', 'from cache ms', 'rebuild ms'],
    rows,
  );
}

const [, , flag, what, folder] = process.argv;
if (flag === '--child') await child(what ?? '', folder ?? '');
else {
  await coldBench();
  await restoreBench();
  await ageBench();
}
