import { describe, expect, it } from 'vitest';
import { anthropicImporter as importer } from '../../../../src/messages/importers/anthropic/anthropic.js';
import { hasShared, isRecognised, orphansOf, readAll, sharedFiles } from '../read-all.js';

const USE = { type: 'tool_use', id: 't1', name: 'read', input: { path: 'a' } };
const RESULT = { type: 'tool_result', tool_use_id: 't1', content: 'text of a' };
const CALL = { id: 't1', name: 'read', arguments: { path: 'a' } };

function user(content: unknown, rest = {}) {
  return { role: 'user', content, ...rest };
}

function assistant(content: unknown, rest = {}) {
  return { role: 'assistant', content, ...rest };
}

function text(said: string) {
  return { type: 'text', text: said };
}

describe('the import of Anthropic messages', () => {
  it('reads calls and their results', async () => {
    const list = [user('look'), assistant([text('ok'), USE]), user([RESULT, text('and now?')])];
    expect((await readAll(importer, list)).messages).toStrictEqual([
      { role: 'user', content: 'look' },
      { role: 'assistant', content: 'ok', toolPayload: { toolCalls: [CALL] } },
      {
        role: 'tool',
        content: null,
        toolPayload: { toolCallId: 't1', toolName: 'read', toolResult: 'text of a', toolError: null },
      },
      { role: 'user', content: 'and now?' },
    ]);
  });

  it('gives the system prompt first, wherever it stands', async () => {
    const system = [text('Be brief.'), text('Be kind.')];
    const { messages, report } = await readAll(importer, { messages: [user('hi')], tools: [{}], system });
    expect(messages).toStrictEqual([
      { role: 'system', content: 'Be brief.\n\nBe kind.' },
      { role: 'user', content: 'hi' },
    ]);
    expect(report.dropped).toMatchObject([{ what: 'definitions of tools' }]);
  });

  it('keeps signed thinking between texts at its place', async () => {
    const thinking = { type: 'thinking', thinking: 'hm', signature: 's==' };
    const list = { model: 'claude-x', system: 's', messages: [assistant([text('a'), thinking, text('b')])] };
    const origin = { provider: 'anthropic', model: 'claude-x' };
    expect((await readAll(importer, list)).messages[1]).toStrictEqual({
      role: 'assistant',
      content: null,
      parts: [
        text('a'),
        { type: 'reasoning', reasoning: { text: 'hm', signature: 's==', origin } },
        text('b'),
      ],
      origin,
    });
  });

  it('takes thinking with an empty signature for unsigned, and not for that of Claude', async () => {
    const thinking = { type: 'thinking', thinking: 'hm', signature: '' };
    const { messages } = await readAll(importer, [user([text('q')]), assistant([thinking, text('a')])]);
    expect(messages[1]).toStrictEqual({ role: 'assistant', content: 'a', reasoning: [{ text: 'hm' }] });
  });

  it('keeps blocks of tools that the provider runs, for that provider only', async () => {
    const block = { type: 'server_tool_use', id: 'srv', name: 'web_search', input: {} };
    const { messages } = await readAll(importer, [assistant([block])]);
    expect(messages[0]?.providerItems).toStrictEqual([{ origin: { provider: 'anthropic' }, item: block }]);
  });

  it.each([
    ['bytes', { type: 'base64', media_type: 'image/jpeg', data: 'AA' }, 'data:image/jpeg;base64,AA'],
    ['a URL', { type: 'url', url: 'https://example.com/a.png' }, 'https://example.com/a.png'],
  ])('reads an image of %s', async (_, source, ref) => {
    const { messages } = await readAll(importer, [user([{ type: 'image', source }])]);
    expect(messages[0]?.parts).toMatchObject([{ type: 'media', media: { kind: 'image', ref } }]);
  });

  it('accounts for an image that the provider holds', async () => {
    const image = { type: 'image', source: { type: 'file', file_id: 'f1' } };
    const { messages, report } = await readAll(importer, [user([text('see'), image])]);
    expect(messages[0]?.parts).toMatchObject([{ text: 'see' }, { media: { ref: 'anthropic-file:f1' } }]);
    expect(report.approximated).toMatchObject([
      { what: 'image that only its provider has', places: ['messages/0'] },
    ]);
  });

  it('says that results come first where a text stood before them', async () => {
    const list = [assistant([USE]), user([text('here'), RESULT])];
    const { messages, report } = await readAll(importer, list);
    expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'user']);
    expect(report.approximated).toMatchObject([{ places: ['messages/1'] }]);
  });

  it('gives a failure without a message one', async () => {
    const { messages } = await readAll(importer, [
      user([{ type: 'tool_result', tool_use_id: 't', is_error: true }]),
    ]);
    expect(messages[0]?.toolPayload).toMatchObject({ toolError: 'The tool failed without a message.' });
  });

  it('refuses a document without messages', async () => {
    await expect(readAll(importer, { system: 'x' })).rejects.toMatchObject({ code: 'TRANSCRIPT_INVALID' });
  });

  it('reads whatever the fields hold', async () => {
    const odd = [null, 7, 'x', [], [null, [1], 'y'], { a: 1 }, true];
    const records = odd.flatMap((value) => [
      value,
      user(value, { metadata: value, ts: value }),
      assistant(value, { id: value, modelInfo: value }),
      assistant([
        { type: 'thinking', thinking: value, signature: value },
        { type: value, text: value },
      ]),
      assistant([{ type: 'tool_use', id: value, name: value, input: value }]),
      user([{ type: 'tool_result', tool_use_id: value, content: value }]),
      user([{ type: 'document', source: { type: 'content', content: value } }]),
      { role: 'system', content: value },
      { type: 'say', say: 'text', ts: 1, text: value, images: value },
    ]);
    expect((await readAll(importer, records)).report.records).toBe(records.length);
  });
});

