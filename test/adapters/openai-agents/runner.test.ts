/** The SDK's own runner over a durable session. */
import { Agent, type AgentInputItem, MemorySession, Runner, RunState, tool } from '@openai/agents-core';
import { assistantMessage, functionCall, modelError, ScriptedModel } from '@openai/agents-core/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { RekindleSession } from '../../../src/adapters/openai-agents/index.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import { type OpenedTarget, TARGETS } from '../targets.js';

const runner = new Runner({ tracingDisabled: true });

interface Script {
  readonly model: ScriptedModel;
  readonly needsApproval?: boolean;
}

function agentOf({ model, needsApproval = false }: Script) {
  const calls: string[] = [];
  const weather = tool({
    name: 'weather',
    description: 'The weather of a city',
    parameters: z.object({ city: z.string() }),
    needsApproval,
    execute: ({ city }) => {
      calls.push(city);
      return `Rain in ${city}`;
    },
  });
  return { agent: new Agent({ name: 'guide', instructions: 'Be brief.', model, tools: [weather] }), calls };
}

function weatherCall(callId: string, city: string) {
  return functionCall('weather', { city }, { callId });
}

/** What a history says, in short. */
function outline(items: readonly AgentInputItem[]): string[] {
  return items.map((item) => {
    if (item.type === 'function_call') return `call ${item.callId} ${item.arguments}`;
    if (item.type === 'function_call_result') return `result ${item.callId} ${JSON.stringify(item.output)}`;
    const { role, content } = item as { role: string; content: string | { text?: string }[] };
    return `${role}: ${typeof content === 'string' ? content : content.map(({ text }) => text).join('')}`;
  });
}

