/** Answers of the providers' own clients: whole or streamed, durable, and kept when the stream breaks. */
import { stepCountIs, streamText } from 'ai';
import { describe, expect, it } from 'vitest';
import type { WorkingContext } from '../../../src/agent/context/working-context.js';
import { checkRequest } from '../../../src/messages/projections/project.js';
import { CUT_OFF_TEXT } from '../../../src/messages/projections/projection.js';
import { mockModel } from '../../support/mock-ai-sdk.js';
import { outline } from '../agent-fixture.js';
import { double, hostFixture } from './host-fixture.js';

type Target = 'openai-chat' | 'openai-responses' | 'anthropic' | 'gemini';
const TARGETS: readonly Target[] = ['openai-chat', 'openai-responses', 'anthropic', 'gemini'];
const args = (path: string) => JSON.stringify({ path });

interface Call {
  readonly id: string;
  readonly path: string;
}

/** As each API answers without streaming. */
function whole(target: Target, text: string, calls: readonly Call[]): object {
  switch (target) {
    case 'openai-chat': {
      const tool_calls = calls.map(({ id, path }) => ({
        id,
        type: 'function',
        function: { name: 'read', arguments: args(path) },
      }));
      const message = { role: 'assistant', content: text, ...(calls.length > 0 ? { tool_calls } : {}) };
      return {
        id: 'c',
        object: 'chat.completion',
        model: 'm',
        choices: [{ index: 0, message, finish_reason: 'stop' }],
      };
    }
    case 'openai-responses': {
      const message = {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text, annotations: [] }],
      };
      const made = calls.map(({ id, path }) => ({
        type: 'function_call',
        call_id: id,
        name: 'read',
        arguments: args(path),
      }));
      return { id: 'r', object: 'response', model: 'm', status: 'completed', output: [message, ...made] };
    }
    case 'anthropic': {
      const uses = calls.map(({ id, path }) => ({ type: 'tool_use', id, name: 'read', input: { path } }));
      return {
        id: 'a',
        type: 'message',
        role: 'assistant',
        model: 'm',
        stop_reason: 'end_turn',
        content: [{ type: 'text', text }, ...uses],
      };
    }
    case 'gemini': {
      const uses = calls.map(({ id, path }) => ({
        functionCall: { ...(id ? { id } : {}), name: 'read', args: { path } },
      }));
      return {
        modelVersion: 'm',
        candidates: [{ content: { role: 'model', parts: [{ text }, ...uses] }, finishReason: 'STOP' }],
      };
    }
  }
}

/** The same in chunks; without its end when it is cut. */
function chunks(target: Target, text: string, calls: readonly Call[], isCut = false): object[] {
  const words = text.match(/\S+\s*/g) ?? [];
  switch (target) {
    case 'openai-chat': {
      const chunk = (delta: object, finish_reason: string | null = null) => ({
        id: 'c',
        model: 'm',
        choices: [{ index: 0, delta, finish_reason }],
      });
      const made = calls.flatMap(({ id, path }, index) => [
        chunk({ tool_calls: [{ index, id, type: 'function', function: { name: 'read', arguments: '' } }] }),
        ...args(path)
          .split('')
          .map((letter) => chunk({ tool_calls: [{ index, function: { arguments: letter } }] })),
      ]);
      return [...words.map((content) => chunk({ content })), ...made, ...(isCut ? [] : [chunk({}, 'stop')])];
    }
    case 'openai-responses': {
      const response = whole(target, text, calls) as { output: object[] };
      const deltas = words.map((delta) => ({ type: 'response.output_text.delta', output_index: 0, delta }));
      const done = response.output.map((item, output_index) => ({
        type: 'response.output_item.done',
        output_index,
        item,
      }));
      return [...deltas, ...(isCut ? [] : [...done, { type: 'response.completed', response }])];
    }
    case 'anthropic': {
      const made = calls.flatMap(({ id, path }, index) => [
        {
          type: 'content_block_start',
          index: index + 1,
          content_block: { type: 'tool_use', id, name: 'read', input: {} },
        },
        {
          type: 'content_block_delta',
          index: index + 1,
          delta: { type: 'input_json_delta', partial_json: args(path) },
        },
      ]);
      return [
        { type: 'message_start', message: { id: 'a', role: 'assistant', model: 'm', content: [] } },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        ...words.map((part) => ({
          type: 'content_block_delta',
          index: 0,
          delta: { type: 'text_delta', text: part },
        })),
        ...made,
        ...(isCut
          ? []
          : [{ type: 'message_delta', delta: { stop_reason: 'end_turn' } }, { type: 'message_stop' }]),
      ];
    }
    case 'gemini': {
      const chunk = (parts: object[], more = {}) => ({
        modelVersion: 'm',
        candidates: [{ content: { role: 'model', parts }, ...more }],
      });
      const uses = calls.map(({ id, path }) => ({
        functionCall: { ...(id ? { id } : {}), name: 'read', args: { path } },
      }));
      return [
        ...words.map((part) => chunk([{ text: part }])),
        ...(uses.length > 0 ? [chunk(uses)] : []),
        ...(isCut ? [] : [chunk([], { finishReason: 'STOP' })]),
      ];
    }
  }
}

