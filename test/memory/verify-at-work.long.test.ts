/** `verifyAgent` on an agent that is at work meanwhile. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createAgent } from '../../src/agent/factory/agent-factory.js';
import { ScriptedModel } from '../../src/agent/model/scripted-model.js';
import { verifyAgent } from '../../src/memory/maintenance/verify-agent.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';

const TURNS = 400;
const LOOKS = 12;

async function agentIn(dir: string) {
  const answers = Array.from({ length: TURNS }, (_, n) => ({ text: `Answer ${n}. ${'y'.repeat(2_000)}` }));
  const model = new ScriptedModel(answers);
  const agent = createAgent({ agentId: 'busy', memoryDir: dir, systemPrompt: 'You are brief.', model });
  await agent.start();
  return agent;
}

it('finds nothing wrong with it, and the damage of one that rests', { timeout: 120_000 }, async () => {
  const dir = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-at-work-'));
  onTestFinished(() => fs.rm(dir, { recursive: true, force: true }));
  const storage = new FileStorage(dir);
  const agent = await agentIn(dir);
  let isOver = false;
  const working = (async () => {
    for (let n = 0; n < TURNS && !isOver; n += 1) await agent.send(`Question ${n}?`);
  })();
  for (let look = 0; look < LOOKS; look += 1)
    expect(await verifyAgent(storage, 'busy')).toMatchObject({ ok: true, problems: [] });
  isOver = true;
  await working;
  await agent.stop();
  expect(await verifyAgent(storage, 'busy')).toMatchObject({ cacheEqualsRebuild: true, isAtWork: false });

  const cache = path.join(dir, 'agents', 'busy', 'working_context_snapshot.json');
  await fs.writeFile(cache, (await fs.readFile(cache, 'utf8')).replace('You are brief', 'You are Brief'));
  const damaged = await verifyAgent(storage, 'busy');
  expect(damaged).toMatchObject({ ok: false, isAtWork: false });
  expect(damaged.problems[0]).toContain('the cache is ');
  await storage.close();
});
