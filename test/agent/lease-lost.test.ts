/** Another process takes the agent over while this one runs it. Nothing crashes, nothing is written any more, and it is told. */
import { describe, expect, it } from 'vitest';
import type { Agent } from '../../src/agent/agent.js';
import type { AgentConfig } from '../../src/agent/context/agent-config.js';
import type { ScriptStep } from '../../src/agent/model/scripted-model.js';
import {
  type AgentFixture,
  agentFixture,
  callsWork,
  gate,
  outline,
  rejection,
  storageAfterKill,
  tool,
  until,
} from './agent-fixture.js';

/** The shortest heartbeat that there is. */
const MEMORY = { leaseTtlMs: 150 };

function start(
  fixture: AgentFixture,
  script: readonly ScriptStep[],
  config: Partial<AgentConfig> = {},
): Promise<Agent> {
  return fixture.started(script, { memory: MEMORY, ...config });
}

async function takeOver(fixture: AgentFixture, script: readonly ScriptStep[] = []): Promise<Agent> {
  const successor = fixture.restored(script, { storage: storageAfterKill(fixture.dir) });
  await successor.start();
  return successor;
}

describe('an agent that was taken over', () => {
  it('learns it by its heartbeat, also while it is idle', async () => {
    const fixture = await agentFixture();
    const agent = await start(fixture, []);
    await takeOver(fixture);
    await until(() => agent.status === 'lease_lost');
    expect(await rejection(agent.send('hi'))).toBe('LEASE_LOST');
    expect(await rejection(agent.resume())).toBe('LEASE_LOST');
  });

  it('refuses the next message with LEASE_LOST and writes nothing of it', async () => {
    const fixture = await agentFixture();
    const agent = await start(fixture, [{ text: 'unheard' }], { memory: { leaseTtlMs: 60_000 } });
    const successor = await takeOver(fixture, [{ text: 'It is me now.' }]);
    expect(await rejection(agent.send('who is there?'))).toBe('LEASE_LOST');
    expect(agent.status).toBe('lease_lost');
    expect((await successor.send('and you?')).text).toBe('It is me now.');
    expect(outline(successor.messages)).toEqual(['user: and you?', 'assistant: It is me now.']);
  });

  it('stops in mid-answer, and the turn and those that wait reject with LEASE_LOST', async () => {
    const fixture = await agentFixture();
    const agent = await start(fixture, [{ text: 'word '.repeat(5_000), wordMs: 5 }]);
    const spoke = gate();
    agent.events.on('text_delta', spoke.open);
    const turns = [rejection(agent.send('talk')), rejection(agent.send('more'))];
    await spoke.opened;
    const successor = await takeOver(fixture);
    expect(await Promise.all(turns)).toEqual(['LEASE_LOST', 'LEASE_LOST']);
    expect(agent.status).toBe('lease_lost');
    expect(outline(successor.messages)).toEqual([
      'user: talk',
      expect.stringMatching(/^assistant: (word )+$/),
    ]);
  });

  it('before the model said anything rejects as well', async () => {
    const fixture = await agentFixture();
    const asked = gate();
    const model = {
      origin: { provider: 'test' },
      async *stream({ signal }: { signal: AbortSignal }) {
        asked.open();
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        yield { type: 'finish', reason: 'stop' } as const;
      },
    };
    const agent = await start(fixture, [], { model });
    const turn = rejection(agent.send('hi'));
    await asked.opened;
    await takeOver(fixture);
    expect(await turn).toBe('LEASE_LOST');
  });

  it('in a tool rejects, and the successor alone says what became of the call', async () => {
    const fixture = await agentFixture();
    const started = gate();
    let aborted = false;
    const work = tool({
      execute: (_, { signal }) => {
        signal.addEventListener('abort', () => (aborted = true));
        started.open();
        return new Promise(() => {});
      },
    });
    const agent = await start(fixture, [callsWork()], { tools: [work] });
    const turn = rejection(agent.send('go'));
    await started.opened;
    const successor = await takeOver(fixture, [{ text: 'I shall look.' }]);
    expect(await turn).toBe('LEASE_LOST');
    expect(aborted).toBe(true);
    expect(successor.restoreReport?.interruptedCalls).toMatchObject([{ verdict: 'outcome_unknown' }]);
    expect((await successor.resume()).text).toBe('I shall look.');
    const results = (await fixture.rows()).filter((row) => row['trace_type'] === 'tool_result');
    expect(results).toMatchObject([{ synthetic: true }]);
  });

  it('can be stopped, and leaves the cache of its successor alone', async () => {
    const fixture = await agentFixture();
    const agent = await start(fixture, []);
    const successor = await takeOver(fixture, [{ text: 'Hello.' }]);
    await successor.send('hi');
    const before = await fixture.files();
    await until(() => agent.status === 'lease_lost');
    await agent.stop();
    expect(agent.status).toBe('stopped');
    expect(await fixture.files()).toEqual(before);
    await successor.stop();
    const third = fixture.restored([]);
    await third.start();
    expect(third.restoreReport?.source).toBe('cache');
  });
});