async function* streamOf(parts: readonly object[], breaks?: Error): AsyncGenerator<object> {
  yield* parts;
  if (breaks) throw breaks;
}

async function opened() {
  const fixture = await hostFixture();
  const ctx = await fixture.open();
  await ctx.beginTurn('go');
  return { fixture, ctx };
}

const TOOLS = [{ name: 'read', description: 'Reads.', inputSchema: { type: 'object' } }];
const expectLegal = (ctx: WorkingContext, target: Target) =>
  expect(checkRequest(target, ctx.requestFor(target, { model: 'm', tools: TOOLS }).request)).toEqual([]);

describe.each(TARGETS)('recordResponse(%s)', (target) => {
  it.each([
    ['a whole response', (text: string, calls: readonly Call[]) => whole(target, text, calls)],
    ['a stream', (text: string, calls: readonly Call[]) => streamOf(chunks(target, text, calls))],
    [
      'a promise of a stream',
      (text: string, calls: readonly Call[]) => Promise.resolve(streamOf(chunks(target, text, calls))),
    ],
  ])('takes %s, and the turn goes on over a tool to its end', async (_, make) => {
    const { fixture, ctx } = await opened();
    const first = await ctx.recordResponse(
      target,
      make('I look. ', [
        { id: 'x', path: '0' },
        { id: 'y', path: '1' },
      ]),
    );
    expect(first).toMatchObject({ text: 'I look. ', message: { role: 'assistant' } });
    expect(first.toolCalls.map((call) => [call.name, call.arguments])).toEqual([
      ['read', { path: '0' }],
      ['read', { path: '1' }],
    ]);
    expect((await fixture.rows()).slice(-2)).toMatchObject([
      { trace_type: 'tool_call' },
      { trace_type: 'tool_call' },
    ]);
    for (const call of first.toolCalls) {
      const { path } = call.arguments as { path: string };
      expect(await ctx.runTool(call, () => new Map([['content', path]]))).toEqual({
        result: { content: path },
        error: null,
      });
    }
    expectLegal(ctx, target);
    await ctx.recordResponse(target, make('Done.', []));
    await ctx.endTurn();
    const recorded = [
      ...['user: go', 'assistant: I look. ', 'call: read{"path":"0"}', 'call: read{"path":"1"}'],
      ...['result: {"content":"0"}', 'result: {"content":"1"}', 'assistant: Done.'],
    ];
    expect(outline(ctx.messages)).toEqual(recorded);
    const next = await fixture.openAfterCrash();
    expect(outline(next.messages)).toEqual(recorded);
    expect(next.report.repairs).toEqual([]);
  });

  it.each(['x', ''])('tells two calls of one response under the id "%s" apart', async (id) => {
    const { ctx } = await opened();
    const response = whole(target, 'I look.', [
      { id, path: '0' },
      { id, path: '1' },
    ]);
    const { toolCalls } = await ctx.recordResponse(target, response);
    for (const call of toolCalls.toReversed()) await ctx.runTool(call, (given) => given);
    await ctx.endTurn();
    expect(outline(ctx.messages).slice(2)).toEqual([
      ...['call: read{"path":"0"}', 'call: read{"path":"1"}'],
      ...['result: {"path":"0"}', 'result: {"path":"1"}'],
    ]);
  });

  it('records each response of a model that repeats itself, and one response once', async () => {
    const { ctx } = await opened();
    for (let step = 0; step < 2; step += 1) {
      const response = whole(target, 'Again.', [{ id: 'x', path: '0' }]);
      const { toolCalls } = await ctx.recordResponse(target, response);
      await ctx.recordResponse(target, response);
      for (const call of toolCalls) await ctx.runTool(call, () => step);
    }
    await ctx.endTurn();
    expect(outline(ctx.messages).slice(1)).toEqual([
      ...['assistant: Again.', 'call: read{"path":"0"}', 'result: 0'],
      ...['assistant: Again.', 'call: read{"path":"0"}', 'result: 1'],
    ]);
  });

  it('keeps what was said when the stream breaks, and throws what broke it', async () => {
    const { fixture, ctx } = await opened();
    const parts = chunks(target, 'Half of it', [], true);
    await expect(ctx.recordResponse(target, streamOf(parts, new Error('reset')))).rejects.toThrow('reset');
    await ctx.endTurn();
    expect(ctx.messages.at(-1)).toMatchObject({ content: 'Half of it', status: 'aborted' });
    expect(outline((await fixture.openAfterCrash()).messages)).toEqual(['user: go', 'assistant: Half of it']);
  });

  it('keeps what was said when the client ends the stream early, as it does on an abort, without its calls', async () => {
    const { ctx } = await opened();
    const parts = chunks(target, 'Half of it', [{ id: 'x', path: '0' }], true);
    const answer = await ctx.recordResponse(target, streamOf(parts));
    expect(answer).toMatchObject({ text: 'Half of it', toolCalls: [], message: { status: 'aborted' } });
  });

  it('shows each chunk, and ends when showing fails', async () => {
    const { ctx } = await opened();
    const seen: unknown[] = [];
    const onChunk = (chunk: unknown) => {
      seen.push(chunk);
      if (seen.length === 2) throw new Error('The page was closed.');
    };
    const recording = ctx.recordResponse(target, streamOf(chunks(target, 'One two three', [])), { onChunk });
    await expect(recording).rejects.toThrow('closed');
    expect(seen).toHaveLength(2);
  });

  it('refuses what is no answer before anything is written', async () => {
    const { fixture, ctx } = await opened();
    const before = await fixture.rows();
    for (const odd of [{}, { error: { message: 'overloaded' } }, 'text' as never]) {
      await expect(ctx.recordResponse(target, odd)).rejects.toMatchObject({ code: 'MESSAGE_INVALID' });
    }
    expect(await fixture.rows()).toEqual(before);
  });
});

