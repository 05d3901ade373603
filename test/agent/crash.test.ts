/** kill -9 in the middle of a turn, and what the next process finds and does. */
import { spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Agent } from '../../src/agent/agent.js';
import type { ScriptStep } from '../../src/agent/model/scripted-model.js';
import { checkHistory } from '../../src/messages/legality/history.js';
import { type AgentFixture, agentFixture, outline, tool } from './agent-fixture.js';
import type { CrashMoment } from './crash-child.js';

const CHILD = fileURLToPath(new URL('./crash-child.ts', import.meta.url));
const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));

/** Runs the child until it is in the given moment, and kills it there. */
async function killed(dir: string, moment: CrashMoment): Promise<void> {
  const child = spawn(process.execPath, ['--import', 'tsx', CHILD, dir, moment], {
    cwd: REPOSITORY,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => String(chunk).includes('ready') && resolve());
    child.once('exit', (code) => reject(new Error(`The child ended by itself with ${code}.`)));
  });
  try {
    await ready;
  } finally {
    child.kill('SIGKILL');
    await exited;
  }
}

const MOMENTS: readonly CrashMoment[] = ['in-tool', 'after-tool', 'in-approval'];
const left = new Map<CrashMoment, string>();

beforeAll(async () => {
  const kill = async (moment: CrashMoment) => {
    const dir = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-killed-'));
    left.set(moment, dir);
    await killed(dir, moment);
  };
  await Promise.all(MOMENTS.map(kill));
}, 60_000);

afterAll(async () => {
  for (const dir of left.values()) await fs.rm(dir, { recursive: true, force: true });
});

/** A copy of the folder that a killed child left. */
async function leftBy(moment: CrashMoment): Promise<AgentFixture> {
  const fixture = await agentFixture();
  await fs.cp(left.get(moment)!, fixture.dir, { recursive: true, preserveTimestamps: true });
  return fixture;
}

async function paidIn(fixture: AgentFixture): Promise<string[]> {
  const text = await fs.readFile(path.join(fixture.dir, 'paid.txt'), 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}

/** Restores with a tool that pays into the same file. */
async function restored(
  fixture: AgentFixture,
  script: readonly ScriptStep[],
  keepPendingApprovals = false,
): Promise<Agent> {
  const pay = tool({
    name: 'pay',
    needsApproval: keepPendingApprovals,
    execute: async ({ euro }) => {
      await fs.appendFile(path.join(fixture.dir, 'paid.txt'), `${euro}\n`);
      return { paid: euro! };
    },
  });
  const agent = fixture.restored(
    script,
    { tools: [pay], parallelToolsMax: 1, approve: () => true },
    { keepPendingApprovals },
  );
  await agent.start();
  return agent;
}

describe('a process killed in the middle of a tool', () => {
  const fixtureLeft = () => leftBy('in-tool');

  it('leaves a call of unknown outcome and one that was never started', async () => {
    const fixture = await fixtureLeft();
    const agent = await restored(fixture, []);
    expect(agent.restoreReport).toMatchObject({
      source: 'rebuilt',
      frontier: { kind: 'interrupted_tools', callIds: ['pay-1', 'pay-2'] },
      interruptedCalls: [
        { callId: 'pay-1', verdict: 'outcome_unknown' },
        { callId: 'pay-2', verdict: 'not_started' },
      ],
      unknown: ['Whether the call pay-1 of pay took effect.'],
    });
    expect(agent.restoreReport?.repairs).toMatchObject([
      { code: 'add-interrupted-result', callId: 'pay-1' },
      { code: 'add-interrupted-result', callId: 'pay-2' },
    ]);
  });

  it('ran the tool once, and the restore does not run it again', async () => {
    const fixture = await fixtureLeft();
    await restored(fixture, []);
    expect(await paidIn(fixture)).toEqual(['5']);
  });

  it('is gone on with by resume(), which tells the model what is not known', async () => {
    const fixture = await fixtureLeft();
    let seen: string[] = [];
    const agent = await restored(fixture, [
      (request) => {
        seen = outline(request.messages);
        return { text: 'I shall check first.' };
      },
    ]);
    expect(await agent.resume()).toMatchObject({
      turnId: 'turn_0001',
      status: 'completed',
      text: 'I shall check first.',
    });
    expect(seen.slice(0, 4)).toEqual([
      'user: Pay my bills.',
      'assistant: I pay.',
      'call: pay{"euro":5}',
      'call: pay{"euro":7}',
    ]);
    expect(seen[4]).toMatch(/^error: .*outcome is unknown.*Check its effects/);
    expect(seen[5]).toMatch(/^error: .*before this call was started/);
    expect(await paidIn(fixture)).toEqual(['5']);
    expect(checkHistory(agent.messages)).toEqual([]);
  });

  it('needs no repair the second time', async () => {
    const fixture = await fixtureLeft();
    await (await restored(fixture, [])).stop();
    const agent = await restored(fixture, []);
    expect(agent.restoreReport).toMatchObject({ repairs: [], interruptedCalls: [], unknown: [] });
  });

  it('lets the next process in at once, although its lease has not run out', async () => {
    const fixture = await fixtureLeft();
    const started = Date.now();
    await restored(fixture, []);
    expect(Date.now() - started).toBeLessThan(10_000); // a lease lives for 15 s
  });
});

describe('a process killed after its tools, while the model was asked', () => {
  const fixtureLeft = () => leftBy('after-tool');

  it('has both results, and resume() asks the model and runs no tool', async () => {
    const fixture = await fixtureLeft();
    const agent = await restored(fixture, [{ text: 'Both are paid.' }]);
    expect(agent.restoreReport).toMatchObject({
      interruptedCalls: [],
      frontier: { kind: 'awaiting_assistant', turnId: 'turn_0001' },
    });
    expect((await agent.resume()).text).toBe('Both are paid.');
    expect(outline(agent.messages).slice(4)).toEqual([
      'result: {"paid":5}',
      'result: {"paid":7}',
      'assistant: Both are paid.',
    ]);
    expect(await paidIn(fixture)).toEqual(['5', '7']);
  });
});

describe('a process killed while it waited for an approval', () => {
  const fixtureLeft = () => leftBy('in-approval');

  it('leaves a call that was not approved and had no effect', async () => {
    const fixture = await fixtureLeft();
    const agent = await restored(fixture, []);
    expect(agent.restoreReport?.interruptedCalls).toMatchObject([
      { callId: 'pay-1', verdict: 'not_started', approvalPending: true, leftOpen: false },
      { callId: 'pay-2', verdict: 'not_started', approvalPending: false },
    ]);
    expect(await paidIn(fixture)).toEqual([]);
  });

  it('can ask again after the restore, and then runs the call once', async () => {
    const fixture = await fixtureLeft();
    const agent = await restored(fixture, [{ text: 'Done.' }], true);
    expect((await agent.resume()).text).toBe('Done.');
    expect(await paidIn(fixture)).toEqual(['5']);
    expect(outline(agent.messages)[4]).toBe('result: {"paid":5}');
    expect(checkHistory(agent.messages)).toEqual([]);
  });
});
