/** One turn from the input to the answer: events, order of what is durable, the limit of steps. */
import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../../src/agent/agent-events.js';
import type { ModelRequest } from '../../../src/agent/model/language-model.js';
import { OfflineModel } from '../../../src/agent/model/offline-model.js';
import type { JsonObject } from '../../../src/core/json.js';
import { agentFixture, callsWork, gate, outline, tool } from '../agent-fixture.js';

const double = tool({ execute: (args) => ({ twice: Number(args['n']) * 2 }) });

describe('a turn', () => {
  it('answers, and the answer is what the context ends with', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([{ text: 'Hello there.' }], { systemPrompt: 'Be kind.' });
    expect(await agent.send('hi')).toEqual({
      turnId: 'turn_0001',
      text: 'Hello there.',
      status: 'completed',
      steps: 1,
      usage: {},
    });
    expect(outline(agent.messages)).toEqual(['system: Be kind.', 'user: hi', 'assistant: Hello there.']);
  });

  it('runs the tools that the model calls and asks it again with their results', async () => {
    const fixture = await agentFixture();
    let seen: readonly string[] = [];
    const agent = await fixture.started(
      [
        { text: 'Let me see.', calls: [{ name: 'work', arguments: { n: 21 } }] },
        (request: ModelRequest) => {
          seen = outline(request.messages);
          return { text: 'It is 42.' };
        },
      ],
      { tools: [double] },
    );
    expect(await agent.send('double 21')).toMatchObject({ text: 'It is 42.', steps: 2 });
    expect(seen).toEqual([
      'user: double 21',
      'assistant: Let me see.',
      'call: work{"n":21}',
      'result: {"twice":42}',
    ]);
  });

  it('tells the model its tools, and the one that reads stored results, without their settings', async () => {
    const fixture = await agentFixture();
    let tools: ModelRequest['tools'] = [];
    const inputSchema: JsonObject = { type: 'object', properties: { n: { type: 'number' } } };
    const agent = await fixture.started(
      [
        (request: ModelRequest) => {
          tools = request.tools;
          return { text: 'ok' };
        },
      ],
      { tools: [tool({ inputSchema, timeoutMs: 50, idempotent: true, execute: () => 1 })] },
    );
    await agent.send('hi');
    expect(tools).toEqual([
      { name: 'work', description: 'Does some work.', inputSchema },
      expect.objectContaining({ name: 'read_result' }),
      expect.objectContaining({ name: 'memory_search' }),
      expect.objectContaining({ name: 'memory_read' }),
    ]);
  });

  it('streams its events in order', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started(
      [
        { reasoning: 'Hm.', text: 'Let me see.', calls: [{ id: 'c1', name: 'work', arguments: { n: 2 } }] },
        { text: 'Four.' },
      ],
      { tools: [double] },
    );
    const events: AgentEvent[] = [];
    for await (const event of agent.stream('double 2')) events.push(event);
    const turnId = 'turn_0001';
    const call = { turnId, callId: 'c1', toolName: 'work' };
    expect(events).toEqual([
      { type: 'turn_started', turnId, resumed: false },
      { type: 'reasoning_delta', turnId, delta: 'Hm.' },
      { type: 'text_delta', turnId, delta: 'Let ' },
      { type: 'text_delta', turnId, delta: 'me ' },
      { type: 'text_delta', turnId, delta: 'see.' },
      { type: 'tool_call', ...call, arguments: { n: 2 } },
      { type: 'tool_started', ...call },
      { type: 'tool_result', ...call, result: { twice: 4 }, error: null },
      { type: 'text_delta', turnId, delta: 'Four.' },
      { type: 'turn_ended', turnId, text: 'Four.', status: 'completed', steps: 2, usage: {} },
    ]);
  });

  it('keeps the reasoning of the model with its answer', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([{ reasoning: 'They greet me.', text: 'Hello.' }]);
    await agent.send('hi');
    expect(agent.messages.at(-1)).toMatchObject({ content: 'Hello.', reasoningContent: 'They greet me.' });
  });

  it('ends when the model says nothing, and the next one can follow', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([{}, { text: 'Sorry, now.' }]);
    expect(await agent.send('hi')).toMatchObject({ status: 'completed', text: '' });
    expect((await agent.send('hello?')).text).toBe('Sorry, now.');
    expect(outline(agent.messages)).toEqual(['user: hi', 'user: hello?', 'assistant: Sorry, now.']);
  });

  it('stops after the limit of steps, with every call answered, and resume() goes on', async () => {
    const fixture = await agentFixture();
    const again = callsWork({ n: 1 });
    const agent = await fixture.started([again, again, { text: 'Done at last.' }], {
      tools: [double],
      stepsMax: 2,
    });
    expect(await agent.send('go on')).toMatchObject({ status: 'steps_exceeded', steps: 2 });
    expect(outline(agent.messages).at(-1)).toBe('result: {"twice":2}');
    expect(await agent.resume()).toMatchObject({ turnId: 'turn_0001', text: 'Done at last.' });
  });

  it('works with the offline model, which shows what it remembers', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([], { model: new OfflineModel({ wordMs: 0 }) });
    expect((await agent.send('I like tea.')).text).toContain('the first thing I know of you');
    expect((await agent.send('And you?')).text).toContain('the first was "I like tea."');
  });
});

