/** kill -9 while inputs of all modes are added: each acknowledged input becomes one user message. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { Agent } from '../../../src/agent/agent.js';
import { checkHistory } from '../../../src/messages/legality/history.js';
import { textOf } from '../../../src/messages/message.js';
import { SeededRandom } from '../../../src/storage/simulated/seeded-random.js';
import { agentFixture } from '../agent-fixture.js';

const CHILD = fileURLToPath(new URL('./queue-child.ts', import.meta.url));
const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url));
const SEED = Number(process.env['REKINDLE_SEED'] ?? Date.now() % 2 ** 31);
const KILLS = 3;
const STEP = 10_000;

/** Kills the child some time after so many inputs were acknowledged; returns the ids of all that were. */
async function killedAfter(dir: string, first: number, acks: number, ms: number): Promise<string[]> {
  const args = ['--import', 'tsx', CHILD, dir, String(first), String(SEED)];
  const child = spawn(process.execPath, args, { cwd: REPOSITORY, stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  let read = '';
  child.stdout.on('data', (chunk: Buffer) => {
    read += String(chunk);
    if (read.split('\n').length > acks) setTimeout(() => child.kill('SIGKILL'), ms);
  });
  await closed;
  return read.split('\n').slice(0, -1);
}

/** Of the user messages of the context. */
function idsIn(agent: Agent): string[] {
  const texts = agent.messages.filter(({ role }) => role === 'user').map(textOf);
  return texts.flatMap((text) => /^text of (.+)\.$/.exec(text)?.[1] ?? []);
}

it('an input that was acknowledged before a kill becomes one user message', {
  timeout: 120_000,
}, async () => {
  console.log(`killed queue: REKINDLE_SEED=${SEED}`);
  const random = new SeededRandom(SEED);
  const fixture = await agentFixture();
  const acknowledged: string[] = [];
  for (let kill = 0; kill < KILLS; kill += 1)
    acknowledged.push(
      ...(await killedAfter(fixture.dir, kill * STEP, 10 + random.below(40), random.below(15))),
    );
  const agent = fixture.restored(Array.from({ length: 500 }, () => ({ text: 'done' })));
  await agent.start();
  const waiting = (await agent.queuedInputs()).map(({ id }) => id);
  const all = [...idsIn(agent), ...waiting];
  expect(new Set(all).size).toBe(all.length);
  expect(acknowledged.filter((id) => !all.includes(id))).toEqual([]);
  expect(acknowledged.length).toBeGreaterThan(KILLS * 10);
  await agent.runQueued();
  expect(idsIn(agent).sort()).toEqual(all.sort());
  expect(checkHistory(agent.messages)).toEqual([]);
});
