/** A turn of a host's own loop over the AI SDK: what is recorded, when, and once. */
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/json.js';
import { checkHistory } from '../../../src/messages/legality/history.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import { NodeFileSystem } from '../../../src/storage/file/node-file-system.js';
import { FaultyFileSystem } from '../../../src/storage/simulated/faulty-file-system.js';
import { type MockStep, mockModel } from '../../support/mock-ai-sdk.js';
import { outline, rejection } from '../agent-fixture.js';
import { callsWork, double, generate, hostFixture } from './host-fixture.js';

describe('a turn', () => {
  it('has its input on disk before the model is called', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    await ctx.beginTurn('hi');
    expect((await fixture.rows()).at(-1)).toMatchObject({ trace_type: 'user', content: 'hi' });
  });

  it('with tools over generateText is recorded in full', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    await ctx.beginTurn('double 2 and 3');
    const twoCalls: MockStep = {
      text: 'Both.',
      calls: [
        { id: 'a', name: 'work', input: { n: 2 } },
        { id: 'b', name: 'work', input: { n: 3 } },
      ],
    };
    const { response } = await generate(ctx, [twoCalls, { text: 'Four and six.' }]);
    await ctx.endTurn(response.messages);
    expect(outline(ctx.messages)).toEqual([
      'user: double 2 and 3',
      'assistant: Both.',
      'call: work{"n":2}',
      'call: work{"n":3}',
      'result: {"twice":4}',
      'result: {"twice":6}',
      'assistant: Four and six.',
    ]);
  });

  it('with tools over streamText is recorded in full', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    await ctx.beginTurn('double 2');
    const result = streamText({
      model: mockModel([callsWork('a', { n: 2 }, 'A moment.'), { text: 'Four.' }]),
      messages: ctx.messagesFor('ai-sdk'),
      tools: ctx.guardTools(double),
      stopWhen: stepCountIs(5),
    });
    expect(await result.text).toBe('Four.');
    await ctx.endTurn((await result.response).messages);
    expect(outline(ctx.messages)).toEqual([
      'user: double 2',
      'assistant: A moment.',
      'call: work{"n":2}',
      'result: {"twice":4}',
      'assistant: Four.',
    ]);
  });

  it('of several steps gives each text to the response that said it', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    await ctx.beginTurn('go');
    const { response } = await generate(ctx, [
      callsWork('a', { n: 1 }, 'First.'),
      callsWork('b', { n: 2 }, 'Second.'),
      { text: 'Third.' },
    ]);
    await ctx.endTurn(response.messages);
    expect(outline(ctx.messages)).toEqual([
      'user: go',
      ...['assistant: First.', 'call: work{"n":1}', 'result: {"twice":2}'],
      ...['assistant: Second.', 'call: work{"n":2}', 'result: {"twice":4}'],
      'assistant: Third.',
    ]);
  });

  it('has each call and each result in the traces once, although guard, step and endTurn see them', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    await ctx.beginTurn('go');
    const { response } = await generateText({
      model: mockModel([callsWork('a', { n: 1 }, 'First.'), callsWork('b', { n: 2 }), { text: 'Done.' }]),
      messages: ctx.messagesFor('ai-sdk'),
      tools: ctx.guardTools(double),
      stopWhen: stepCountIs(5),
      onStepFinish: ctx.step,
    });
    await ctx.endTurn(response.messages);
    expect(
      (await fixture.rows()).map((row) => [row['trace_type'], row['tool_call_id'] ?? row['content']]),
    ).toEqual([
      ['user', 'go'],
      ['tool_call', 'a'],
      ['tool_result', 'a'],
      ['assistant', 'First.'],
      ['tool_call', 'b'],
      ['tool_result', 'b'],
      ['assistant', 'Done.'],
    ]);
  });

  it('has what a step said on disk when the step ends, with ctx.step as onStepFinish', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    await ctx.beginTurn('go');
    let onDisk: JsonObject[] = [];
    const second: MockStep = () => ({ text: 'Done.' });
    await generateText({
      model: mockModel([callsWork('a', { n: 1 }, 'First.'), second]),
      messages: ctx.messagesFor('ai-sdk'),
      tools: ctx.guardTools(double),
      stopWhen: stepCountIs(5),
      onStepFinish: async (step) => {
        await ctx.step(step);
        onDisk = await fixture.rows();
      },
    });
    expect(onDisk.at(-1)).toMatchObject({ trace_type: 'assistant', content: 'Done.' });
  });

  it('records calls of tools that the host does not guard, with their results', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    await ctx.beginTurn('go');
    const { response } = await generateText({
      model: mockModel([callsWork('a', { n: 2 }, 'A moment.'), { text: 'Four.' }]),
      messages: ctx.messagesFor('ai-sdk'),
      tools: double,
      stopWhen: stepCountIs(5),
    });
    await ctx.endTurn(response.messages);
    expect(outline(ctx.messages)).toContain('result: {"twice":4}');
    expect(checkHistory(ctx.messages)).toEqual([]);
  });

  it('is a legal request again, which the SDK accepts, after everything above', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open({ system: 'Be kind.' });
    await ctx.beginTurn('go');
    const first = await generate(ctx, [callsWork('a', { n: 1 }, 'First.'), { text: 'Done.' }]);
    await ctx.endTurn(first.response.messages);
    await ctx.beginTurn('and again');
    const second = await generate(ctx, [callsWork('a', { n: 5 }), { text: 'Ten.' }]);
    await ctx.endTurn(second.response.messages);
    expect(outline(ctx.messages).slice(-3)).toEqual([
      'call: work{"n":5}',
      'result: {"twice":10}',
      'assistant: Ten.',
    ]);
  });

  it('that the host ends twice over the same messages, after a failure, is recorded once', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    await ctx.beginTurn('go');
    const { response } = await generate(ctx, [callsWork('a', { n: 1 }, 'First.'), { text: 'Done.' }]);
    const bad = [...response.messages, { role: 'user', content: 'no answer' }];
    expect(await rejection(ctx.endTurn(bad))).toBe('MESSAGE_INVALID');
    await ctx.endTurn(response.messages);
    expect(outline(ctx.messages)).toEqual([
      'user: go',
      ...['assistant: First.', 'call: work{"n":1}', 'result: {"twice":2}'],
      'assistant: Done.',
    ]);
  });

  it('with unguarded calls whose id is used again has each with its own result', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    await ctx.beginTurn('go');
    const { response } = await generateText({
      model: mockModel([callsWork('call_0', { n: 1 }), callsWork('call_0', { n: 2 }), { text: 'ok' }]),
      messages: ctx.messagesFor('ai-sdk'),
      tools: double,
      stopWhen: stepCountIs(5),
    });
    await ctx.endTurn(response.messages);
    expect(outline(ctx.messages)).toEqual([
      'user: go',
      ...['call: work{"n":1}', 'result: {"twice":2}'],
      ...['call: work{"n":2}', 'result: {"twice":4}'],
      'assistant: ok',
    ]);
    expect(checkHistory(ctx.messages)).toEqual([]);
  });

  it('that could not be ended because the disk was full can be ended again, and nothing is there twice', async () => {
    const fixture = await hostFixture();
    const disk = new FaultyFileSystem(new NodeFileSystem());
    const ctx = await fixture.open({ storage: new FileStorage(fixture.dir, { fileSystem: disk }) });
    await ctx.beginTurn('go');
    const { response } = await generateText({
      model: mockModel([callsWork('a', { n: 1 }, 'First.'), { text: 'Done.' }]),
      messages: ctx.messagesFor('ai-sdk'),
      tools: double,
      stopWhen: stepCountIs(5),
    });
    // All of it is one commit.
    const isTraces = (call: string, path: string) => call === 'file.write' && path.includes('raw_traces');
    disk.setFault({ at: 1, kind: 'ENOSPC', sticky: true, only: isTraces });
    expect(await rejection(ctx.endTurn(response.messages))).toBe('STORAGE_FULL');
    disk.setFault(null);
    await ctx.endTurn(response.messages);
    expect(outline(ctx.messages)).toEqual([
      'user: go',
      ...['assistant: First.', 'call: work{"n":1}', 'result: {"twice":2}'],
      'assistant: Done.',
    ]);
    expect((await fixture.rows()).map((row) => row['trace_type'])).toEqual([
      ...['user', 'assistant', 'tool_call', 'tool_result', 'assistant'],
    ]);
  });

  it('with a call that nobody answered gets a result before the next turn begins', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    await ctx.beginTurn('go');
    const ask = {
      ask: tool({
        inputSchema: jsonSchema<JsonObject>({ type: 'object' }),
        outputSchema: jsonSchema<string>({}),
      }),
    }; // without execute: the host answers
    const model = mockModel([{ calls: [{ id: 'a', name: 'ask', input: {} }] }]);
    const messages = ctx.messagesFor('ai-sdk');
    const { response } = await generateText({ model, messages, tools: ctx.guardTools(ask) });
    await ctx.endTurn(response.messages);
    await ctx.beginTurn('never mind');
    expect(checkHistory(ctx.messages)).toEqual([]);
    await ctx.endTurn((await generate(ctx, [{ text: 'Fine.' }])).response.messages);
    expect(outline(ctx.messages).slice(2)).toEqual([
      expect.stringMatching(/^error: .*waited for its result from the client/),
      'user: never mind',
      'assistant: Fine.',
    ]);
  });

  it('keeps signed reasoning and gives it back under the key of its provider', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    await ctx.beginTurn('go');
    const steps: MockStep[] = [
      { reasoning: 'Two of one.', signature: 'c2ln', calls: [{ id: 'a', name: 'work', input: { n: 1 } }] },
      { text: 'Two.' },
    ];
    const { response } = await generateText({
      model: mockModel(steps, 'anthropic'),
      messages: ctx.messagesFor('ai-sdk'),
      tools: ctx.guardTools(double),
      stopWhen: stepCountIs(5),
    });
    await ctx.endTurn(response.messages);
    await ctx.close();
    const next = await fixture.open();
    expect(next.messagesFor('ai-sdk')[1]).toMatchObject({
      role: 'assistant',
      content: [
        {
          type: 'reasoning',
          text: 'Two of one.',
          providerOptions: { anthropic: { signature: 'c2ln' } },
        },
        { type: 'tool-call', toolCallId: 'a' },
      ],
    });
  });

  it('keeps what a provider wants back with a call, also when a guarded tool recorded the call', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    await ctx.beginTurn('go');
    const providerMetadata = { google: { thoughtSignature: 'dGhvdWdodA==' } };
    const steps: MockStep[] = [
      { calls: [{ id: 'a', name: 'work', input: { n: 1 }, providerMetadata }] },
      { text: 'ok' },
    ];
    await ctx.endTurn((await generate(ctx, steps)).response.messages);
    expect(ctx.messagesFor('ai-sdk')[1]).toMatchObject({
      content: [{ type: 'tool-call', toolCallId: 'a', providerOptions: providerMetadata }],
    });
  });
});

