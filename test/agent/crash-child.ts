/**
 * A process that is killed: starts the agent `ada` in the folder of its first argument and lets it run into the moment named by
 * its second one. Prints `ready` there and waits for the end.
 */
import fs from 'node:fs';
import path from 'node:path';
import { createAgent } from '../../src/agent/factory/agent-factory.js';
import type { ModelEvent } from '../../src/agent/model/language-model.js';

export type CrashMoment = 'in-tool' | 'after-tool' | 'in-approval';

const [, , dir = '', moment = ''] = process.argv;

function ready(): Promise<never> {
  process.stdout.write('ready\n');
  setInterval(() => {}, 60_000); // stays alive
  return new Promise(() => {});
}

let requests = 0;
const model = {
  origin: { provider: 'scripted' },
  async *stream(): AsyncGenerator<ModelEvent> {
    requests += 1;
    if (requests > 1) await ready();
    yield { type: 'text', delta: 'I pay.' };
    yield { type: 'tool_call', call: { id: 'pay-1', name: 'pay', arguments: { euro: 5 } } };
    yield { type: 'tool_call', call: { id: 'pay-2', name: 'pay', arguments: { euro: 7 } } };
    yield { type: 'finish', reason: 'tool-calls' };
  },
};

const agent = createAgent({
  agentId: 'ada',
  memoryDir: dir,
  model,
  parallelToolsMax: 1,
  approve: () => ready(),
  tools: [
    {
      name: 'pay',
      description: 'Pays.',
      inputSchema: { type: 'object' },
      needsApproval: moment === 'in-approval',
      execute: async ({ euro }) => {
        fs.appendFileSync(path.join(dir, 'paid.txt'), `${euro}\n`);
        if (moment === 'in-tool') await ready();
        return { paid: euro! };
      },
    },
  ],
});
await agent.start();
await agent.send('Pay my bills.');