describe.each(TARGETS)('stream(%s)', (target) => {
  const call = { id: 'x', path: '0' };

  it('yields every chunk as it is, returns the recorded answer, and the turn goes on over its calls', async () => {
    const { ctx } = await opened();
    const parts = chunks(target, 'I look.', [call]);
    const reader = ctx.stream(target, streamOf(parts));
    const seen: object[] = [];
    let next = await reader.next();
    for (; !next.done; next = await reader.next()) seen.push(next.value);
    expect(seen).toEqual(parts);
    expect(next.value).toMatchObject({ text: 'I look.', toolCalls: [{ name: 'read' }] });
    await ctx.runTool(next.value.toolCalls[0]!, () => 'content');
    expectLegal(ctx, target);
  });

  it('keeps what was read when the reader leaves, as an aborted answer', async () => {
    const { ctx } = await opened();
    for await (const chunk of ctx.stream(target, streamOf(chunks(target, 'One two three four', []))))
      if (JSON.stringify(chunk).includes('two')) break;
    expect(ctx.messages.at(-1)).toMatchObject({
      status: 'aborted',
      content: expect.stringMatching(/^One two/),
    });
  });

  it('yields what came before a failure, then throws it', async () => {
    const { ctx } = await opened();
    const seen: object[] = [];
    const parts = chunks(target, 'Half of it', [], true);
    const reading = (async () => {
      for await (const chunk of ctx.stream(target, streamOf(parts, new Error('reset')))) seen.push(chunk);
    })();
    await expect(reading).rejects.toThrow('reset');
    expect(seen).toEqual(parts);
    expect(ctx.messages.at(-1)).toMatchObject({ content: 'Half of it', status: 'aborted' });
  });

  it('has left what was delivered when the process dies, and the next request asks to continue it', async () => {
    expect.hasAssertions(); // they are at one of the chunks
    const { fixture, ctx } = await opened();
    for await (const chunk of ctx.stream(target, streamOf(chunks(target, 'One two three', [])))) {
      if (!JSON.stringify(chunk).includes('two')) continue;
      const next = await fixture.openAfterCrash();
      expect(next.report.cutOffAnswers).toHaveLength(1);
      expect(next.messages.at(-1)).toMatchObject({
        status: 'failed',
        content: expect.stringMatching(/^One two/),
      });
      expect(JSON.stringify(next.requestFor(target).request)).toContain(CUT_OFF_TEXT);
      expectLegal(next, target);
      next.resumeTurn();
      await next.recordResponse(target, whole(target, ' four', []));
      await next.endTurn();
      await next.beginTurn('And?');
      expectLegal(next, target);
      break;
    }
  });
});

