/**
 * A process that is killed while inputs of all modes are added: prints the id of each when it is acknowledged. Its arguments are
 * the folder, the first number of its inputs, and a seed.
 */
import { openAgent } from '../../../src/agent/factory/agent-factory.js';
import type { InputMode } from '../../../src/agent/inputs/input-table.js';
import type { LanguageModel } from '../../../src/agent/model/language-model.js';
import { toolResultOf } from '../../../src/messages/message.js';
import { SeededRandom } from '../../../src/storage/simulated/seeded-random.js';

const [, , dir = '', first = '0', seed = '1'] = process.argv;
const random = new SeededRandom(Number(seed));
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const MODES: readonly InputMode[] = ['queue', 'steer', 'interrupt'];

/** Calls a tool, then answers. */
const model: LanguageModel = {
  origin: { provider: 'test' },
  async *stream({ messages }) {
    await pause(random.below(10));
    const isAnswered = toolResultOf(messages.at(-1)!) !== null;
    if (isAnswered) yield { type: 'text', delta: 'done' };
    else yield { type: 'tool_call', call: { id: `c${messages.length}`, name: 'work', arguments: {} } };
  },
};
const work = {
  name: 'work',
  description: 'Works.',
  inputSchema: { type: 'object' },
  idempotent: true,
  execute: async () => {
    await pause(random.below(10));
    return 'ok';
  },
} as const;

const agent = await openAgent('ada', { memoryDir: dir, model, tools: [work] });
await agent.start();
void agent.runQueued().catch(() => {});
for (let number = Number(first); ; number += 1) {
  const id = `in-${number}`;
  void agent
    .enqueue(`text of ${id}.`, { id, mode: MODES[random.below(3)]! })
    .then(() => process.stdout.write(`${id}\n`));
  await pause(random.below(12));
}
