import { describe, expect, it } from 'vitest';
import type { Agent } from '../../../src/agent/agent.js';
import type { AgentEvent } from '../../../src/agent/agent-events.js';
import { agentFixture, outline, rejection } from '../agent-fixture.js';

const LONG = { text: 'word '.repeat(2_000), wordMs: 3 };

async function eventsOf(agent: Agent, input: string): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of agent.stream(input)) events.push(event);
  return events;
}

function textOf(events: readonly AgentEvent[]): string {
  return events.map((event) => (event.type === 'text_delta' ? event.delta : '')).join('');
}

describe('stream()', () => {
  it('does nothing until it is read', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([]);
    agent.stream('hi');
    expect(agent.messages).toEqual([]);
    expect(agent.status).toBe('idle');
  });

  it('ends with the end of the turn', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([{ text: 'Hello.' }]);
    const events = await eventsOf(agent, 'hi');
    expect(events.at(-1)).toMatchObject({ type: 'turn_ended', text: 'Hello.' });
    expect(agent.status).toBe('idle');
  });

  it('left early cancels the turn, and is left only when the turn has ended', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([LONG]);
    for await (const event of agent.stream('talk')) if (event.type === 'text_delta') break;
    expect(agent.status).toBe('idle');
    expect(agent.messages.at(-1)).toMatchObject({ role: 'assistant', status: 'aborted' });
  });

  it('cancelled by a signal ends with an aborted turn', async () => {
    const fixture = await agentFixture();
    const cancel = new AbortController();
    const agent = await fixture.started([LONG]);
    let last: AgentEvent | null = null;
    for await (const event of agent.stream('talk', { signal: cancel.signal })) {
      last = event;
      if (event.type === 'text_delta') cancel.abort();
    }
    expect(last).toMatchObject({ type: 'turn_ended', status: 'aborted' });
  });

  it('throws what the turn rejects with, after the events before it', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([{ text: 'I', fails: new Error('overloaded') }], {
      retry: { retriesMax: 0 },
    });
    const seen: string[] = [];
    const reading = async () => {
      for await (const event of agent.stream('hi')) seen.push(event.type);
    };
    expect(await rejection(reading())).toBe('MODEL_FAILED');
    expect(seen).toEqual(['turn_started', 'text_delta']);
  });

  it('of a turn that waits shows nothing of the turn before it', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([{ text: 'One it is.', wordMs: 3 }, { text: 'Two it is.' }]);
    const first = agent.send('one');
    const events = await eventsOf(agent, 'two');
    await first;
    expect(textOf(events)).toBe('Two it is.');
    expect(events[0]).toMatchObject({ type: 'turn_started', turnId: 'turn_0002' });
    expect(events.filter(({ type }) => type === 'turn_ended')).toHaveLength(1);
  });

  it('read twice at once gives each reader its own turn', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([{ text: 'One it is.' }, { text: 'Two it is.' }]);
    const [one, two] = await Promise.all([eventsOf(agent, 'one'), eventsOf(agent, 'two')]);
    expect([textOf(one), textOf(two)]).toEqual(['One it is.', 'Two it is.']);
    expect(outline(agent.messages)).toHaveLength(4);
  });

  it('of a blank message throws and shows nothing', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([]);
    expect(await rejection(eventsOf(agent, ''))).toBe('MESSAGE_INVALID');
  });

  it('leaves no listener behind', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([{ text: 'Hello.' }]);
    let ended = 0;
    const on = agent.events.on.bind(agent.events);
    agent.events.on = (name, listener) => {
      const end = on(name, listener);
      ended -= 1;
      return () => {
        ended += 1;
        end();
      };
    };
    await eventsOf(agent, 'hi');
    expect(ended).toBe(0);
  });
});
