/** The content of the messages says which format they have; what stands around them never excludes one. */
import { describe, expect, it } from 'vitest';
import { contextOf, openTranscript } from '../../../src/messages/importers/read-transcript.js';
import { sourceOf } from '../../../src/messages/importers/source.js';
import { toolCallsOf } from '../../../src/messages/message.js';

const asked = { role: 'user', content: 'go' };
const chat = [
  asked,
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
  },
  { role: 'tool', tool_call_id: 'c', content: 'A' },
];
const anthropic = [
  asked,
  {
    role: 'assistant',
    content: [
      { type: 'text', text: 'ok' },
      { type: 'tool_use', id: 'c', name: 'f', input: {} },
    ],
  },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'A' }] },
];

async function read(document: unknown) {
  const transcript = await openTranscript(sourceOf(JSON.stringify(document)));
  return { transcript, messages: await contextOf(transcript) };
}

describe('detection', () => {
  const lists: readonly (readonly [string, object, string])[] = [
    ['a text first', { messages: anthropic }, 'anthropic'],
    ['a model and a limit', { model: 'claude-opus-4-1', max_tokens: 100, messages: anthropic }, 'anthropic'],
    [
      'a model, a limit and plain text',
      { model: 'claude-opus-4-1', max_tokens: 100, messages: [asked] },
      'anthropic',
    ],
    ['a system prompt beside chat messages', { system: 'Be brief.', messages: chat }, 'openai-chat'],
    ...['session_id', 'sessionId', 'agent_id', 'info', 'history', 'agents', 'slug', 'mapping', 'eval'].map(
      (key) => [`a key ${key}`, { [key]: 'x', messages: chat }, 'openai-chat'] as const,
    ),
    [
      'items in `input`',
      {
        input: [
          asked,
          { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
          { type: 'function_call_output', call_id: 'c', output: 'A' },
        ],
      },
      'openai-responses',
    ],
    [
      'contents',
      {
        contents: [
          { role: 'user', parts: [{ text: 'go' }] },
          { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
        ],
      },
      'gemini',
    ],
  ];

  it.each(lists)('knows messages with %s', async (_, document, format) => {
    const { transcript, messages } = await read(document);
    expect(transcript.format).toBe(format);
    expect(transcript.reasons.length).toBeGreaterThan(0);
    if (format !== 'anthropic' || !('max_tokens' in document)) {
      expect(messages.flatMap(toolCallsOf)).toMatchObject([{ name: 'f' }]);
      expect(transcript.losses().dropped).toEqual([]);
    }
  });

  it('keeps a system prompt that stands beside chat messages', async () => {
    const { messages } = await read({ messages: chat, system: 'Be brief.' });
    expect(messages[0]).toEqual({ role: 'system', content: 'Be brief.' });
  });

  it('looks at as many messages as it takes', async () => {
    const plain = Array.from({ length: 400 }, (_, n) => ({
      role: n % 2 ? 'assistant' : 'user',
      content: `${n}`,
    }));
    const { transcript, messages } = await read({ messages: [...plain, ...anthropic] });
    expect(transcript.format).toBe('anthropic');
    expect(transcript.reasons).toEqual(['messages/401: a part `tool_use` (anthropic)']);
    expect(messages.flatMap(toolCallsOf)).toHaveLength(1);
  });

  it.each([
    'file',
    'mcp_tool_use',
    'bash_code_execution_tool_result',
    'search_result',
    'container_upload',
    'compaction',
    'of_the_future',
  ])('reads a list with a block %s, and keeps the block', async (type) => {
    const block = { type, text: 'read me', id: 'b' };
    for (const messages of [
      [{ role: 'user', content: [{ type: 'text', text: 'see' }, block] }, ...anthropic.slice(1)],
      [{ role: 'user', content: [{ type: 'text', text: 'see' }, block] }, ...chat.slice(1)],
    ]) {
      const { transcript, messages: list } = await read({ messages });
      expect(transcript.format).toBe(messages[2] === chat[2] ? 'openai-chat' : 'anthropic');
      expect(list[0]!.providerItems).toMatchObject([{ item: block }]);
      expect(JSON.stringify(list[0]!.parts)).toContain('read me');
      expect(list.flatMap(toolCallsOf)).toHaveLength(1);
    }
  });

  it('knows a transcript of one text of 20 MB', async () => {
    const { transcript, messages } = await read({
      messages: [{ role: 'user', content: 'x'.repeat(20_000_000) }, ...chat.slice(1)],
    });
    expect(transcript.format).toBe('openai-chat');
    expect(messages).toHaveLength(3);
  });
});
