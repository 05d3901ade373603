/** Durable turns a second of one agent and of 64 in one process, and how long the event loop was blocked meanwhile. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type OpenMemory, openMemory } from '../src/memory/open-memory.js';
import { FileStorage } from '../src/storage/file/file-storage.js';
import { inTempFolder, ms, printTable, ratio, textOfSize } from './support.js';

const SECONDS = 3;
const MESSAGE_BYTES = 1_000;

interface Throughput {
  readonly turnsPerSecond: number;
  readonly worstBlockMs: number;
}

async function measure(agents: number): Promise<Throughput> {
  return inTempFolder(async (folder) => {
    const storage = new FileStorage(folder);
    const opened: OpenMemory[] = [];
    for (let agent = 0; agent < agents; agent += 1) {
      const memory = await openMemory(storage, `agent-${agent}`, { compaction: null });
      await memory.memory.begin('You are a bench.');
      opened.push(memory);
    }
    const text = textOfSize(MESSAGE_BYTES, 1);
    for (const { memory } of opened) await turn(memory, text); // opens the journals
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const start = performance.now();
    const counts = await Promise.all(
      opened.map(({ memory }) => turnsUntil(memory, text, start + SECONDS * 1_000)),
    );
    const seconds = (performance.now() - start) / 1_000;
    delay.disable();
    for (const memory of opened) await memory.close();
    const turns = counts.reduce((sum, count) => sum + count, 0);
    // The timer itself waits 1 ms.
    return { turnsPerSecond: turns / seconds, worstBlockMs: delay.max / 1e6 - 1 };
  });
}

async function turnsUntil(memory: OpenMemory['memory'], text: string, end: number): Promise<number> {
  let turns = 0;
  while (performance.now() < end) {
    await turn(memory, text);
    turns += 1;
  }
  return turns;
}

async function turn(memory: OpenMemory['memory'], text: string): Promise<void> {
  const turnId = memory.startTurn();
  await memory.ingestUserMessage(text, turnId);
  await memory.ingestAssistantResponse({ content: text }, turnId);
}

const one = await measure(1);
const many = await measure(64);
printTable(
  `Durable turns (two commits and a cache write each) in one process, ${SECONDS} s each`,
  ['agents', 'turns a second', 'vs one', 'longest block of the event loop, ms'],
  [
    [1, one.turnsPerSecond.toFixed(0), '1.00x', ms(one.worstBlockMs)],
    [
      64,
      many.turnsPerSecond.toFixed(0),
      ratio(many.turnsPerSecond, one.turnsPerSecond),
      ms(many.worstBlockMs),
    ],
  ],
);