describe('media', () => {
  const PNG = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );

  it('of the user reaches the model by its bytes, also after a restore', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    await ctx.beginTurn({ text: 'What is this?', media: [{ kind: 'image', mime: 'image/png', data: PNG }] });
    await ctx.endTurn((await generate(ctx, [{ text: 'A dot.' }])).response.messages);
    await ctx.close();
    const next = await fixture.open();
    await next.beginTurn('Sure?');
    let prompt: unknown;
    await generate(next, [
      (options) => {
        prompt = options.prompt[0];
        return { text: 'Yes.' };
      },
    ]);
    expect(prompt).toMatchObject({
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'file', mediaType: 'image/png', data: PNG.toString('base64') },
      ],
    });
  });

  it('of a result that takes the place of an interrupted one is in the next request', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    const turnId = await ctx.beginTurn('Look at both.');
    const { memory } = ctx;
    const call = { id: 'a', name: 'look', arguments: {} };
    await memory.ingestToolIntents([call], turnId);
    const result = { callId: 'a', toolName: 'look' };
    await memory.ingestToolResults([{ ...result, error: 'Interrupted.', synthetic: true }], turnId);
    await memory.ingestAssistantResponse({ content: 'It was interrupted.', final: false }, turnId);
    await ctx.loadArtifacts();
    const { digest } = await memory.blobs.put(PNG);
    const media = { kind: 'image', ref: `sha256:${digest}`, mime: 'image/png' } as const;
    await memory.ingestToolResults(
      [{ ...result, result: 'a dot', parts: [{ type: 'media', media }] }],
      turnId,
    );
    await ctx.loadArtifacts();
    const request = JSON.stringify(ctx.requestFor('anthropic').request);
    expect(request).toContain(PNG.toString('base64'));
  });

  it('without a text makes a message without a blank part', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    await ctx.beginTurn({ text: '', media: [{ kind: 'image', mime: 'image/png', data: PNG }] });
    expect(ctx.messagesFor('ai-sdk')).toMatchObject([{ role: 'user', content: [{ type: 'image' }] }]);
  });

  it('by URL stays a URL', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    const data = 'https://example.org/cat.png';
    await ctx.beginTurn({ text: 'Look.', media: [{ kind: 'image', data }] });
    expect(ctx.messagesFor('ai-sdk')).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look.' },
          { type: 'image', image: new URL(data) },
        ],
      },
    ]);
  });
});