describe.each(TARGETS)('the runner of the Agents SDK over a session in $name', ({ open }) => {
  let target: OpenedTarget;
  let session: RekindleSession;
  beforeEach(async () => {
    target = await open();
    session = sessionOf(target.storage);
  });
  afterEach(async () => {
    await session.close();
    await target.destroy();
  });

  const sessionOf = (storage: StorageBackend) => new RekindleSession({ sessionId: 'trip', storage });

  async function nextProcess(): Promise<void> {
    await session.close();
    session = sessionOf(await target.reopen());
  }

  it('goes on in the next process where the one before ended', async () => {
    const first = new ScriptedModel([
      [weatherCall('c1', 'Oslo')],
      [assistantMessage('It rains in Oslo.')],
      [assistantMessage('Take a coat.')],
    ]);
    const { agent } = agentOf({ model: first });
    await runner.run(agent, 'Weather in Oslo?', { session });
    await runner.run(agent, 'What shall I wear?', { session });
    first.assertComplete();
    await nextProcess();

    const second = new ScriptedModel([
      [weatherCall('c2', 'Rome')],
      [assistantMessage('It rains there, too.')],
    ]);
    const resumed = agentOf({ model: second });
    const { finalOutput } = await runner.run(resumed.agent, 'And in Rome?', { session });

    expect(finalOutput).toBe('It rains there, too.');
    expect(resumed.calls).toEqual(['Rome']);
    const before = [
      'user: Weather in Oslo?',
      'call c1 {"city":"Oslo"}',
      'result c1 {"type":"text","text":"Rain in Oslo"}',
      'assistant: It rains in Oslo.',
      'user: What shall I wear?',
      'assistant: Take a coat.',
      'user: And in Rome?',
    ];
    expect(outline(second.firstCall?.request.input as AgentInputItem[])).toEqual(before);
    await nextProcess();
    expect(outline(await session.getItems())).toEqual([
      ...before,
      'call c2 {"city":"Rome"}',
      'result c2 {"type":"text","text":"Rain in Rome"}',
      'assistant: It rains there, too.',
    ]);
  });

  it('keeps what the session of the SDK keeps, item by item', async () => {
    const script = () => [
      [weatherCall('c1', 'Oslo')],
      [assistantMessage('Wet.')],
      [assistantMessage('Bye.')],
    ];
    const reference = new MemorySession();
    for (const each of [session, reference]) {
      const { agent } = agentOf({ model: new ScriptedModel(script()) });
      await runner.run(agent, 'Weather?', { session: each });
      const { finalOutput } = await runner.run(agent, 'Thanks', { session: each });
      expect(finalOutput).toBe('Bye.');
    }
    await nextProcess();
    expect(await session.getItems()).toEqual(await reference.getItems());
  });

  it('keeps what the session of the SDK keeps where an answer is blocked', async () => {
    const reference = new MemorySession();
    for (const each of [session, reference]) {
      const model = new ScriptedModel([[weatherCall('c1', 'Oslo')], [assistantMessage('A secret.')]]);
      const { agent } = agentOf({ model });
      const execute = async () => ({ tripwireTriggered: true, outputInfo: null });
      const guarded = agent.clone({ outputGuardrails: [{ name: 'secrets', execute }] });
      await expect(runner.run(guarded, 'Weather?', { session: each })).rejects.toThrow('guardrail');
    }
    await nextProcess();
    const items = await session.getItems();
    expect(items).toEqual(await reference.getItems());
    expect(outline(items)[0]).toBe('user: Weather?');
  });

  it('keeps a streamed turn', async () => {
    const { agent } = agentOf({ model: new ScriptedModel([[assistantMessage('Hello.')]]) });
    const stream = await runner.run(agent, 'Hi', { session, stream: true });
    await stream.completed;
    await nextProcess();
    expect(outline(await session.getItems())).toEqual(['user: Hi', 'assistant: Hello.']);
  });

  it('resumes a run in the next process that waited for an approval', async () => {
    const { agent, calls } = agentOf({
      model: new ScriptedModel([[weatherCall('c1', 'Oslo')]]),
      needsApproval: true,
    });
    const waiting = await runner.run(agent, 'Weather in Oslo?', { session });
    expect(waiting.interruptions).toHaveLength(1);
    const saved = waiting.state.toString();
    expect(calls).toEqual([]);
    await nextProcess();

    const model = new ScriptedModel([[assistantMessage('It rains.')]]);
    const next = agentOf({ model, needsApproval: true });
    const state = await RunState.fromString(next.agent, saved);
    for (const interruption of state.getInterruptions()) state.approve(interruption);
    const { finalOutput } = await runner.run(next.agent, state, { session });

    expect(finalOutput).toBe('It rains.');
    expect(next.calls).toEqual(['Oslo']);
    await nextProcess();
    expect(outline(await session.getItems())).toEqual([
      'user: Weather in Oslo?',
      'call c1 {"city":"Oslo"}',
      'result c1 {"type":"text","text":"Rain in Oslo"}',
      'assistant: It rains.',
    ]);
  });

  // The runner hands over what a run made when it ends or waits; a session has no say in it.
  it.each([
    { stream: false, kept: [] },
    { stream: true, kept: ['user: Weather in Oslo?'] },
  ])(
    'holds of a run that failed only what the runner handed over: stream $stream',
    async ({ stream, kept }) => {
      const earlier = agentOf({ model: new ScriptedModel([[assistantMessage('Hello.')]]) });
      await runner.run(earlier.agent, 'Hi', { session });
      const script = [[weatherCall('c1', 'Oslo')], modelError(new Error('down'))];
      const failing = agentOf({ model: new ScriptedModel(script) });
      const run = async () => {
        if (!stream) return runner.run(failing.agent, 'Weather in Oslo?', { session });
        return (await runner.run(failing.agent, 'Weather in Oslo?', { session, stream: true })).completed;
      };
      await expect(run()).rejects.toThrow('down');
      expect(failing.calls).toEqual(['Oslo']);
      await nextProcess();
      expect(outline(await session.getItems())).toEqual(['user: Hi', 'assistant: Hello.', ...kept]);
    },
  );
});
