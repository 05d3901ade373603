/**
 * What it costs that a streamed answer is durable before it is read: an answer of 300 words, 4 ms apart, that nobody reads while it is
 * written, and one that is streamed to a reader, taken by turns.
 */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Agent } from '../src/agent/agent.js';
import { createAgent } from '../src/agent/factory/agent-factory.js';
import type { ModelEvent, ModelRequest } from '../src/agent/model/language-model.js';
import { FileStorage } from '../src/storage/file/file-storage.js';
import { CountingFileSystem, inTempFolder, median, ms, printTable, quantile, ratio } from './support.js';

const WORDS = 300;
const WORD_MS = 4;
const TURNS = 10;

/** Notes when it gives each word. */
class SlowModel {
  readonly origin = { provider: 'bench' };
  readonly given: number[] = [];

  async *stream(_: ModelRequest): AsyncGenerator<ModelEvent> {
    for (let word = 0; word < WORDS; word += 1) {
      await new Promise((resolve) => setTimeout(resolve, WORD_MS));
      this.given.push(performance.now());
      yield { type: 'text', delta: `word${word} ` };
    }
    yield { type: 'finish', reason: 'stop' };
  }
}

interface Seen {
  readonly wall: number[];
  readonly cpu: number[];
  readonly syncs: number[];
  readonly delays: number[];
  readonly firsts: number[];
}

async function turnOf(agent: Agent, model: SlowModel, isStreamed: boolean, seen: Seen): Promise<void> {
  const { given } = model;
  given.length = 0;
  if (!isStreamed) return void (await agent.send('go'));
  let word = 0;
  for await (const event of agent.stream('go')) {
    if (event.type !== 'text_delta') continue;
    const delay = performance.now() - given[word]!;
    if (word === 0) seen.firsts.push(delay);
    seen.delays.push(delay);
    word += 1;
  }
}

await inTempFolder(async (folder) => {
  const kinds = await Promise.all(
    ['at its end', 'streamed'].map(async (name) => {
      const model = new SlowModel();
      const fs = new CountingFileSystem();
      const storage = new FileStorage(path.join(folder, name), { fileSystem: fs });
      const agent = createAgent({ agentId: 'bench', storage, model });
      await agent.start();
      const seen: Seen = { wall: [], cpu: [], syncs: [], delays: [], firsts: [] };
      return { name, model, fs, storage, agent, seen };
    }),
  );
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (const { name, model, fs, agent, seen } of kinds) {
      const [start, cpu, syncs] = [performance.now(), process.cpuUsage(), fs.datasyncs];
      await turnOf(agent, model, name === 'streamed', seen);
      const used = process.cpuUsage(cpu);
      seen.wall.push(performance.now() - start);
      seen.cpu.push((used.user + used.system) / 1000);
      seen.syncs.push(fs.datasyncs - syncs);
    }
  }
  const [plain] = kinds;
  printTable(
    `an answer of ${WORDS} words, ${WORD_MS} ms apart`,
    ['read', 'turn p50', 'against at its end', 'CPU p50', 'syncs', 'first word', 'a word p50', 'p99'],
    kinds.map(({ name, seen }) => [
      name,
      ms(median(seen.wall)),
      ratio(median(seen.wall), median(plain!.seen.wall)),
      ms(median(seen.cpu)),
      String(median(seen.syncs)),
      ...(seen.delays.length === 0
        ? ['-', '-', '-']
        : [median(seen.firsts), median(seen.delays), quantile(seen.delays, 0.99)].map(ms)),
    ]),
  );
  const sizes = await Promise.all(
    ['answer_parts', 'raw_traces'].map(async (journal) => {
      const { size } = await stat(path.join(folder, 'streamed', 'agents', 'bench', `${journal}.jsonl`));
      return [journal, `${(size / 1e3).toFixed(1)} KB`];
    }),
  );
  printTable(`journals after ${TURNS} turns`, ['journal', 'size'], sizes);
  for (const { agent, storage } of kinds) {
    await agent.stop();
    await storage.close();
  }
});