describe('parallel calls', () => {
  it('run at the same time, and their results stand in call order', async () => {
    const fixture = await agentFixture();
    const second = gate();
    const started: number[] = [];
    const work = tool({
      execute: async ({ n }) => {
        started.push(Number(n));
        if (n === 1) await second.opened; // ends only after the second one has its result
        return n;
      },
    });
    const agent = await fixture.started([callsWork({ n: 1 }, { n: 2 }), { text: 'ok' }], { tools: [work] });
    const results: unknown[] = [];
    agent.events.on('tool_result', ({ result }) => {
      results.push(result);
      second.open();
    });
    await agent.send('go');
    expect(started).toEqual([1, 2]);
    expect(results).toEqual([2, 1]);
    expect(outline(agent.messages)).toEqual([
      'user: go',
      'call: work{"n":1}',
      'call: work{"n":2}',
      'result: 1',
      'result: 2',
      'assistant: ok',
    ]);
  });

  it('run at most as many at a time as the host allows', async () => {
    const fixture = await agentFixture();
    let running = 0;
    let most = 0;
    const work = tool({
      execute: async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 5));
        running -= 1;
      },
    });
    const agent = await fixture.started([callsWork({}, {}, {}, {}, {}), { text: 'ok' }], {
      tools: [work],
      parallelToolsMax: 2,
    });
    await agent.send('go');
    expect(most).toBe(2);
  });

  it('with one id are told apart, so that each gets its own result', async () => {
    const fixture = await agentFixture();
    const call = (n: number) => ({ id: 'same', name: 'work', arguments: { n } });
    const agent = await fixture.started([{ calls: [call(1), call(2)] }, { text: 'ok' }], { tools: [double] });
    await agent.send('go');
    expect(outline(agent.messages)).toContain('result: {"twice":2}');
    expect(outline(agent.messages)).toContain('result: {"twice":4}');
  });
});

describe('call ids', () => {
  it('used again in a later step of the turn are told apart, and the tool runs', async () => {
    const fixture = await agentFixture();
    const call = (n: number) => ({ calls: [{ id: 'call_0', name: 'work', arguments: { n } }] });
    const agent = await fixture.started([call(1), call(2), { text: 'ok' }], { tools: [double] });
    await agent.send('go');
    expect(outline(agent.messages)).toEqual([
      'user: go',
      'call: work{"n":1}',
      'result: {"twice":2}',
      'call: work{"n":2}',
      'result: {"twice":4}',
      'assistant: ok',
    ]);
  });

  it('used again in a later turn are no trouble', async () => {
    const fixture = await agentFixture();
    const call = (n: number) => ({ calls: [{ id: 'call_0', name: 'work', arguments: { n } }] });
    const agent = await fixture.started([call(1), { text: 'ok' }, call(2), { text: 'ok' }], {
      tools: [double],
    });
    await agent.send('one');
    await agent.send('two');
    expect(outline(agent.messages).filter((line) => line.startsWith('result'))).toEqual([
      'result: {"twice":2}',
      'result: {"twice":4}',
    ]);
  });
});

describe('what is durable before its effect is visible', () => {
  it('the input, before the model is called', async () => {
    const fixture = await agentFixture();
    let onDisk: JsonObject[] = [];
    const model = {
      origin: { provider: 'test' },
      async *stream() {
        onDisk = await fixture.rows();
        yield { type: 'text', delta: 'Hello.' } as const;
        yield { type: 'finish', reason: 'stop' } as const;
      },
    };
    const agent = await fixture.started([], { model });
    await agent.send('hi');
    expect(onDisk.at(-1)).toMatchObject({ trace_type: 'user', content: 'hi', turn_id: 'turn_0001' });
  });

  it('all calls of a response and the start in the ledger, before a tool runs', async () => {
    const fixture = await agentFixture();
    const traces: JsonObject[][] = [];
    const ledger: JsonObject[][] = [];
    const work = tool({
      execute: async () => {
        traces.push(await fixture.rows());
        ledger.push(await fixture.rows('pending_calls'));
      },
    });
    const agent = await fixture.started([callsWork({ n: 1 }, { n: 2 }), { text: 'ok' }], {
      tools: [work],
      parallelToolsMax: 1,
    });
    await agent.send('go');
    const called = traces[0]!.filter((row) => row['trace_type'] === 'tool_call');
    expect(called.map((row) => row['tool_args'])).toEqual([{ n: 1 }, { n: 2 }]);
    expect(ledger[0]).toMatchObject([{ event: 'started', call_id: 'call_1_1', turn_id: 'turn_0001' }]);
    expect(ledger[1]).toMatchObject([{ call_id: 'call_1_1' }, { event: 'started', call_id: 'call_1_2' }]);
  });

  it('a result, before the model sees it', async () => {
    const fixture = await agentFixture();
    const requests: JsonObject[][] = [];
    const model = {
      origin: { provider: 'test' },
      async *stream() {
        requests.push(await fixture.rows());
        if (requests.length === 1) {
          const call = { id: 'c1', name: 'work', arguments: { n: 4 } };
          yield { type: 'tool_call', call } as const;
        } else yield { type: 'text', delta: 'Eight.' } as const;
        yield { type: 'finish', reason: 'stop' } as const;
      },
    };
    const agent = await fixture.started([], { model, tools: [double] });
    await agent.send('go');
    expect(requests[1]!.at(-1)).toMatchObject({ trace_type: 'tool_result', tool_result: { twice: 8 } });
  });

  it('the answer, before send() resolves', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([{ text: 'Hello.' }]);
    await agent.send('hi');
    expect((await fixture.rows()).at(-1)).toMatchObject({ trace_type: 'assistant', content: 'Hello.' });
  });
});
