import { describe, expect, it } from 'vitest';
import { openAiChatImporter as importer } from '../../../../src/messages/importers/openai-chat/openai-chat.js';
import { type OpenTranscript, openTranscript } from '../../../../src/messages/importers/read-transcript.js';
import { hasShared, isRecognised, lines, orphansOf, readAll, sharedFiles } from '../read-all.js';

const asked = { role: 'user', content: 'What is in a.ts?' };
const call = { id: 'c1', type: 'function', function: { name: 'read', arguments: '{"path":"a.ts"}' } };
const calling = { role: 'assistant', content: null, tool_calls: [call] };
const answered = { role: 'tool', tool_call_id: 'c1', content: 'text of a.ts' };

const messagesOf = async (given: unknown) => (await readAll(importer, given)).messages;

describe('the import of OpenAI chat messages', () => {
  it.each([
    ['a request', { model: 'gpt-5', messages: [asked, calling, answered] }],
    ['a list', [asked, calling, answered]],
    ['one message a line', lines(asked, calling, answered)],
    ['one conversation a line', lines({ messages: [asked, calling, answered] }, { messages: [asked] })],
    ['a logged request', { request: { messages: [asked, calling, answered] } }],
    ['a line of a batch', { custom_id: '1', body: { messages: [asked, calling, answered] } }],
    ['a list of conversations', [{ messages: [asked, calling, answered] }]],
  ])('recognises %s and reads it', async (_, given) => {
    expect(await isRecognised(importer, given)).toBe(true);
    expect(await messagesOf(given)).toStrictEqual([
      { role: 'user', content: 'What is in a.ts?' },
      {
        role: 'assistant',
        content: null,
        toolPayload: { toolCalls: [{ id: 'c1', name: 'read', arguments: { path: 'a.ts' } }] },
      },
      {
        role: 'tool',
        content: null,
        toolPayload: { toolCallId: 'c1', toolName: 'read', toolResult: 'text of a.ts', toolError: null },
      },
    ]);
  });

  it('reads the first of several conversations and accounts for the others', async () => {
    const { messages, report } = await readAll(importer, lines({ messages: [asked] }, { messages: [asked] }));
    expect(messages).toHaveLength(1);
    expect(report.dropped).toStrictEqual([{ what: 'another conversation', count: 1, places: ['line 2'] }]);
  });

  it('appends the completion to its request, wherever it stands in the document', async () => {
    const completion = { choices: [{ index: 0, message: { role: 'assistant', content: 'Nothing.' } }] };
    const log = {
      response: { id: 'chatcmpl-1', model: 'gpt-5', ...completion },
      request: { messages: [asked] },
    };
    expect(await messagesOf(log)).toStrictEqual([
      { role: 'user', content: 'What is in a.ts?' },
      {
        role: 'assistant',
        content: 'Nothing.',
        messageId: 'chatcmpl-1',
        origin: { provider: 'openai', model: 'gpt-5' },
      },
    ]);
  });

  it('reads the first choice of a completion and accounts for the others', async () => {
    const choices = [asked, asked].map((message, index) => ({
      index,
      message: { ...message, role: 'assistant' },
    }));
    const { messages, report } = await readAll(importer, { id: 'x', choices });
    expect(messages).toHaveLength(1);
    expect(report.dropped).toMatchObject([{ what: 'another choice of the model', count: 1 }]);
  });

  it('keeps the text of arguments that do not parse, as it is', async () => {
    const torn = { ...call, function: { name: 'read', arguments: '{"path": "a' } };
    const [message] = await messagesOf([{ ...calling, tool_calls: [torn] }]);
    expect(message?.toolPayload).toStrictEqual({
      toolCalls: [{ id: 'c1', name: 'read', arguments: '{"path": "a', argumentsText: '{"path": "a' }],
    });
  });

  it('keeps the text of arguments that would be written otherwise, with every digit of a large number', async () => {
    const text = '{"id": 12345678901234567890}';
    const large = { ...call, function: { name: 'read', arguments: text } };
    const [message] = await messagesOf([{ ...calling, tool_calls: [large] }]);
    expect(message?.toolPayload).toMatchObject({
      toolCalls: [{ arguments: { id: '12345678901234567890' }, argumentsText: text }],
    });
  });

  it('reads parts in order, with images, sound and files', async () => {
    const content = [
      { type: 'text', text: 'Look:' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      { type: 'image_url', image_url: { url: 'https://example.com/a.jpg' } },
      { type: 'input_audio', input_audio: { data: 'BBBB', format: 'mp3' } },
      { type: 'file', file: { file_id: 'file-1', filename: 'a.pdf' } },
    ];
    const [message] = await messagesOf([{ role: 'user', content }]);
    expect(message?.content).toBeNull();
    expect(message?.parts).toStrictEqual([
      { type: 'text', text: 'Look:' },
      { type: 'media', media: { kind: 'image', mime: 'image/png', ref: 'data:image/png;base64,AAAA' } },
      { type: 'media', media: { kind: 'image', ref: 'https://example.com/a.jpg' } },
      { type: 'media', media: { kind: 'audio', mime: 'audio/mp3', ref: 'data:audio/mp3;base64,BBBB' } },
      { type: 'media', media: { kind: 'file', ref: 'openai-file:file-1', name: 'a.pdf' } },
    ]);
  });

  it('gives a function call of the old form an id, and its result the same', async () => {
    const old = { role: 'assistant', content: null, function_call: { name: 'read', arguments: '{}' } };
    const messages = await messagesOf([asked, old, { role: 'function', name: 'read', content: 'x' }]);
    expect(messages[1]?.toolPayload).toMatchObject({ toolCalls: [{ id: 'function_call_1', name: 'read' }] });
    expect(messages[2]?.toolPayload).toMatchObject({ toolCallId: 'function_call_1', toolResult: 'x' });
  });

  it('leaves empty calls, blank texts, orphans and duplicates as they are', async () => {
    const messages = await messagesOf([
      { role: 'assistant', content: '', tool_calls: [] },
      answered,
      calling,
      answered,
      answered,
    ]);
    expect(messages[0]).toStrictEqual({ role: 'assistant', content: '', toolPayload: { toolCalls: [] } });
    expect(messages.filter(({ role }) => role === 'tool')).toHaveLength(3);
  });

  it('keeps reasoning that a compatible server wrote beside the answer', async () => {
    const thought = { role: 'assistant', content: 'Four.', reasoning_content: 'Two and two.' };
    expect(await messagesOf([asked, thought])).toMatchObject([{}, { reasoningContent: 'Two and two.' }]);
  });

  it('reads developer messages as system messages', async () => {
    expect(await messagesOf([{ role: 'developer', content: 'Be brief.' }])).toStrictEqual([
      { role: 'system', content: 'Be brief.' },
    ]);
  });

  it('reads a refusal as what was said', async () => {
    const { messages, report } = await readAll(importer, [
      { role: 'assistant', content: null, refusal: 'I cannot.' },
    ]);
    expect(messages).toStrictEqual([{ role: 'assistant', content: 'I cannot.' }]);
    expect(report.approximated).toMatchObject([{ what: 'a refusal, as text', count: 1 }]);
  });

  it('keeps a numeric id as text and says so', async () => {
    const { messages, report } = await readAll(importer, [
      { ...calling, tool_calls: [{ ...call, id: 7 }] },
      { ...answered, tool_call_id: 7 },
    ]);
    expect(messages[1]?.toolPayload).toMatchObject({ toolCallId: '7', toolName: 'read' });
    expect(report.approximated).toMatchObject([{ what: 'an id that is not text', count: 2 }]);
  });

  it('accounts for members that are no messages, and for fields without a place', async () => {
    const { messages, report } = await readAll(importer, [null, 3, {}, { ...asked, weight: 1 }]);
    expect(messages).toHaveLength(1);
    expect(report.dropped).toMatchObject([
      { what: 'a member that is not a message', count: 3 },
      { what: 'a field without a place here', places: ['messages/3/weight'] },
    ]);
  });

  it('reads the model context of AutoGen', async () => {
    const context = {
      messages: [
        { type: 'UserMessage', source: 'user', content: 'List.' },
        {
          type: 'AssistantMessage',
          source: 'bot',
          thought: 'Look.',
          content: [{ id: 'c1', name: 'ls', arguments: '{}' }],
        },
        {
          type: 'FunctionExecutionResultMessage',
          content: [{ call_id: 'c1', name: 'ls', content: 'No such folder', is_error: true }],
        },
      ],
    };
    expect(await isRecognised(importer, context)).toBe(true);
    expect(await messagesOf(context)).toStrictEqual([
      { role: 'user', content: 'List.' },
      {
        role: 'assistant',
        content: null,
        toolPayload: { toolCalls: [{ id: 'c1', name: 'ls', arguments: {} }] },
        reasoning: [{ text: 'Look.' }],
      },
      {
        role: 'tool',
        content: null,
        toolPayload: { toolCallId: 'c1', toolName: 'ls', toolResult: null, toolError: 'No such folder' },
      },
    ]);
  });

  it.each([
    [
      'tool_use blocks',
      [asked, { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'n', input: {} }] }],
    ],
    ['thinking blocks', [asked, { role: 'assistant', content: [{ type: 'thinking', thinking: 'x' }] }]],
    ['images with a source', [{ role: 'user', content: [{ type: 'image', source: {} }] }]],
    [
      'answers that are lists of text only',
      [asked, { role: 'assistant', content: [{ type: 'text', text: 'x' }] }],
    ],
    ['tools with an input_schema', { tools: [{ name: 'n', input_schema: {} }], messages: [asked] }],
    ['AI SDK calls', [asked, { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c' }] }]],
    ['AI SDK files', [{ role: 'user', content: [{ type: 'file', data: 'AAAA', mediaType: 'image/png' }] }]],
    ['UI messages', [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'x' }] }]],
    ['LangChain messages', [{ type: 'human', content: 'x' }]],
    ['SWE-agent histories', [{ ...asked, agent: 'main', message_type: 'observation' }]],
    ['neutral results', [asked, { role: 'tool', tool_call_id: 'c1', tool_result: 'x' }]],
    ['an empty list', []],
    ['other objects', { messages: 'none' }],
  ])('does not recognise %s', async (_, given) => {
    expect(await isRecognised(importer, given)).toBe(false);
  });

  it('refuses a document without a list with TRANSCRIPT_INVALID', async () => {
    await expect(readAll(importer, { messages: {} })).rejects.toMatchObject({ code: 'TRANSCRIPT_INVALID' });
  });

  it.skipIf(!hasShared('corpus/openai-chat'))(
    'reads the real AutoGen history, and no file of another format',
    async () => {
      const recognised: string[] = [];
      for (const file of sharedFiles('corpus'))
        if (isRecognisedFirst(await openTranscript(file).catch(() => null))) recognised.push(file.name);
      expect(recognised).toStrictEqual([
        'misc/hermes/agentsess-hermes-large.json', // a session with chat messages
        'openai-chat/autogen-history.json',
      ]);
      const history = sharedFiles('corpus/openai-chat').find(({ name }) => name === 'autogen-history.json');
      const { messages } = await readAll(importer, history);
      expect(messages).toHaveLength(6);
      expect(orphansOf(messages)).toStrictEqual([]);
    },
  );
});

function isRecognisedFirst(transcript: OpenTranscript | null): boolean {
  return transcript?.format === 'openai-chat';
}