describe('the recognition of Anthropic messages', () => {
  it.each([
    ['a list with blocks', [user('hi'), assistant([text('ok'), USE])]],
    ['a request with a system prompt', { model: 'm', system: 's', messages: [user('hi')] }],
    ['a request with tools', { tools: [{ name: 'a', input_schema: {} }], messages: [user('hi')] }],
    ['a document whose list begins with blocks of its own', { messages: [user([RESULT])] }],
  ])('takes %s', async (_, given) => {
    expect(await isRecognised(importer, given)).toBe(true);
  });

  it.each([
    ['a list of texts', [user('hi'), assistant('ho')]],
    ['a list with a tool role', [user([text('hi')]), { role: 'tool', content: 'x', tool_call_id: 'c' }]],
    ['parts of another provider', [user([{ type: 'image_url', image_url: { url: 'x' } }])]],
    ['a request without a sign', { model: 'm', messages: [user('hi')] }],
    ['a request with functions', { tools: [{ function: {}, input_schema: {} }], messages: [user('hi')] }],
  ])('leaves %s', async (_, given) => {
    expect(await isRecognised(importer, given)).toBe(false);
  });
});

describe('the import of what Cline stores', () => {
  it('keeps calls written as XML as text and says so', async () => {
    const list = [
      user([text('<task>x</task>')]),
      assistant([text('Looking.\n<read_file>\n<path>a</path>\n</read_file>')]),
      user([text("[read_file for 'a'] Result:"), text('content')]),
    ];
    const { messages, report } = await readAll(importer, list);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(report.approximated).toMatchObject([{ places: ['messages/1'] }, { places: ['messages/2'] }]);
  });

  it('takes the model of each answer from its note', async () => {
    const modelInfo = { id: 'anthropic/claude-y', provider: 'cline' };
    const list = [assistant([text('ok')], { id: 'msg_1', modelInfo, ts: 2500 })];
    const { items } = await readAll(importer, list);
    expect(items).toMatchObject([
      { ts: 2.5, message: { messageId: 'msg_1', origin: { provider: 'anthropic', model: 'claude-y' } } },
    ]);
  });

  it('reads a summary at the head as memory', async () => {
    const summary = user([text('so far')], { metadata: { kind: 'compaction_summary' } });
    const { items } = await readAll(importer, [summary, assistant([text('ok')])]);
    expect(items[0]).toStrictEqual({
      kind: 'message',
      message: { role: 'user', content: 'so far', kind: 'memory' },
    });
  });

  it('reads a summary after other messages as a compaction', async () => {
    const summary = user([text('so far')], { metadata: { kind: 'compaction_summary' } });
    const { items } = await readAll(importer, [user([text('hi')]), summary]);
    expect(items[1]).toStrictEqual({
      kind: 'compaction',
      messages: [{ role: 'user', content: 'so far', kind: 'memory' }],
    });
  });

  it('reads the list for display as an approximation', async () => {
    const list = [
      { ts: 1000, type: 'say', say: 'text', text: 'do it' },
      { ts: 2000, type: 'say', say: 'api_req_started', text: '{}' },
      { ts: 3000, type: 'say', say: 'text', text: 'half', partial: true },
      { ts: 4000, type: 'say', say: 'completion_result', text: 'Done.' },
    ];
    const { messages, report } = await readAll(importer, list);
    expect(await isRecognised(importer, list)).toBe(true);
    expect(messages).toStrictEqual([
      { role: 'user', content: 'do it' },
      { role: 'assistant', content: 'Done.' },
    ]);
    expect(report.approximated).toMatchObject([{ count: 2 }]);
    expect(report.dropped).toMatchObject([{ count: 2 }]);
  });
});

describe.skipIf(!hasShared('corpus/cline'))('real files of Cline', () => {
  const sources = [...sharedFiles('corpus/cline'), ...sharedFiles('corpus/cline-sdk')];

  it.each(sources.map((source) => [source.name, source] as const))(
    '%s is recognised and read',
    async (_, source) => {
      expect(await isRecognised(importer, source)).toBe(true);
      const { messages } = await readAll(importer, source);
      expect(messages.length).toBeGreaterThan(0);
      expect(orphansOf(messages)).toEqual([]);
    },
  );
});
