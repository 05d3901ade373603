import { describe, expect, it } from 'vitest';
import { chatGptImporter as importer } from '../../../../src/messages/importers/chat-exports/chatgpt.js';
import { hasShared, isRecognised, orphansOf, readAll, sharedFiles } from '../read-all.js';

const text = (...parts: unknown[]) => ({ content_type: 'text', parts });
const by = (role: string, content: object, rest: object = {}) => ({
  author: { role, name: null },
  content,
  recipient: 'all',
  ...rest,
});
const MODEL = { metadata: { model_slug: 'gpt-4o' } };
const origin = { provider: 'openai', model: 'gpt-4o' };

interface Node {
  readonly id: string;
  readonly parent: string | null;
  readonly message: object | null;
}

/** Messages that follow each other, below a root without one. */
function chain(...messages: object[]): Node[] {
  const root = { id: 'n0', parent: null, message: null };
  return [
    root,
    ...messages.map((message, index) => ({
      id: `n${index + 1}`,
      parent: `n${index}`,
      message: { id: `m${index + 1}`, ...message },
    })),
  ];
}

function conversation(nodes: readonly Node[], tip: string | undefined = nodes.at(-1)?.id): object {
  const mapping = Object.fromEntries(nodes.map((node) => [node.id, { ...node, children: [] }]));
  return { title: 'Tea', mapping, ...(tip === undefined ? {} : { current_node: tip }) };
}

const asked = by('user', text('What is in a.txt?'), { create_time: 100.5 });
const answered = by('assistant', text('Tea.'), MODEL);
const calling = by(
  'assistant',
  { content_type: 'code', text: '{"cmd":"cat a.txt"}' },
  { recipient: 'bash', ...MODEL },
);
const output = by(
  'tool',
  { content_type: 'execution_output', text: 'tea' },
  { author: { role: 'tool', name: 'bash' } },
);

const read = (...nodes: Node[]) => readAll(importer, [conversation(nodes)]);
const messagesOf = async (...messages: object[]) => (await read(...chain(...messages))).messages;
const whatsOf = (items: readonly { readonly what: string }[]) => items.map(({ what }) => what);

