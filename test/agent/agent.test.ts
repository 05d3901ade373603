/** Start, stop, status and the queue of turns. */
import { describe, expect, it } from 'vitest';
import type { Agent } from '../../src/agent/agent.js';
import type { AgentStatus } from '../../src/agent/agent-events.js';
import { agentFixture, callsWork, gate, outline, rejection, tool, until } from './agent-fixture.js';

function statusesOf(agent: Agent): AgentStatus[] {
  const seen: AgentStatus[] = [];
  agent.events.on('status_changed', ({ to }) => seen.push(to));
  return seen;
}

describe('an agent', () => {
  it('goes from created over starting to idle, to running in a turn, and to stopped', async () => {
    const fixture = await agentFixture();
    const agent = fixture.created([{ text: 'Hello.' }]);
    expect(agent.status).toBe('created');
    const seen = statusesOf(agent);
    await agent.start();
    await agent.send('hi');
    await agent.stop();
    expect(seen).toEqual(['starting', 'idle', 'running', 'idle', 'stopping', 'stopped']);
  });

  it('starts once, however often it is told to', async () => {
    const fixture = await agentFixture();
    const agent = fixture.created([]);
    await Promise.all([agent.start(), agent.start()]);
    await agent.start();
    expect(await fixture.rows()).toHaveLength(1);
  });

  it('is failed after a start that failed, and lets the lease go', async () => {
    const fixture = await agentFixture();
    await (await fixture.started([])).stop();
    const taken = fixture.created([]);
    expect(await rejection(taken.start())).toBe('AGENT_EXISTS');
    expect(taken.status).toBe('failed');
    expect(await rejection(taken.send('hi'))).toBe('AGENT_STATE');
    const next = fixture.restored([]);
    await next.start();
    expect(next.status).toBe('idle');
  });

  it('refuses turns before start() with AGENT_STATE', async () => {
    const fixture = await agentFixture();
    const agent = fixture.created([]);
    expect(await rejection(agent.send('hi'))).toBe('AGENT_STATE');
    expect(await rejection(agent.resume())).toBe('AGENT_STATE');
  });

  it('refuses turns and another start after stop() with AGENT_STATE', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([]);
    await agent.stop();
    expect(await rejection(agent.send('hi'))).toBe('AGENT_STATE');
    expect(await rejection(agent.resume())).toBe('AGENT_STATE');
    expect(await rejection(agent.start())).toBe('AGENT_STATE');
    const stream = async () => {
      for await (const _ of agent.stream('hi'));
    };
    expect(await rejection(stream())).toBe('AGENT_STATE');
  });

  it('refuses a blank message with MESSAGE_INVALID, writes nothing, and goes on', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([{ text: 'Hello.' }]);
    expect(await rejection(agent.send(' \n'))).toBe('MESSAGE_INVALID');
    expect(agent.status).toBe('idle');
    expect(await fixture.rows()).toHaveLength(1);
    expect((await agent.send('hi')).text).toBe('Hello.');
  });

  it('keeps a listener that throws away from the turn', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([{ text: 'Hello.' }]);
    agent.events.on('text_delta', () => {
      throw new Error('a bad listener');
    });
    expect((await agent.send('hi')).text).toBe('Hello.');
  });
});

describe('turns', () => {
  it('wait for each other, in the order in which they were sent', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([
      { text: 'One it is.', wordMs: 5 },
      { text: 'Two it is.' },
      { text: 'Three it is.' },
    ]);
    const results = await Promise.all(['one', 'two', 'three'].map((text) => agent.send(text)));
    expect(results.map(({ turnId }) => turnId)).toEqual(['turn_0001', 'turn_0002', 'turn_0003']);
    expect(outline(agent.messages)).toEqual([
      'user: one',
      'assistant: One it is.',
      'user: two',
      'assistant: Two it is.',
      'user: three',
      'assistant: Three it is.',
    ]);
  });

  it('that wait run although the one before them failed', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([{ fails: new Error('overloaded') }, { text: 'Two it is.' }], {
      retry: { retriesMax: 0 },
    });
    const first = rejection(agent.send('one'));
    const second = agent.send('two');
    expect(await first).toBe('MODEL_FAILED');
    expect((await second).text).toBe('Two it is.');
  });
});

describe('stop()', () => {
  it('of an agent that never started is fine', async () => {
    const fixture = await agentFixture();
    const agent = fixture.created([]);
    await agent.stop();
    expect(agent.status).toBe('stopped');
    expect(await rejection(agent.start())).toBe('AGENT_STATE');
  });

  it('while the agent starts waits for the start, then stops it', async () => {
    const fixture = await agentFixture();
    const agent = fixture.created([]);
    const starting = agent.start();
    await agent.stop();
    await starting;
    expect(agent.status).toBe('stopped');
    const next = fixture.restored([]);
    await next.start();
    expect(next.status).toBe('idle');
  });

  it('can be called twice at once and again later', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([]);
    const failures: unknown[] = [];
    agent.memory.events.on('snapshot_failed', (event) => failures.push(event));
    await Promise.all([agent.stop(), agent.stop()]);
    await agent.stop();
    expect(agent.status).toBe('stopped');
    expect(failures).toEqual([]);
  });

  it('lets the turn under way finish within the grace time', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([{ text: 'It takes a moment.', wordMs: 10 }]);
    const turn = agent.send('hi');
    await until(() => agent.status === 'running');
    await agent.stop();
    expect(await turn).toMatchObject({ status: 'completed', text: 'It takes a moment.' });
    expect(agent.status).toBe('stopped');
  });

  it('cancels the turn under way after the grace time, and what was said stays', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([{ text: 'This would take '.repeat(1_000), wordMs: 5 }]);
    const spoke = gate();
    agent.events.on('text_delta', spoke.open);
    const turn = agent.send('hi');
    await spoke.opened;
    await agent.stop({ graceMs: 0 });
    const result = await turn;
    expect(result.status).toBe('aborted');
    expect(agent.status).toBe('stopped');
    const next = fixture.restored([]);
    await next.start();
    expect(outline(next.messages)).toEqual(['user: hi', `assistant: ${result.text}`]);
    expect(next.messages.at(-1)?.status).toBe('aborted');
  });

  it('gives a tool that ignores the abort its result and does not wait for it', async () => {
    const fixture = await agentFixture();
    const started = gate();
    const work = tool({
      execute: () => {
        started.open();
        return new Promise(() => {}); // for ever
      },
    });
    const agent = await fixture.started([callsWork()], { tools: [work] });
    const turn = agent.send('hi');
    await started.opened;
    await agent.stop({ graceMs: 0 });
    expect((await turn).status).toBe('aborted');
    expect(outline(agent.messages).at(-1)).toMatch(/^error: The agent was stopped/);
  });

  it('refuses turns that still wait with AGENT_STATE', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([{ text: 'Only this one.', wordMs: 5 }]);
    const first = agent.send('one');
    const second = rejection(agent.send('two'));
    await until(() => agent.status === 'running');
    await agent.stop();
    expect((await first).status).toBe('completed');
    expect(await second).toBe('AGENT_STATE');
    expect(outline(agent.messages)).not.toContain('user: two');
  });

  it('brings the cache up to date and lets another process in at once', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([{ text: 'Hello.' }]);
    await agent.send('hi');
    await agent.stop();
    const next = fixture.restored([]);
    await next.start();
    expect(next.restoreReport).toMatchObject({ source: 'cache', tracesReplayed: 0, cacheRefused: null });
  });
});
