/** A model that fails: tried again with growing pauses, or not; and what the host can do afterwards. */
import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../../src/agent/agent-events.js';
import type { LanguageModel, ModelEvent } from '../../../src/agent/model/language-model.js';
import { RekindleError } from '../../../src/core/errors.js';
import { agentFixture, callsWork, outline, rejection, tool } from '../agent-fixture.js';

const overloaded = () => new Error('overloaded');

describe('a model call that fails', () => {
  it('is tried again, and what the failed try said is taken back', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([
      { text: 'I was about', fails: overloaded() },
      { text: 'Here I am.' },
    ]);
    const events: AgentEvent[] = [];
    for await (const event of agent.stream('hi')) events.push(event);
    expect(events.map(({ type }) => type)).toEqual([
      'turn_started',
      ...['text_delta', 'text_delta', 'text_delta', 'model_retry'],
      ...['text_delta', 'text_delta', 'text_delta', 'turn_ended'],
    ]);
    expect(events[4]).toMatchObject({ attempt: 1, reason: 'overloaded' });
    expect(events.at(-1)).toMatchObject({ text: 'Here I am.', steps: 1 });
    expect(outline(agent.messages)).toEqual(['user: hi', 'assistant: Here I am.']);
  });

  it('takes back reasoning and calls as well', async () => {
    const fixture = await agentFixture();
    let tries = 0;
    const model: LanguageModel = {
      origin: { provider: 'test' },
      async *stream(): AsyncGenerator<ModelEvent> {
        tries += 1;
        if (tries === 1) {
          yield { type: 'reasoning', delta: 'Call it.' };
          yield { type: 'tool_call', call: { id: 'c1', name: 'work', arguments: {} } };
          throw overloaded();
        }
        yield { type: 'text', delta: 'No need.' };
        yield { type: 'finish', reason: 'stop' };
      },
    };
    let ran = 0;
    const agent = await fixture.started([], { model, tools: [tool({ execute: () => ++ran })] });
    await agent.send('hi');
    expect(ran).toBe(0);
    expect(agent.messages.at(-1)).toMatchObject({ content: 'No need.' });
    expect(agent.messages.at(-1)?.reasoningContent).toBeUndefined();
  });

  it('pauses longer before each further try', async () => {
    const fixture = await agentFixture();
    const fails = { fails: overloaded() };
    const agent = await fixture.started([fails, fails, fails, { text: 'ok' }], {
      retry: { firstPauseMs: 4 },
    });
    const pauses: number[] = [];
    agent.events.on('model_retry', ({ pauseMs }) => pauses.push(pauseMs));
    await agent.send('hi');
    expect(pauses).toHaveLength(3);
    for (const [index, pause] of pauses.entries()) {
      expect(pause).toBeGreaterThanOrEqual(4 * 2 ** index);
      expect(pause).toBeLessThanOrEqual(5 * 2 ** index);
    }
  });

  it('fails the turn with MODEL_FAILED after the last try, and the input stays', async () => {
    const fixture = await agentFixture();
    const fails = { text: 'half', fails: overloaded() };
    const agent = await fixture.started([fails, fails], { retry: { retriesMax: 1, firstPauseMs: 1 } });
    const error = await agent.send('hi').catch((thrown: unknown) => thrown as RekindleError);
    expect(error).toMatchObject({
      code: 'MODEL_FAILED',
      details: { provider: 'scripted', model: 'scripted', attempts: 2 },
      cause: overloaded(),
    });
    expect(agent.status).toBe('idle');
    expect(outline(agent.messages)).toEqual(['user: hi']);
  });

  it('is not tried again when the model says that it would fail again', async () => {
    const fixture = await agentFixture();
    const refused = new RekindleError('INVALID_ARGUMENT', 'no such model');
    const agent = await fixture.started([{ fails: refused }]);
    const retries: unknown[] = [];
    agent.events.on('model_retry', (event) => retries.push(event));
    expect(await rejection(agent.send('hi'))).toBe('MODEL_FAILED');
    expect(retries).toEqual([]);
  });

  it('is not tried again once the caller has cancelled', async () => {
    const fixture = await agentFixture();
    const cancel = new AbortController();
    const agent = await fixture.started([{ fails: overloaded() }], { retry: { firstPauseMs: 60_000 } });
    agent.events.on('model_retry', () => cancel.abort());
    expect(await agent.send('hi', { signal: cancel.signal })).toMatchObject({ status: 'aborted', text: '' });
  });
});

describe('resume() after MODEL_FAILED', () => {
  it('goes on with the same turn and no second input', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([{ fails: overloaded() }, { text: 'Now I can.' }], {
      retry: { retriesMax: 0 },
    });
    expect(await rejection(agent.send('hi'))).toBe('MODEL_FAILED');
    const started: unknown[] = [];
    agent.events.on('turn_started', (event) => started.push(event));
    expect(await agent.resume()).toMatchObject({ turnId: 'turn_0001', text: 'Now I can.' });
    expect(started).toEqual([{ turnId: 'turn_0001', resumed: true }]);
    expect(outline(agent.messages)).toEqual(['user: hi', 'assistant: Now I can.']);
  });

  it('does not run the tools again that ran before the failure', async () => {
    const fixture = await agentFixture();
    let ran = 0;
    const agent = await fixture.started([callsWork(), { fails: overloaded() }, { text: 'Done.' }], {
      tools: [tool({ execute: () => ++ran })],
      retry: { retriesMax: 0 },
    });
    expect(await rejection(agent.send('hi'))).toBe('MODEL_FAILED');
    expect((await agent.resume()).text).toBe('Done.');
    expect(ran).toBe(1);
  });

  it('also works in another process, after a restore', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([{ fails: overloaded() }], { retry: { retriesMax: 0 } });
    expect(await rejection(agent.send('hi'))).toBe('MODEL_FAILED');
    await agent.stop();
    const next = fixture.restored([{ text: 'Now I can.' }]);
    await next.start();
    expect(next.restoreReport?.frontier.kind).toBe('awaiting_assistant');
    expect((await next.resume()).turnId).toBe('turn_0001');
  });

  it('is refused with AGENT_STATE when nothing was interrupted', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([{ text: 'Hello.' }]);
    expect(await rejection(agent.resume())).toBe('AGENT_STATE');
    await agent.send('hi');
    expect(await rejection(agent.resume())).toBe('AGENT_STATE');
    expect(agent.status).toBe('idle');
  });

  it('is not needed: another message may follow instead', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([{ fails: overloaded() }, { text: 'Yes?' }], {
      retry: { retriesMax: 0 },
    });
    expect(await rejection(agent.send('hi'))).toBe('MODEL_FAILED');
    await agent.send('are you there?');
    expect(outline(agent.messages)).toEqual(['user: hi', 'user: are you there?', 'assistant: Yes?']);
  });
});