describe('the import of ChatGPT exports', () => {
  it('reads questions, answers, calls and results, with times in seconds', async () => {
    const document = [conversation(chain(asked, calling, output, answered))];
    expect(await isRecognised(importer, document)).toBe(true);
    const { items, messages } = await readAll(importer, document);
    expect(items[0]).toMatchObject({ ts: 100.5 });
    expect(messages).toStrictEqual([
      { role: 'user', content: 'What is in a.txt?' },
      {
        role: 'assistant',
        content: null,
        toolPayload: { toolCalls: [{ id: 'm2', name: 'bash', arguments: { cmd: 'cat a.txt' } }] },
        origin,
        messageId: 'm2',
      },
      {
        role: 'tool',
        content: null,
        toolPayload: { toolCallId: 'm2', toolName: 'bash', toolResult: 'tea', toolError: null },
      },
      { role: 'assistant', content: 'Tea.', origin, messageId: 'm4' },
    ]);
  });

  it('reads a single conversation, alone or below a key of a capture', async () => {
    const alone = conversation(chain(asked, answered));
    const captured = { kind: 'capture', payload: { ...alone, conversation_id: 'c' } };
    for (const document of [alone, captured]) {
      expect(await isRecognised(importer, document)).toBe(true);
      expect((await readAll(importer, document)).messages).toHaveLength(2);
    }
  });

  it('does not recognise other documents with a mapping', async () => {
    for (const document of [
      { mapping: { a: 1 }, messages: [] },
      { mapping: { a: { id: 'x' } } },
      [{ mapping: [] }],
    ])
      expect(await isRecognised(importer, document)).toBe(false);
  });

  it('reads the first conversation with messages and counts the others', async () => {
    const document = [
      conversation(chain()),
      conversation(chain(asked)),
      conversation(chain(asked, answered)),
      conversation(chain(asked)),
    ];
    const { messages, report } = await readAll(importer, document);
    expect(messages).toHaveLength(1);
    expect(report.dropped).toContainEqual({
      what: 'a conversation without messages',
      count: 1,
      places: ['conversations/0'],
    });
    expect(report.dropped).toContainEqual({
      what: 'another conversation',
      count: 2,
      places: ['conversations/2', 'conversations/3'],
    });
  });

  it('takes the path to the current node and counts the messages of other branches', async () => {
    const other = { id: 'other', parent: 'n1', message: by('assistant', text('Coffee.')) };
    const { messages, report } = await readAll(
      importer,
      conversation([...chain(asked, answered), other], 'n2'),
    );
    expect(messages.map(({ content }) => content)).toEqual(['What is in a.txt?', 'Tea.']);
    expect(report.dropped).toContainEqual({
      what: 'a message on another branch',
      count: 1,
      places: ['messages/other'],
    });
    expect(report.records).toBe(3);
  });

  it('takes the last message where the current node is missing, and says so', async () => {
    const { messages, report } = await readAll(importer, conversation(chain(asked, answered), 'gone'));
    expect(messages).toHaveLength(2);
    expect(whatsOf(report.approximated)).toContain('a newest message that is missing; the last one is taken');
  });

  it('ends where parents form a circle', async () => {
    const circle = [
      { id: 'a', parent: 'b', message: asked },
      { id: 'b', parent: 'a', message: answered },
    ];
    expect((await read(...circle)).messages).toHaveLength(2);
  });

  it('gives reasoning to the answer after it, and drops its recap', async () => {
    const thought = by(
      'assistant',
      { content_type: 'thoughts', thoughts: [{ summary: 's', content: 'Tea?' }] },
      MODEL,
    );
    const recap = by('assistant', { content_type: 'reasoning_recap', content: 'Thought for 2s' });
    const { messages, report } = await read(...chain(asked, thought, recap, answered));
    expect(messages[1]).toMatchObject({ content: 'Tea.', reasoning: [{ text: 'Tea?', origin }] });
    expect(whatsOf(report.dropped)).toContain('a recap of reasoning for display');
  });

  it('keeps reasoning that no answer followed', async () => {
    const thought = by('assistant', { content_type: 'thoughts', parts: ['Tea?'] });
    const [, first, second] = await messagesOf(asked, thought, asked);
    expect(first).toMatchObject({ role: 'assistant', reasoning: [{ text: 'Tea?' }] });
    expect(second?.role).toBe('user');
  });

  it('puts the text of a call that is not JSON into an argument', async () => {
    const code = { ...calling, content: { content_type: 'code', text: 'print(1)' } };
    const { messages, report } = await read(...chain(asked, code));
    expect(messages[1]).toMatchObject({ toolPayload: { toolCalls: [{ arguments: { input: 'print(1)' } }] } });
    expect(report.approximated).toMatchObject([{ count: 1 }]);
  });

  it('joins several outputs of one call into one result', async () => {
    const { messages, report } = await read(...chain(asked, calling, output, output, answered));
    expect(messages).toHaveLength(4);
    expect(messages[2]).toMatchObject({ toolPayload: { toolCallId: 'm2', toolResult: 'tea\ntea' } });
    expect(whatsOf(report.approximated)).toEqual(['several outputs of one call, as one result']);
  });

  it('pairs a result with the open call of its tool, else with the newest open call', async () => {
    const search = { ...calling, recipient: 'web.search' };
    const found = { ...output, author: { role: 'tool', name: 'web' } };
    const messages = await messagesOf(asked, calling, search, output, found);
    expect(messages.slice(3).map(({ toolPayload }) => toolPayload)).toMatchObject([
      { toolCallId: 'm2', toolName: 'bash' },
      { toolCallId: 'm3', toolName: 'web.search' },
    ]);
  });

  it('reads the failure of a tool as an error', async () => {
    const failed = {
      ...output,
      content: { content_type: 'system_error', name: 'Timeout', text: 'Too slow.' },
    };
    expect((await messagesOf(asked, calling, failed))[2]).toMatchObject({
      toolPayload: { toolResult: null, toolError: 'Timeout\nToo slow.' },
    });
  });

  it('leaves a result without a call as it is', async () => {
    expect((await messagesOf(asked, output))[1]).toMatchObject({
      toolPayload: { toolCallId: 'm2', toolName: 'bash' },
    });
  });

  it('names images and attached files that the export does not contain', async () => {
    const shown = by(
      'user',
      {
        content_type: 'multimodal_text',
        parts: [
          'See.',
          { content_type: 'image_asset_pointer', asset_pointer: 'file-service://i' },
          { content_type: 'audio_transcription', text: 'Hello' },
          { content_type: 'audio_asset_pointer', asset_pointer: 'file-service://a' },
        ],
      },
      { metadata: { attachments: [{ name: 'a.pdf' }] } },
    );
    const { messages, report } = await read(...chain(shown));
    expect(messages[0]?.parts).toEqual([
      { type: 'text', text: 'See.' },
      { type: 'text', text: '[image: file-service://i]' },
      { type: 'text', text: 'Hello' },
    ]);
    expect(whatsOf(report.approximated)).toEqual([
      'an image that the export does not contain, as a line of text',
      'speech, as its transcript',
    ]);
    expect(report.dropped).toContainEqual({
      what: 'an attached file, which the export does not contain',
      count: 1,
      places: ['messages/n1 a.pdf'],
    });
  });

  it('reads what the person wrote about themselves, quotes, and contents that it does not know', async () => {
    const contents = [
      { content_type: 'user_editable_context', user_profile: 'A cook.', user_instructions: 'Be brief.' },
      { content_type: 'tether_quote', title: 'T', url: 'https://a.example', text: 'Q' },
      { content_type: 'of_the_future', text: 'Later.' },
    ];
    const messages = await messagesOf(...contents.map((content) => by('user', content)));
    expect(messages.map(({ content }) => content)).toEqual([
      'A cook.\nBe brief.',
      'T\nhttps://a.example\nQ',
      'Later.',
    ]);
  });

  it('drops and counts empty messages and messages of unknown roles', async () => {
    const { messages, report } = await read(
      ...chain(by('system', text('')), asked, by('assistant', text(' ')), by('critic', text('Hm.'))),
    );
    expect(messages).toHaveLength(1);
    expect(report.dropped).toContainEqual({
      what: 'an empty message',
      count: 2,
      places: ['messages/n1', 'messages/n3'],
    });
    expect(whatsOf(report.dropped)).toContain('a message of an unknown role');
  });

  it('keeps nothing of odd nodes, and reads the rest', async () => {
    const [given] = [conversation(chain(asked)) as { mapping: Record<string, unknown> }];
    Object.assign(given.mapping, {
      odd: 7,
      none: null,
      empty: {},
      bare: { id: 'bare', parent: 'n1', message: {} },
    });
    const { messages } = await readAll(importer, [given]);
    expect(messages).toHaveLength(1);
  });

  it('refuses an export in which no conversation has a message', async () => {
    await expect(readAll(importer, [conversation(chain())])).rejects.toMatchObject({
      code: 'TRANSCRIPT_INVALID',
    });
  });
});

describe.skipIf(!hasShared('corpus/misc/chatgpt-export'))('the import of real ChatGPT conversations', () => {
  it.each(sharedFiles('corpus/misc/chatgpt-export').map((file) => [file.name, file] as const))(
    'reads %s, with a call before each result',
    async (_, file) => {
      expect(await isRecognised(importer, file)).toBe(true);
      const { messages, report } = await readAll(importer, file);
      expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant']);
      expect(orphansOf(messages)).toEqual([]);
      expect(report.records).toBe(8);
    },
  );
});
