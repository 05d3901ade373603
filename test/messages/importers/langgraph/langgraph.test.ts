import { describe, expect, it } from 'vitest';
import { langGraphImporter as importer } from '../../../../src/messages/importers/langgraph/langgraph.js';
import { toolCallsOf } from '../../../../src/messages/message.js';
import { hasShared, isRecognised, lines, orphansOf, readAll, sharedFiles } from '../read-all.js';

const human = { type: 'human', content: 'What is in a.ts?', id: 'h1' };
const ai = {
  type: 'ai',
  content: '',
  id: 'run-1',
  tool_calls: [{ name: 'read', args: { path: 'a.ts' }, id: 'c1', type: 'tool_call' }],
  invalid_tool_calls: [],
};
const tool = { type: 'tool', content: 'text of a.ts', tool_call_id: 'c1', name: 'read', status: 'success' };

const stored = ({ type, ...data }: { type: string; [key: string]: unknown }) => ({
  type,
  data: { ...data, type },
});
const constructed = (name: string, { type: _, ...kwargs }: { type: string; [key: string]: unknown }) => ({
  lc: 1,
  type: 'constructor',
  id: ['langchain', 'schema', 'messages', name],
  kwargs,
});

const messagesOf = async (given: unknown) => (await readAll(importer, given)).messages;

