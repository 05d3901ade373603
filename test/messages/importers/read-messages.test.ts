/** `readMessages`: what a host has in memory, of any known format, is read whole or refused with its index. */
import { describe, expect, it } from 'vitest';
import { isRekindleError } from '../../../src/core/errors.js';
import { readMessages } from '../../../src/messages/importers/read-messages.js';
import { toolCallsOf, toolResultOf } from '../../../src/messages/message.js';
import { project } from '../../../src/messages/projections/project.js';

const said = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'go' },
  {
    role: 'assistant',
    content: 'Looking.',
    toolPayload: { toolCalls: [{ id: 'call_1', name: 'read', arguments: { path: 'a' } }] },
  },
  {
    role: 'tool',
    content: null,
    toolPayload: { toolCallId: 'call_1', toolName: 'read', toolResult: 'A', toolError: null },
  },
  { role: 'assistant', content: 'Done.' },
] as const;

const lists = {
  'openai-chat': project('openai-chat', said, { ending: 'as-is' }).request.messages,
  anthropic: project('anthropic', said, { ending: 'as-is' }).request.messages,
  'openai-responses': project('openai-responses', said, { ending: 'as-is' }).request.input,
  gemini: project('gemini', said, { ending: 'as-is' }).request.contents,
  'ai-sdk-model': project('ai-sdk', said, { ending: 'as-is' }).request.messages,
  rekindle: said,
};

function refusal(run: () => unknown): Record<string, unknown> {
  try {
    run();
  } catch (thrown) {
    if (isRekindleError(thrown)) return { code: thrown.code, ...thrown.details };
    throw thrown;
  }
  throw new TypeError('it was accepted');
}