describe('stream(ai-sdk)', () => {
  it('keeps the text of each step with its calls when the process dies in a later one', async () => {
    expect.hasAssertions(); // they are at one of the parts
    const { fixture, ctx } = await opened();
    const model = mockModel([
      { text: 'I look. ', calls: [{ id: 'c1', name: 'work', input: { n: 1 } }] },
      { text: 'Now I know that' },
    ]);
    const result = streamText({
      model,
      messages: ctx.messagesFor('ai-sdk'),
      tools: ctx.guardTools(double),
      stopWhen: stepCountIs(5),
    });
    for await (const part of ctx.stream('ai-sdk', result)) {
      if (part.type !== 'text-delta' || !part.text.includes('know')) continue;
      const next = await fixture.openAfterCrash();
      expect(outline(next.messages)).toEqual([
        ...['user: go', 'assistant: I look. ', 'call: work{"n":1}', 'result: {"twice":2}'],
        expect.stringMatching(/^assistant: Now I know/),
      ]);
      expect(next.report.cutOffAnswers).toMatchObject([{ isCutOff: false }, { isCutOff: true }]);
      expect(next.messages.filter(({ status }) => status === 'failed')).toHaveLength(1);
      expect(JSON.stringify(next.messagesFor('ai-sdk').at(-1))).toContain(CUT_OFF_TEXT);
      break;
    }
  });

  it('records the steps of a whole stream once', async () => {
    const { fixture, ctx } = await opened();
    const model = mockModel([
      { text: 'I look.', calls: [{ id: 'c1', name: 'work', input: { n: 1 } }] },
      { text: 'It is two.' },
    ]);
    const tools = ctx.guardTools(double);
    const messages = ctx.messagesFor('ai-sdk');
    const stopWhen = stepCountIs(5);
    const result = streamText({ model, messages, tools, stopWhen, prepareStep: ctx.prepareStep });
    for await (const _ of ctx.stream('ai-sdk', result));
    await ctx.endTurn();
    const said = [
      'user: go',
      'assistant: I look.',
      'call: work{"n":1}',
      'result: {"twice":2}',
      'assistant: It is two.',
    ];
    expect(outline(ctx.messages)).toEqual(said);
    const next = await fixture.openAfterCrash();
    expect(outline(next.messages)).toEqual(said);
    expect(next.report.cutOffAnswers).toEqual([]);
  });
});

describe('runTool', () => {
  it('gives what a tool throws as the error of its call, and does not run the call again', async () => {
    const { ctx } = await opened();
    const { toolCalls } = await ctx.recordResponse(
      'anthropic',
      whole('anthropic', 'I look.', [{ id: 'x', path: '0' }]),
    );
    let ran = 0;
    const run = () => {
      ran += 1;
      throw new Error('no such file');
    };
    for (let time = 0; time < 2; time += 1)
      expect(await ctx.runTool(toolCalls[0]!, run)).toEqual({ result: null, error: 'no such file' });
    expect(ran).toBe(1);
  });

  it('refuses a call that is not recorded', async () => {
    const { ctx } = await opened();
    const call = { id: 'x', name: 'read', arguments: {} };
    await expect(ctx.runTool(call, () => 1)).rejects.toMatchObject({ code: 'MESSAGE_INVALID' });
  });

  it('has the call in the ledger before it starts', async () => {
    const { fixture, ctx } = await opened();
    const { toolCalls } = await ctx.recordResponse(
      'gemini',
      whole('gemini', 'I look.', [{ id: '', path: '0' }]),
    );
    let rows: unknown[] = [];
    await ctx.runTool(toolCalls[0]!, async () => (rows = await fixture.rows('pending_calls')));
    expect(rows).toMatchObject([{ event: 'started', tool_name: 'read' }]);
  });
});