describe('the import of LangGraph threads and LangChain messages', () => {
  const serialized = [
    constructed('HumanMessage', human),
    constructed('AIMessage', ai),
    constructed('ToolMessage', tool),
  ];
  it.each([
    ['the state of a thread', { values: { messages: [human, ai, tool] }, next: [], checkpoint: {} }],
    ['the history of a thread', [{ values: { messages: [human, ai, tool] } }, { values: { messages: [] } }]],
    ['a checkpoint', { id: '1', channel_values: { messages: [human, ai, tool] } }],
    ['a document with messages', { messages: [human, ai, tool] }],
    ['a list', [human, ai, tool]],
    ['a stored list', [human, ai, tool].map(stored)],
    ['serialized constructors', serialized],
    ['one message a line', lines(human, ai, tool)],
  ])('recognises %s and reads it', async (_, given) => {
    expect(await isRecognised(importer, given)).toBe(true);
    expect(await messagesOf(given)).toStrictEqual([
      { role: 'user', content: 'What is in a.ts?' },
      {
        role: 'assistant',
        content: '',
        messageId: 'run-1',
        toolPayload: { toolCalls: [{ id: 'c1', name: 'read', arguments: { path: 'a.ts' } }] },
      },
      {
        role: 'tool',
        content: null,
        toolPayload: { toolCallId: 'c1', toolName: 'read', toolResult: 'text of a.ts', toolError: null },
      },
    ]);
  });

  it('does not recognise chat messages that have a role and no type', async () => {
    expect(await isRecognised(importer, [{ role: 'user', content: 'Hello.' }])).toBe(false);
  });

  it('reads chunks of messages as the messages they are', async () => {
    const chunk = { ...ai, type: 'AIMessageChunk', content: 'Hello.', tool_calls: [] };
    expect(await messagesOf([chunk])).toMatchObject([{ role: 'assistant', content: 'Hello.' }]);
  });

  it('gives a message without calls no empty list of them', async () => {
    const [message] = await messagesOf([{ ...ai, tool_calls: [], content: 'Hello.' }]);
    expect(message).toStrictEqual({ role: 'assistant', content: 'Hello.', messageId: 'run-1' });
  });

  it('leaves system messages in the middle where they are', async () => {
    const messages = await messagesOf([human, { type: 'system', content: 'Be short.' }, ai]);
    expect(messages.map(({ role }) => role)).toStrictEqual(['user', 'system', 'assistant']);
  });

  it('keeps reasoning that the model gave beside its answer', async () => {
    const thoughtful = {
      ...ai,
      tool_calls: [],
      content: 'Hello.',
      additional_kwargs: { reasoning_content: 'They greet.' },
    };
    expect(await messagesOf([human, thoughtful])).toMatchObject([
      {},
      { content: 'Hello.', reasoningContent: 'They greet.' },
    ]);
  });

  it('keeps signed thoughts with the maker of the model', async () => {
    const content = [
      { type: 'thinking', thinking: 'They greet.', signature: 'c2ln' },
      { type: 'text', text: 'Hello.' },
    ];
    const said = {
      ...ai,
      content,
      tool_calls: [],
      response_metadata: { model_name: 'claude-sonnet-4', model_provider: 'anthropic' },
    };
    const origin = { provider: 'anthropic', model: 'claude-sonnet-4' };
    expect(await messagesOf([said])).toMatchObject([
      { content: 'Hello.', origin, reasoning: [{ text: 'They greet.', signature: 'c2ln', origin }] },
    ]);
  });

  it('keeps encrypted reasoning of the Responses API byte for byte', async () => {
    const item = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'Greeting.' }],
      encrypted_content: 'gAAAA==',
    };
    expect(await messagesOf([{ ...ai, content: [item], tool_calls: [] }])).toMatchObject([
      {
        reasoning: [{ text: 'Greeting.', encrypted: 'gAAAA==', id: 'rs_1', origin: { provider: 'openai' } }],
      },
    ]);
  });

  it('keeps the signature of a call on the call', async () => {
    const signatures = { __gemini_function_call_thought_signatures__: { c1: 'c2ln' } };
    const [message] = await messagesOf([{ ...ai, additional_kwargs: signatures }]);
    expect(toolCallsOf(message!)).toMatchObject([{ id: 'c1', signature: 'c2ln' }]);
  });

  it("takes arguments from the provider's text, with every digit", async () => {
    const text = '{"id": 12345678901234567890}';
    const raw = { id: 'c1', type: 'function', function: { name: 'read', arguments: text } };
    const given = {
      ...ai,
      tool_calls: [{ ...ai.tool_calls[0], args: { id: 1 } }],
      additional_kwargs: { tool_calls: [raw] },
    };
    const [message] = await messagesOf([given]);
    expect(toolCallsOf(message!)).toStrictEqual([
      { id: 'c1', name: 'read', arguments: { id: '12345678901234567890' }, argumentsText: text },
    ]);
  });

  it('reads calls that only the provider list has', async () => {
    const raw = { id: 'c9', type: 'function', function: { name: 'read', arguments: '{}' } };
    const given = { type: 'ai', content: '', additional_kwargs: { tool_calls: [raw] } };
    const [message] = await messagesOf([given]);
    expect(toolCallsOf(message!)).toStrictEqual([{ id: 'c9', name: 'read', arguments: {} }]);
  });

  it('reads a call once that stands in the content too', async () => {
    const block = { type: 'tool_use', id: 'c1', name: 'read', input: { path: 'a.ts' } };
    const [message] = await messagesOf([{ ...ai, content: [block] }]);
    expect(toolCallsOf(message!)).toHaveLength(1);
  });

  it('keeps a call whose arguments did not parse, with their text', async () => {
    const torn = { name: 'read', args: '{"path": "a', id: 'c2', error: 'no JSON', type: 'invalid_tool_call' };
    const { messages, report } = await readAll(importer, [{ ...ai, invalid_tool_calls: [torn] }]);
    expect(toolCallsOf(messages[0]!)[1]).toStrictEqual({
      id: 'c2',
      name: 'read',
      arguments: '{"path": "a',
      argumentsText: '{"path": "a',
    });
    expect(report.dropped).toMatchObject([{ what: 'what the parser said about a tool call', count: 1 }]);
  });

  it('reads a result with the status error as an error', async () => {
    const failed = { ...tool, content: 'No such file.', status: 'error' };
    expect(await messagesOf([ai, failed])).toMatchObject([
      {},
      { toolPayload: { toolResult: null, toolError: 'No such file.' } },
    ]);
  });

  it('names a result after its call where it has no name', async () => {
    const { name: _, ...nameless } = tool;
    expect(await messagesOf([ai, nameless])).toMatchObject([{}, { toolPayload: { toolName: 'read' } }]);
  });

  it('leaves a call without a result as it is', async () => {
    expect(await messagesOf([human, ai])).toHaveLength(2);
  });

  it('gives the result of the old form the id of its function call', async () => {
    const calling = {
      type: 'ai',
      content: '',
      additional_kwargs: { function_call: { name: 'read', arguments: '{}' } },
    };
    const [call, result] = await messagesOf([calling, { type: 'function', name: 'read', content: 'text' }]);
    expect(result?.toolPayload).toMatchObject({
      toolCallId: toolCallsOf(call!)[0]?.id,
      toolName: 'read',
      toolResult: 'text',
    });
  });

  it.each([
    [{ type: 'image_url', image_url: { url: 'https://example.test/a.png' } }, 'https://example.test/a.png'],
    [{ type: 'image_url', image_url: 'https://example.test/a.png' }, 'https://example.test/a.png'],
    [
      { type: 'image', source_type: 'base64', mime_type: 'image/jpeg', data: 'AAAA' },
      'data:image/jpeg;base64,AAAA',
    ],
    [{ type: 'image', base64: 'AAAA', mime_type: 'image/jpeg' }, 'data:image/jpeg;base64,AAAA'],
    [
      { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'AAAA' } },
      'data:image/jpeg;base64,AAAA',
    ],
    [{ type: 'media', mime_type: 'image/jpeg', data: 'AAAA' }, 'data:image/jpeg;base64,AAAA'],
  ])('reads an image in the form %j', async (block, ref) => {
    const [message] = await messagesOf([{ ...human, content: [{ type: 'text', text: 'See.' }, block] }]);
    expect(message?.parts).toMatchObject([
      { type: 'text', text: 'See.' },
      { type: 'media', media: { kind: 'image', ref } },
    ]);
  });

  it('puts the images of a result beside its text', async () => {
    const content = [
      { type: 'text', text: 'done' },
      { type: 'image', base64: 'AAAA', mime_type: 'image/png' },
    ];
    expect(await messagesOf([ai, { ...tool, content }])).toMatchObject([
      {},
      { toolPayload: { toolResult: 'done' }, parts: [{ type: 'media' }] },
    ]);
  });

  it('leaves out a message that a later one removes', async () => {
    const { messages, report } = await readAll(importer, [
      human,
      { type: 'ai', content: 'Wrong.', id: 'a1' },
      { type: 'remove', content: '', id: 'a1' },
      { type: 'ai', content: 'Right.', id: 'a1' },
    ]);
    expect(messages.map(({ content }) => content)).toStrictEqual(['What is in a.ts?', 'Right.']);
    expect(report.dropped.map(({ what }) => what)).toContain('a message that was removed later');
  });

  it.each([stored({ type: 'remove', id: 'a1' }), constructed('RemoveMessage', { type: 'remove', id: 'a1' })])(
    'carries out a removal in the form %j',
    async (removal) => {
      const wrong = { type: 'ai', content: 'Wrong.', id: 'a1' };
      expect(await messagesOf([human, wrong, removal])).toHaveLength(1);
    },
  );

  it('leaves out everything before the removal of all messages', async () => {
    const clear = { type: 'remove', content: '', id: '__remove_all__' };
    expect(await messagesOf([human, ai, tool, clear, human])).toHaveLength(1);
  });

  it('marks the summary that replaced older messages', async () => {
    const summary = {
      type: 'human',
      content: 'So far: nothing.',
      additional_kwargs: { lc_source: 'summarization' },
    };
    const { messages, report } = await readAll(importer, [summary]);
    expect(messages).toStrictEqual([{ role: 'user', content: 'So far: nothing.', kind: 'memory' }]);
    expect(report.kept).toStrictEqual({ summary: 1 });
  });

  it('reads the agent out of recorded model calls, without the other callers', async () => {
    const given = {
      prompt: 'Read a.ts.',
      turns: [
        { caller: 'agent', input_hash: '1', output: stored(ai) },
        { caller: 'title', input_hash: '2', output: stored({ ...ai, tool_calls: [] }) },
      ],
    };
    expect(await isRecognised(importer, given)).toBe(true);
    const { messages, report } = await readAll(importer, given);
    expect(messages.map(({ role }) => role)).toStrictEqual(['user', 'assistant']);
    expect(report.dropped).toStrictEqual([
      { what: 'a model call of another part of the graph', count: 1, places: ['turns/1'] },
    ]);
  });

  it('accounts for the state beside the messages', async () => {
    const thread = { values: { messages: [human], todos: [] }, next: [], checkpoint: {} };
    const { report } = await readAll(importer, thread);
    expect(report).toMatchObject({ records: 1, kept: { 'user message': 1 } });
    expect(report.dropped).toStrictEqual([
      { what: 'a field next to the messages', count: 3, places: ['values/todos', 'next', 'checkpoint'] },
    ]);
  });

  it('counts what is no message and reads on', async () => {
    const odd = [human, null, 7, { type: 'ai', content: { a: 1 }, tool_calls: [null, { id: 3 }] }, tool];
    const { messages, report } = await readAll(importer, { messages: odd });
    expect(messages).toHaveLength(3);
    expect(report.dropped).toMatchObject([
      { what: 'a member that is not a message', count: 2 },
      { what: 'a tool call that is not an object', count: 1 },
    ]);
  });

  it('refuses a document that has no such messages', async () => {
    await expect(readAll(importer, { messages: 7 })).rejects.toMatchObject({ code: 'TRANSCRIPT_INVALID' });
  });
});

describe.skipIf(!hasShared('corpus/langgraph-thread'))('the import of real LangGraph threads', () => {
  it.each(sharedFiles('corpus/langgraph-thread').map((file) => [file.name, file] as const))(
    'reads %s, with a call before each result',
    async (_, file) => {
      expect(await isRecognised(importer, file)).toBe(true);
      const { messages } = await readAll(importer, file);
      expect(messages.length).toBeGreaterThan(3);
      expect(orphansOf(messages)).toStrictEqual([]);
    },
  );
});