describe('readMessages', () => {
  it.each(Object.entries(lists))(
    'reads the conversation of a list in the format %s, with reasons',
    (format, list) => {
      const read = readMessages(list);
      expect(read.format).toBe(format);
      expect(read.reasons.length).toBeGreaterThan(0);
      const conversation = read.messages.filter(({ role }) => role !== 'system');
      expect(conversation.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
      expect(conversation[1]).toMatchObject({ content: 'Looking.' });
      expect(toolCallsOf(conversation[1]!)).toMatchObject([{ name: 'read', arguments: { path: 'a' } }]);
      expect(toolResultOf(conversation[2]!)).toMatchObject({ toolName: 'read', toolResult: 'A' });
      expect(toolCallsOf(conversation[1]!)[0]!.id).toBe(toolResultOf(conversation[2]!)!.toolCallId);
    },
  );

  it('reads UI messages of the AI SDK', () => {
    const tool = {
      type: 'tool-read',
      toolCallId: 'c',
      state: 'output-available',
      input: { p: 1 },
      output: 'A',
    };
    const read = readMessages([
      { id: 'u', role: 'user', parts: [{ type: 'text', text: 'go' }] },
      {
        id: 'a',
        role: 'assistant',
        parts: [{ type: 'step-start' }, tool, { type: 'step-start' }, { type: 'text', text: 'ok' }],
      },
    ]);
    expect(read.format).toBe('ai-sdk-ui');
    expect(read.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  });

  it('reads whole responses, with their ids and models', () => {
    const chat = {
      id: 'chatcmpl-1',
      model: 'gpt-5',
      choices: [{ message: { role: 'assistant', content: 'hi' } }],
    };
    const response = {
      ...{ object: 'response', id: 'resp_1', model: 'gpt-5' },
      output: [
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'e' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'hi' }] },
      ],
    };
    const anthropic = {
      type: 'message',
      role: 'assistant',
      id: 'msg_1',
      model: 'claude-opus-4-1',
      stop_reason: 'end_turn',
      content: [{ type: 'text', text: 'hi' }],
    };
    const gemini = {
      responseId: 'g1',
      modelVersion: 'gemini-3-pro',
      candidates: [{ content: { role: 'model', parts: [{ text: 'hi' }] } }],
    };
    const expected = [
      [chat, 'chatcmpl-1', 'openai'],
      [response, 'resp_1', 'openai'],
      [anthropic, 'msg_1', 'anthropic'],
      [gemini, 'g1', 'google'],
    ] as const;
    for (const [entry, messageId, provider] of expected) {
      const { messages } = readMessages([entry]);
      expect(messages).toMatchObject([{ role: 'assistant', content: 'hi', messageId, origin: { provider } }]);
    }
  });

  it('finds the format at whichever entry shows it first', () => {
    const plain = Array.from({ length: 60 }, (_, n) => ({
      role: n % 2 ? 'assistant' : 'user',
      content: `text ${n}`,
    }));
    const call = { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'read', input: {} }] };
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'A' }] };
    const read = readMessages([...plain, call, result]);
    expect(read.format).toBe('anthropic');
    expect(read.reasons[0]).toBe('messages/60: a part `tool_use` (anthropic)');
    expect(read.messages).toHaveLength(62);
  });

  it('reads an entry of another format with the reader of that format', () => {
    const read = readMessages([
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'A' }] },
    ]);
    expect(read.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  });

  it('gives a Gemini response without an id to the oldest open call of its name', () => {
    const call = (n: number) => ({ functionCall: { name: 'read', args: { n } } });
    const result = (n: number) => ({ functionResponse: { name: 'read', response: { output: n } } });
    const { messages } = readMessages([
      { role: 'user', parts: [{ text: 'go' }] },
      { role: 'model', parts: [call(1), call(2)] },
      { role: 'user', parts: [result(1), result(2)] },
    ]);
    const ids = toolCallsOf(messages[1]!).map(({ id }) => id);
    expect(messages.slice(2).map((message) => toolResultOf(message))).toMatchObject([
      { toolCallId: ids[0], toolResult: 1 },
      { toolCallId: ids[1], toolResult: 2 },
    ]);
  });

  it('keeps a block of an unknown type for its provider and shows its text', () => {
    for (const role of ['user', 'assistant']) {
      const block = { type: 'of_the_future', text: 'read me', secret: 1 };
      const { messages, losses, format } = readMessages([
        { role, content: [{ type: 'text', text: 'see' }, block] },
      ]);
      expect(format).not.toBe('rekindle');
      expect(messages[0]).toMatchObject({ role, providerItems: [{ item: block }] });
      expect(JSON.stringify(messages[0]!.parts)).toContain('read me');
      expect(losses.approximated).toMatchObject([{ count: 1 }]);
      expect(losses.dropped).toEqual([]);
    }
  });

  it('takes bytes, dates, URLs and big integers in memory', () => {
    const file = { type: 'file', data: new Uint8Array([1, 2, 3]), mediaType: 'application/pdf' };
    const image = { type: 'image', image: new URL('https://example.com/a.png') };
    const call = { type: 'tool-call', toolCallId: 'c', toolName: 'f', input: { n: 9007199254740993n } };
    const { messages } = readMessages([
      { role: 'user', content: [file, image] },
      { role: 'assistant', content: [call] },
    ]);
    expect(messages[0]!.parts).toMatchObject([
      { media: { ref: 'data:application/pdf;base64,AQID' } },
      { media: { kind: 'image', ref: 'https://example.com/a.png' } },
    ]);
    expect(toolCallsOf(messages[1]!)[0]!.arguments).toEqual({ n: '9007199254740993' });
  });

  it('refuses what it cannot read whole, naming the index and the reason', () => {
    const cyclic: Record<string, unknown> = { role: 'user', content: 'x' };
    cyclic['self'] = cyclic;
    let deep: unknown = 'x';
    for (let level = 0; level < 6000; level += 1) deep = [deep];
    const call = {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'f', input: deep }],
    };
    const first = { role: 'user', content: 'go' };
    for (const [bad, reason] of [
      ['a text', /not an object/],
      [{ content: 'nobody' }, /not a message/],
      [cyclic, /itself/],
      [call, /too deep/],
    ] as const) {
      const { code, index, reason: why } = refusal(() => readMessages([first, bad]));
      expect({ code, index }).toEqual({ code: 'MESSAGE_INVALID', index: 1 });
      expect(why).toMatch(reason);
    }
  });

  it('refuses a list in which nothing is a message, and an entry that is not of the format that was named', () => {
    expect(refusal(() => readMessages([{ a: 1 }, 2]))).toMatchObject({ code: 'TRANSCRIPT_UNKNOWN' });
    const chat = { role: 'tool', tool_call_id: 'c', content: 'A' };
    expect(refusal(() => readMessages([chat], { format: 'anthropic' }))).toMatchObject({
      code: 'MESSAGE_INVALID',
      index: 0,
    });
    expect(refusal(() => readMessages([], { format: 'xml' as 'gemini' }))).toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
  });

  it('gives answers the origin of the caller where they have none', () => {
    const origin = { provider: 'mistral', model: 'large' };
    const { messages } = readMessages(
      [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: 'hi' },
      ],
      { origin },
    );
    expect(messages).toEqual([
      { role: 'user', content: 'go' },
      { role: 'assistant', content: 'hi', origin },
    ]);
  });
});

describe('items of the Responses API without their response', () => {
  const said = (text: string) => ({
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text }],
  });
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' };
  const call = { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' };

  it.each([
    ['before the call', [said('First.'), reasoning, call, said('Second.')], [1, 0]],
    ['after the call', [said('First.'), call, reasoning, said('Second.')], [0, 1]],
  ])('have reasoning %s with what it led to', (_, items, counts) => {
    const { messages } = readMessages(items);
    const thoughtsOf = ({ reasoning: own = [], parts = [] }: (typeof messages)[number]) =>
      own.length + parts.filter(({ type }) => type === 'reasoning').length;
    expect(messages.map(thoughtsOf)).toEqual(counts);
  });

  it('are joined so that reasoning after a text belongs to the next text', () => {
    const { messages } = readMessages([said('First.'), reasoning, said('Second.')]);
    expect(messages.map(({ content, reasoning: thoughts }) => [content, thoughts?.length ?? 0])).toEqual([
      ['First.', 0],
      ['Second.', 1],
    ]);
  });
});
