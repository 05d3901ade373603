/** The adapter for the AI SDK, over the SDK's own mock: what comes out as events, and what goes in as a request. */
import type { LanguageModelV3CallOptions, LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { APICallError, LoadAPIKeyError } from 'ai';
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';
import { describe, expect, it } from 'vitest';
import { aiSdkModel } from '../../../src/agent/model/ai-sdk/index.js';
import type { LanguageModel, ModelEvent, ModelRequest } from '../../../src/agent/model/language-model.js';
import type { JsonObject } from '../../../src/core/json.js';
import type { Message } from '../../../src/messages/message.js';
import { type MockStep, mockModel } from '../../support/mock-ai-sdk.js';
import { agentFixture, outline, rejection, tool } from '../agent-fixture.js';

const HI: Message = { role: 'user', content: 'hi' };

function request(fields: Partial<ModelRequest> = {}): ModelRequest {
  return {
    messages: [HI],
    tools: [],
    signal: new AbortController().signal,
    loadArtifact: async () => null,
    ...fields,
  };
}

async function eventsOf(model: LanguageModel, given: ModelRequest = request()): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model.stream(given)) events.push(event);
  return events;
}

/** The events of one answer. */
function eventsFor(step: MockStep, provider?: string): Promise<ModelEvent[]> {
  return eventsOf(aiSdkModel(mockModel([step], provider)), request({ tools: [WORK] }));
}

/** What the provider gets for these messages. */
async function promptFor(
  messages: readonly Message[],
  provider?: string,
): Promise<LanguageModelV3CallOptions['prompt']> {
  const model = mockModel([{ text: 'ok' }], provider);
  await eventsOf(aiSdkModel(model), request({ messages }));
  return model.doStreamCalls[0]!.prompt;
}

const WORK = { name: 'work', description: 'Works.', inputSchema: { type: 'object' } satisfies JsonObject };

describe('an answer of the AI SDK', () => {
  it('comes as text, then the end with its usage', async () => {
    expect(await eventsFor({ text: 'Hello there.' })).toEqual([
      { type: 'text', delta: 'Hello ' },
      { type: 'text', delta: 'there.' },
      { type: 'finish', reason: 'stop', usage: { inputTokens: 10, outputTokens: 3 } },
    ]);
  });

  it('comes with its calls, their input parsed', async () => {
    const events = await eventsFor({ calls: [{ id: 'c1', name: 'work', input: { n: 1 } }] });
    expect(events).toMatchObject([
      { type: 'tool_call', call: { id: 'c1', name: 'work', arguments: { n: 1 } } },
      { type: 'finish', reason: 'tool-calls' },
    ]);
  });

  it('with input that is not JSON keeps the text, which is no object', async () => {
    const events = await eventsFor({ calls: [{ id: 'c1', name: 'work', input: '{"n": 1' }] });
    expect(events[0]).toEqual({
      type: 'tool_call',
      call: { id: 'c1', name: 'work', arguments: '{"n": 1', argumentsText: '{"n": 1' },
    });
  });

  it('with a call of a tool that does not exist is left to the loop', async () => {
    const events = await eventsFor({ calls: [{ id: 'c1', name: 'fly', input: {} }] });
    expect(events).toMatchObject([{ type: 'tool_call', call: { name: 'fly' } }, { type: 'finish' }]);
  });

  it('gives unsigned reasoning as it is streamed', async () => {
    expect((await eventsFor({ reasoning: 'Hm.', text: 'Hello.' })).slice(0, 2)).toEqual([
      { type: 'reasoning', delta: 'Hm.' },
      { type: 'text', delta: 'Hello.' },
    ]);
  });

  it('gives signed reasoning as a whole, also when the signature comes in a part of its own', async () => {
    const events = await eventsFor({ reasoning: 'Hm.', signature: 'c2ln', text: 'Hello.' }, 'anthropic');
    expect(events).toContainEqual({
      type: 'reasoning_item',
      item: { text: 'Hm.', signature: 'c2ln', origin: { provider: 'anthropic', model: 'mock-1' } },
    });
  });

  it('gives redacted reasoning, which has no text', async () => {
    const providerMetadata = { anthropic: { redactedData: 'b3BhcXVl' } };
    const events = await eventsOf(
      aiSdkModel(
        streaming([
          { type: 'reasoning-start', id: 'r', providerMetadata },
          { type: 'reasoning-end', id: 'r' },
        ]),
      ),
    );
    expect(events[0]).toMatchObject({
      type: 'reasoning_item',
      item: { text: null, encrypted: 'b3BhcXVl', redacted: true, origin: { provider: 'anthropic' } },
    });
  });

  it('gives what the provider wants back with a call', async () => {
    const providerMetadata = { google: { thoughtSignature: 'dGg=' } };
    const events = await eventsFor({ calls: [{ id: 'c1', name: 'work', input: {}, providerMetadata }] });
    expect(events[0]).toMatchObject({ call: { id: 'c1', extra: { provider_options: providerMetadata } } });
  });

  it('that fails in mid-stream throws what the provider threw, after what it said', async () => {
    const model = aiSdkModel(mockModel([{ text: 'I', fails: new Error('overloaded') }]));
    const said: ModelEvent[] = [];
    const reading = async () => {
      for await (const event of model.stream(request())) said.push(event);
    };
    expect(await rejection(reading())).toBe('Error: overloaded');
    expect(said).toEqual([{ type: 'text', delta: 'I' }]);
  });

  it('that cannot even begin throws', async () => {
    const model = new MockLanguageModelV3({ doStream: () => Promise.reject(new Error('no route')) });
    expect(await rejection(eventsOf(aiSdkModel(model)))).toBe('Error: no route');
  });

  it('ends when its signal aborts', async () => {
    const cancel = new AbortController();
    const endless = streaming(Array(10_000).fill({ type: 'text-delta', id: 't', delta: 'word ' }), 1);
    const reading = async () => {
      for await (const _ of aiSdkModel(endless).stream(request({ signal: cancel.signal }))) cancel.abort();
    };
    expect(await rejection(reading())).not.toBe('nothing was thrown');
  });
});

