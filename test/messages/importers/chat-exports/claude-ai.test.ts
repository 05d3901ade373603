import { describe, expect, it } from 'vitest';
import { claudeAiImporter as importer } from '../../../../src/messages/importers/chat-exports/claude-ai.js';
import { isRecognised, orphansOf, readAll } from '../read-all.js';

const CREATED = '2026-01-02T03:04:05Z';
const human = (uuid: string, text: string, rest: object = {}) => ({
  uuid,
  sender: 'human',
  text,
  content: [{ type: 'text', text, citations: [] }],
  created_at: CREATED,
  ...rest,
});
const claude = (uuid: string, content: unknown, rest: object = {}) => ({
  uuid,
  sender: 'assistant',
  text: '',
  content,
  ...rest,
});
const conversation = (...chat_messages: unknown[]) => ({ uuid: 'c', name: 'Tea', chat_messages });
const asked = human('u1', 'What is in a.txt?');
const call = { type: 'tool_use', id: 'toolu_1', name: 'bash', input: { cmd: 'cat a.txt' } };
const result = {
  type: 'tool_result',
  tool_use_id: 'toolu_1',
  content: [{ type: 'text', text: 'tea' }],
  is_error: false,
};
const said = (text: string) => ({ type: 'text', text });
const origin = { provider: 'anthropic' };

const read = (...messages: unknown[]) => readAll(importer, [conversation(...messages)]);
const whatsOf = (items: readonly { readonly what: string }[]) => items.map(({ what }) => what);

