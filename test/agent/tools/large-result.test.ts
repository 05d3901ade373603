import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { createAgent, ScriptedModel } from '../../../src/index.js';
import { toolResultOf } from '../../../src/messages/message.js';

let folder = '';
afterEach(() => rm(folder, { recursive: true, force: true }));

it('a result that is too large for a journal record is stored apart, and the turn continues', async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'rekindle-large-'));
  const agent = createAgent({
    agentId: 'large',
    memoryDir: folder,
    model: new ScriptedModel([{ calls: [{ name: 'dump', arguments: {} }] }, { text: 'done' }]),
    tools: [
      {
        name: 'dump',
        description: 'Returns more than a journal record takes.',
        inputSchema: { type: 'object' },
        execute: () => 'x'.repeat(65 * 1024 * 1024),
      },
    ],
  });
  await agent.start();
  expect(await agent.send('go')).toMatchObject({ status: 'completed', text: 'done' });
  const result = agent.messages.map(toolResultOf).find((item) => item !== null);
  expect(result?.toolResult).toMatch(/read_result\(\{"ref":"[0-9a-f]+"\}\)/);
  await agent.stop();
});