/** A model that streams these parts, and then ends. */
function streaming(parts: readonly LanguageModelV3StreamPart[], chunkDelayInMs = 0): MockLanguageModelV3 {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 1, text: 1, reasoning: undefined },
  };
  const finishReason = { unified: 'stop' as const, raw: undefined };
  const chunks: LanguageModelV3StreamPart[] = [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: 't' },
    ...parts,
    { type: 'finish', finishReason, usage },
  ];
  return new MockLanguageModelV3({
    doStream: async () => ({
      stream: simulateReadableStream({ chunks, chunkDelayInMs, initialDelayInMs: 0 }),
    }),
  });
}

describe('the origin of an answer', () => {
  it.each([
    [mockModel([], 'openai'), { provider: 'openai', model: 'mock-1' }],
    ['anthropic/claude-sonnet-4.5', { provider: 'anthropic', model: 'claude-sonnet-4.5' }],
    ['my-model', { provider: 'gateway', model: 'my-model' }],
  ])('is the provider and the model: %#', (model, origin) => {
    expect(aiSdkModel(model).origin).toEqual(origin);
  });
});

describe('a failure of the AI SDK', () => {
  const call = (statusCode: number) =>
    new APICallError({ message: 'no', url: 'http://x', requestBodyValues: {}, statusCode });
  const model = aiSdkModel(mockModel([]));

  it.each([
    ['a refused request', call(400), false],
    ['a wrong key', call(401), false],
    ['too many requests', call(429), true],
    ['a server error', call(503), true],
    ['a missing key', new LoadAPIKeyError({ message: 'no key' }), false],
    ['a broken connection', new TypeError('fetch failed'), true],
    ['a text', 'overloaded', true],
    ['nothing', undefined, true],
  ])('by %s may pass when tried again: %#', (_, thrown, expected) => {
    expect(model.isRetryable?.(thrown)).toBe(expected);
  });
});