describe('the import of Claude.ai exports', () => {
  it('splits an answer into the calls, the results and the later text', async () => {
    const document = [conversation(asked, claude('a1', [said('Let me see.'), call, result, said('Tea.')]))];
    expect(await isRecognised(importer, document)).toBe(true);
    const { items, messages, report } = await readAll(importer, document);
    expect(items[0]).toMatchObject({ ts: Date.parse(CREATED) / 1000 });
    expect(messages).toStrictEqual([
      { role: 'user', content: 'What is in a.txt?' },
      {
        role: 'assistant',
        content: 'Let me see.',
        toolPayload: { toolCalls: [{ id: 'toolu_1', name: 'bash', arguments: { cmd: 'cat a.txt' } }] },
        origin,
        messageId: 'a1',
      },
      {
        role: 'tool',
        content: null,
        toolPayload: { toolCallId: 'toolu_1', toolName: 'bash', toolResult: 'tea', toolError: null },
      },
      { role: 'assistant', content: 'Tea.', origin },
    ]);
    expect(report).toMatchObject({ records: 2, kept: { 'tool call': 1, 'tool result': 1 } });
  });

  it('reads a single conversation', async () => {
    const document = conversation(asked, claude('a1', [said('Tea.')]));
    expect(await isRecognised(importer, document)).toBe(true);
    expect((await readAll(importer, document)).messages).toHaveLength(2);
  });

  it('does not recognise other lists of messages', async () => {
    for (const document of [
      { chat_messages: [] },
      [{ chat_messages: [{ role: 'user' }] }],
      { messages: [asked] },
    ])
      expect(await isRecognised(importer, document)).toBe(false);
  });

  it('reads the first conversation with messages and counts the others', async () => {
    const { messages, report } = await readAll(importer, [
      conversation(),
      conversation(asked),
      conversation(asked),
    ]);
    expect(messages).toHaveLength(1);
    expect(report.dropped).toContainEqual({
      what: 'another conversation',
      count: 1,
      places: ['conversations/2'],
    });
  });

  it('reads old messages, which have only a text', async () => {
    const { messages } = await read(
      { uuid: 'u', sender: 'human', text: 'Hi' },
      { uuid: 'a', sender: 'assistant', text: 'Hello', content: [] },
    );
    expect(messages.map(({ content }) => content)).toEqual(['Hi', 'Hello']);
  });

  it('takes the path of parents to the leaf that the conversation names', async () => {
    const root = { parent_message_uuid: '00000000-0000-4000-8000-000000000000' };
    const list = [
      human('u1', 'Hi', root),
      claude('a1', [said('Hello')], { parent_message_uuid: 'u1' }),
      claude('a2', [said('Good day')], { parent_message_uuid: 'u1' }),
    ];
    const named = { ...conversation(...list), current_leaf_message_uuid: 'a1' };
    const first = await readAll(importer, named);
    expect(first.messages.map(({ content }) => content)).toEqual(['Hi', 'Hello']);
    expect(whatsOf(first.report.dropped)).toContain('a message on another branch');
    expect((await read(...list)).messages.map(({ content }) => content)).toEqual(['Hi', 'Good day']);
  });

  it('gives ids to calls without one, and to their results in order', async () => {
    const open = [call, { ...call, input: { cmd: 'ls' } }].map((block) => ({ ...block, id: null }));
    const results = [result, { ...result, content: [said('a.txt')] }].map((block) => ({
      ...block,
      tool_use_id: null,
    }));
    const { messages } = await read(asked, claude('a1', [...open, ...results]));
    expect(orphansOf(messages)).toEqual([]);
    expect(messages.slice(2).map(({ toolPayload }) => toolPayload)).toMatchObject([
      { toolCallId: 'a1/0', toolResult: 'tea' },
      { toolCallId: 'a1/1', toolResult: 'a.txt' },
    ]);
  });

  it('keeps reasoning, and the error of a tool', async () => {
    const thinking = { type: 'thinking', thinking: 'Tea?', summaries: [{ summary: 's' }], cut_off: false };
    const { messages } = await read(
      asked,
      claude('a1', [thinking, call, { ...result, is_error: true, content: [said('no such file')] }]),
    );
    expect(messages[1]).toMatchObject({ reasoning: [{ text: 'Tea?', origin }] });
    expect(messages[2]).toMatchObject({ toolPayload: { toolResult: null, toolError: 'no such file' } });
  });

  it('shows the text of an attached file, and names files that the export does not contain', async () => {
    const rest = {
      attachments: [{ file_name: 'a.txt', extracted_content: 'tea' }, { file_name: 'b.pdf' }],
      files: [{ file_name: 'c.png' }],
    };
    const { messages, report } = await read(human('u1', 'See.', rest));
    expect(messages[0]?.parts).toEqual([
      { type: 'text', text: 'See.' },
      { type: 'text', text: 'a.txt:\ntea' },
    ]);
    expect(report.approximated).toMatchObject([{ what: 'an attached file, as a text of the message' }]);
    expect(report.dropped).toContainEqual({
      what: 'an attached file, which the export does not contain',
      count: 2,
      places: ['messages/0 b.pdf', 'messages/0 c.png'],
    });
  });

  it('shows the text of unknown blocks, and counts what has none', async () => {
    const { messages, report } = await read(
      asked,
      claude('a1', [{ type: 'voice_note', text: 'Hello.' }, { type: 'token_budget' }, 7, said(' ')]),
      claude('a2', []),
      { uuid: 'x', sender: 'critic', text: 'Hm.' },
    );
    expect(messages.slice(1)).toMatchObject([{ content: 'Hello.' }]);
    expect(messages[1]).not.toHaveProperty('providerItems');
    expect(whatsOf(report.approximated)).toEqual(['a block of another type, as its text']);
    expect(whatsOf(report.dropped)).toEqual([
      'a field next to the messages',
      'a block for display',
      'a block that is not an object',
      'an empty message',
      'a message of an unknown sender',
    ]);
  });

  it('counts members that are no messages', async () => {
    const { messages, report } = await read(7, asked);
    expect(messages).toHaveLength(1);
    expect(report.dropped).toContainEqual({
      what: 'a member that is not a message',
      count: 1,
      places: ['messages/0'],
    });
  });

  it('refuses an export without messages', async () => {
    await expect(readAll(importer, [conversation()])).rejects.toMatchObject({ code: 'TRANSCRIPT_INVALID' });
  });
});
