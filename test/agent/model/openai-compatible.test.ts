/** A whole agent over HTTP, through a real provider package, against a server that refuses what the real one refuses. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, stepCountIs, type ToolSet } from 'ai';
import { describe, expect, it } from 'vitest';
import type { WorkingContext } from '../../../src/agent/context/working-context.js';
import { aiSdkModel } from '../../../src/agent/model/ai-sdk/index.js';
import type { LanguageModel } from '../../../src/agent/model/language-model.js';
import type { JsonObject } from '../../../src/core/json.js';
import { problemWith } from '../../support/openai-chat-rules.js';
import { type ChatServer, openAiChatServer } from '../../support/openai-chat-server.js';
import { agentFixture, gate, outline, storageAfterKill, tool } from '../agent-fixture.js';
import { hostFixture, workTool } from '../context/host-fixture.js';

function modelOf(server: ChatServer): LanguageModel {
  const provider = createOpenAICompatible({ name: 'local', baseURL: server.url, includeUsage: true });
  return aiSdkModel(provider('test-model'));
}

const double = tool({
  inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  execute: ({ n }) => ({ twice: Number(n) * 2 }),
});

const twoCalls = {
  text: 'Let me see.',
  calls: [
    { id: 'call_a', name: 'work', arguments: '{"n": 2}' },
    { id: 'call_b', name: 'work', arguments: '{"n": 3}' },
  ],
};

describe('an agent over HTTP', () => {
  it('has a turn with tool calls, and each request is accepted', async () => {
    const server = await openAiChatServer([twoCalls, { text: 'Four and six.' }]);
    const fixture = await agentFixture();
    const agent = await fixture.started([], {
      model: modelOf(server),
      tools: [double],
      systemPrompt: 'Be exact.',
    });
    expect(await agent.send('double 2 and 3')).toMatchObject({
      text: 'Four and six.',
      steps: 2,
      usage: { inputTokens: 40, outputTokens: 14 },
    });
    expect(server.refused).toEqual([]);
    expect(server.accepted[1]!['messages']).toMatchObject([
      { role: 'system', content: 'Be exact.' },
      { role: 'user', content: 'double 2 and 3' },
      { role: 'assistant', content: 'Let me see.', tool_calls: [{ id: 'call_a' }, { id: 'call_b' }] },
      { role: 'tool', tool_call_id: 'call_a', content: '{"twice":4}' },
      { role: 'tool', tool_call_id: 'call_b', content: '{"twice":6}' },
    ]);
  });

  it('killed in the middle of a tool and restored sends a request that is accepted', async () => {
    const fixture = await agentFixture();
    const started = gate();
    const hangs = tool({
      execute: () => {
        started.open();
        return new Promise(() => {});
      },
    });
    const before = await openAiChatServer([{ text: 'Hello.' }, twoCalls]);
    const killed = await fixture.started([], {
      model: modelOf(before),
      tools: [hangs],
      parallelToolsMax: 1,
    });
    await killed.send('hi');
    killed.send('double 2 and 3').catch(() => {});
    await started.opened; // from here on it is dropped, as kill -9 does it

    const after = await openAiChatServer([{ text: 'I shall look.' }, twoCalls, { text: 'Four and six.' }]);
    const agent = fixture.restored([], {
      model: modelOf(after),
      tools: [double],
      storage: storageAfterKill(fixture.dir),
    });
    await agent.start();
    expect((await agent.resume()).text).toBe('I shall look.');
    expect((await agent.send('again, please')).text).toBe('Four and six.');
    expect(after.refused).toEqual([]);
    expect(after.accepted[0]!['messages']).toMatchObject([
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'Hello.' },
      { role: 'user', content: 'double 2 and 3' },
      { role: 'assistant', tool_calls: [{ id: 'call_a' }, { id: 'call_b' }] },
      { role: 'tool', tool_call_id: 'call_a', content: expect.stringContaining('outcome is unknown') },
      {
        role: 'tool',
        tool_call_id: 'call_b',
        content: expect.stringContaining('before this call was started'),
      },
    ]);
  });

  it('goes on after arguments that were no JSON, and the next request is accepted', async () => {
    const bad = { calls: [{ id: 'call_a', name: 'work', arguments: '{"n": 2' }] };
    const server = await openAiChatServer([bad, { text: 'Sorry.' }]);
    const fixture = await agentFixture();
    const agent = await fixture.started([], { model: modelOf(server), tools: [double] });
    expect((await agent.send('double 2')).text).toBe('Sorry.');
    expect(outline(agent.messages)).toContain('error: The arguments must be a JSON object.');
    expect(server.refused).toEqual([]);
  });

  it('goes on after a call of a tool that does not exist', async () => {
    const server = await openAiChatServer([
      { calls: [{ id: 'call_a', name: 'fly', arguments: '{}' }] },
      { text: 'I cannot fly.' },
    ]);
    const fixture = await agentFixture();
    const agent = await fixture.started([], { model: modelOf(server), tools: [double] });
    expect((await agent.send('fly')).text).toBe('I cannot fly.');
    expect(outline(agent.messages)).toContain(
      'error: There is no tool "fly". Known tools: work, read_result, memory_search, memory_read.',
    );
  });

  it('tries again after 503, after a broken connection and after an error in the stream', async () => {
    const server = await openAiChatServer([
      { refuse: { status: 503, message: 'overloaded' } },
      { text: 'I was', hangUp: true },
      { text: 'I was about', fails: 'engine is gone' },
      { text: 'Here I am.' },
    ]);
    const fixture = await agentFixture();
    const agent = await fixture.started([], { model: modelOf(server) });
    const reasons: string[] = [];
    agent.events.on('model_retry', ({ reason }) => reasons.push(reason));
    expect((await agent.send('hi')).text).toBe('Here I am.');
    expect(reasons).toEqual(['overloaded', expect.any(String), expect.stringContaining('engine is gone')]);
    expect(outline(agent.messages)).toEqual(['user: hi', 'assistant: Here I am.']);
  });

  it('does not try again after 400, and says what the server said', async () => {
    const server = await openAiChatServer([{ refuse: { status: 400, message: 'no such model' } }]);
    const fixture = await agentFixture();
    const agent = await fixture.started([], { model: modelOf(server) });
    const error: unknown = await agent.send('hi').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'MODEL_FAILED',
      message: expect.stringContaining('no such model'),
      details: { provider: 'local', model: 'test-model', attempts: 1 },
    });
    expect(server.accepted).toHaveLength(1);
  });

  it('cancelled in mid-answer hangs up and keeps what was said', async () => {
    const server = await openAiChatServer([{ text: 'I would say', stalls: true }, { text: 'Fine.' }]);
    const fixture = await agentFixture();
    const agent = await fixture.started([], { model: modelOf(server) });
    const cancel = new AbortController();
    let heard = '';
    agent.events.on('text_delta', ({ delta }) => {
      heard += delta;
      if (heard === 'I would say') cancel.abort();
    });
    expect(await agent.send('talk', { signal: cancel.signal })).toMatchObject({
      status: 'aborted',
      text: 'I would say',
    });
    expect((await agent.send('enough')).text).toBe('Fine.');
    expect(server.dropped()).toBe(1);
  });

  it('keeps reasoning for people and sends no more of it than the SDK does', async () => {
    const server = await openAiChatServer([
      { reasoning: 'They greet me.', text: 'Hello.' },
      { text: 'Yes.' },
    ]);
    const fixture = await agentFixture();
    const agent = await fixture.started([], { model: modelOf(server) });
    await agent.send('hi');
    expect(agent.messages[1]).toMatchObject({ content: 'Hello.', reasoningContent: 'They greet me.' });
    await agent.send('sure?');
    expect(server.accepted[1]!['messages']).toMatchObject([{}, { role: 'assistant', content: 'Hello.' }, {}]);
  });
});

describe('a host with its own loop over HTTP', () => {
  it('killed in a guarded tool goes on with a request that is accepted', async () => {
    const fixture = await hostFixture();
    const started = gate();
    const hangs = workTool(() => {
      started.open();
      return new Promise(() => {});
    });
    const before = await openAiChatServer([twoCalls]);
    const killed = await fixture.open({ system: 'Be exact.' });
    await killed.beginTurn('double 2 and 3');
    ask(killed, before, hangs).catch(() => {});
    await started.opened;

    const after = await openAiChatServer([twoCalls, { text: 'Four and six.' }]);
    const ctx = await fixture.openAfterCrash({ system: 'Be exact.' });
    ctx.resumeTurn();
    const { response, text } = await ask(
      ctx,
      after,
      workTool(({ n }) => Number(n) * 2),
    );
    await ctx.endTurn(response.messages);
    expect(text).toBe('Four and six.');
    expect(after.refused).toEqual([]);
    expect(problemWith({ model: 'm', messages: after.accepted[1]!['messages']! })).toBeNull();
    expect(outline(ctx.messages).filter((line) => /^(result|error)/.test(line))).toEqual([
      expect.stringContaining('outcome is unknown'),
      expect.stringContaining('outcome is unknown'),
      'result: 4',
      'result: 6',
    ]);
  });

  function ask(ctx: WorkingContext, server: ChatServer, tools: ToolSet) {
    const provider = createOpenAICompatible({ name: 'local', baseURL: server.url });
    return generateText({
      model: provider('test-model'),
      messages: ctx.messagesFor('ai-sdk'),
      allowSystemInMessages: true,
      tools: ctx.guardTools(tools),
      stopWhen: stepCountIs(5),
      maxRetries: 0,
    });
  }
});

describe('the server itself', () => {
  const user: JsonObject = { role: 'user', content: 'hi' };
  const call: JsonObject = { id: 'c1', type: 'function', function: { name: 'work', arguments: '{}' } };
  const calls: JsonObject = { role: 'assistant', content: null, tool_calls: [call] };
  const result: JsonObject = { role: 'tool', tool_call_id: 'c1', content: '1' };
  const said = (messages: JsonObject[]) => problemWith({ model: 'm', messages });

  it('accepts a call with its result', () => {
    expect(said([user, calls, result])).toBeNull();
  });

  it.each<[string, JsonObject[], RegExp]>([
    ['a call without its result', [user, calls], /did not have response messages: c1/],
    [
      'a message between a call and its result',
      [user, calls, user, result],
      /did not have response messages/,
    ],
    ['a result without its call', [user, result], /must be a response to a preceeding message/],
    ['a second result', [user, calls, result, result], /must be a response to a preceeding message/],
    [
      'arguments that are not text',
      [user, { ...calls, tool_calls: [{ ...call, function: { name: 'w', arguments: {} } }] }],
      /expected a string/,
    ],
    ['no calls in a list of calls', [user, { ...calls, tool_calls: [] }], /empty array/],
    ['an unknown role', [{ role: 'model', content: 'hi' }], /Invalid value: 'model'/],
    ['an answer of nothing', [user, { role: 'assistant', content: null }], /Invalid type/],
  ])('refuses %s', (_, messages, message) => {
    expect(said(messages)).toMatch(message);
  });

  it('answers a bad request with 400 in the shape of the real one', async () => {
    const server = await openAiChatServer([]);
    const response = await fetch(`${server.url}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', messages: [user, calls] }),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { type: 'invalid_request_error', message: expect.stringContaining('c1') },
    });
  });
});