describe('a request of the AI SDK', () => {
  it('has the system prompt apart and the tools without anything of ours', async () => {
    const model = mockModel([{ text: 'ok' }]);
    await eventsOf(
      aiSdkModel(model, { settings: { temperature: 0 } }),
      request({ messages: [{ role: 'system', content: 'Be kind.' }, HI], tools: [WORK] }),
    );
    const [options] = model.doStreamCalls;
    expect(options).toMatchObject({
      temperature: 0,
      prompt: [{ role: 'system', content: 'Be kind.' }, { role: 'user' }],
      tools: [{ type: 'function', name: 'work', description: 'Works.', inputSchema: { type: 'object' } }],
    });
  });

  it('has the arguments of a call that were no object in one', async () => {
    const toolCalls = [{ id: 'c1', name: 'work', arguments: '{"n": 1', argumentsText: '{"n": 1' }];
    const prompt = await promptFor([
      HI,
      { role: 'assistant', content: null, toolPayload: { toolCalls } },
      result('c1', null, 'The arguments must be a JSON object.'),
    ]);
    expect(prompt[1]).toMatchObject({
      content: [{ type: 'tool-call', input: { _unparsed_arguments: '{"n": 1' } }],
    });
  });

  it('gives signed reasoning back to its provider, and not to another', async () => {
    const origin = { provider: 'anthropic' };
    const answer: Message = {
      role: 'assistant',
      content: 'Hello.',
      origin,
      reasoning: [
        { text: 'Hm.', signature: 'c2ln', origin },
        { text: null, encrypted: 'b3Bh', redacted: true, origin },
      ],
    };
    const own = await promptFor([HI, answer, HI], 'anthropic');
    expect(own[1]).toMatchObject({
      content: [
        { type: 'reasoning', text: 'Hm.', providerOptions: { anthropic: { signature: 'c2ln' } } },
        { type: 'reasoning', text: '', providerOptions: { anthropic: { redactedData: 'b3Bh' } } },
        { type: 'text', text: 'Hello.' },
      ],
    });
    const other = await promptFor([HI, answer, HI], 'openai');
    expect(other[1]?.content).toEqual([{ type: 'text', text: 'Hello.' }]);
  });

  it('has results of every kind, those of one response in one message', async () => {
    const toolCalls = ['a', 'b', 'c'].map((id) => ({ id, name: 'work', arguments: {} }));
    const prompt = await promptFor([
      HI,
      { role: 'assistant', content: null, toolPayload: { toolCalls } },
      result('a', 'text'),
      result('b', { n: 1 }),
      result('c', null, 'it failed'),
    ]);
    expect(prompt[2]).toMatchObject({
      role: 'tool',
      content: [
        { toolCallId: 'a', output: { type: 'text', value: 'text' } },
        { toolCallId: 'b', output: { type: 'json', value: { n: 1 } } },
        { toolCallId: 'c', output: { type: 'error-text', value: 'it failed' } },
      ],
    });
  });

  it('has media by their bytes, and a line of text for one that is not there', async () => {
    const media = (ref: string) => ({
      type: 'media' as const,
      media: { kind: 'image' as const, mime: 'image/png', ref },
    });
    const model = mockModel([{ text: 'ok' }]);
    await eventsOf(
      aiSdkModel(model),
      request({
        messages: [{ role: 'user', content: null, parts: [media('sha256:here'), media('sha256:gone')] }],
        loadArtifact: async (ref) => (ref === 'sha256:here' ? new Uint8Array([1, 2, 3]) : null),
      }),
    );
    expect(model.doStreamCalls[0]!.prompt[0]!.content).toMatchObject([
      { type: 'file', data: 'AQID', mediaType: 'image/png' },
      { type: 'text', text: '[image omitted: not available (sha256:gone)]' },
    ]);
  });
});

function result(
  toolCallId: string,
  toolResult: Message['content'] | JsonObject,
  toolError: string | null = null,
): Message {
  return {
    role: 'tool',
    content: null,
    toolPayload: { toolCallId, toolName: 'work', toolResult, toolError },
  };
}

describe('an agent over the AI SDK', () => {
  it('runs its tools itself, signs go back, and usage is summed up', async () => {
    const fixture = await agentFixture();
    const mock = mockModel(
      [
        { reasoning: 'Twice.', signature: 'c2ln', calls: [{ id: 'c1', name: 'work', input: { n: 4 } }] },
        { text: 'Eight.' },
      ],
      'anthropic',
    );
    const agent = await fixture.started([], {
      model: aiSdkModel(mock),
      tools: [tool({ execute: ({ n }) => Number(n) * 2 })],
    });
    const turn = await agent.send('double 4');
    expect(turn).toMatchObject({ text: 'Eight.', steps: 2, usage: { inputTokens: 20, outputTokens: 6 } });
    expect(outline(agent.messages)).toEqual([
      'user: double 4',
      'call: work{"n":4}',
      'result: 8',
      'assistant: Eight.',
    ]);
    expect(mock.doStreamCalls[1]!.prompt[1]).toMatchObject({
      content: [
        { type: 'reasoning', text: 'Twice.', providerOptions: { anthropic: { signature: 'c2ln' } } },
        { type: 'tool-call', toolCallId: 'c1', input: { n: 4 } },
      ],
    });
  });

  it('has the signature of a call after a restore', async () => {
    const fixture = await agentFixture();
    const providerMetadata = { google: { thoughtSignature: 'dGg=' } };
    const first = await fixture.started([], {
      model: aiSdkModel(
        mockModel(
          [{ calls: [{ id: 'c1', name: 'work', input: {}, providerMetadata }] }, { text: 'ok' }],
          'google',
        ),
      ),
      tools: [tool({ execute: () => 1 })],
    });
    await first.send('go');
    await first.stop();
    const mock = mockModel([{ text: 'ok' }], 'google');
    const next = fixture.restored([], { model: aiSdkModel(mock) });
    await next.start();
    await next.send('and now?');
    expect(mock.doStreamCalls[0]!.prompt[1]).toMatchObject({
      content: [{ type: 'tool-call', toolCallId: 'c1', providerOptions: providerMetadata }],
    });
  });
});
