/** Messages of every known shape, as a host hands them over: taken whole, or refused before anything is written. */
import { describe, expect, it } from 'vitest';
import type { HostMessage } from '../../../src/agent/context/host-message.js';
import { checkHistory } from '../../../src/messages/legality/history.js';
import { outline } from '../agent-fixture.js';
import { hostFixture } from './host-fixture.js';

const CALLED = [
  'assistant: I read it.',
  'call: read{"path":"0"}',
  'result: "content of 0"',
  'assistant: Done.',
];
const args = '{"path":"0"}';

const SHAPES: readonly [string, HostMessage[]][] = [
  [
    'OpenAI chat',
    [
      {
        role: 'assistant',
        content: 'I read it.',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'read', arguments: args } }],
      } as HostMessage,
      { role: 'tool', tool_call_id: 'a', content: 'content of 0' } as HostMessage,
      { role: 'assistant', content: 'Done.' },
    ],
  ],
  [
    'OpenAI Responses',
    [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I read it.' }] },
      { type: 'function_call', call_id: 'a', name: 'read', arguments: args } as HostMessage,
      { type: 'function_call_output', call_id: 'a', output: 'content of 0' } as HostMessage,
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done.' }] },
    ],
  ],
  [
    'Anthropic',
    [
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I read it.' },
          { type: 'tool_use', id: 'a', name: 'read', input: { path: '0' } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'content of 0' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
    ],
  ],
  [
    'AI SDK model messages',
    [
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I read it.' },
          { type: 'tool-call', toolCallId: 'a', toolName: 'read', input: { path: '0' } },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'a',
            toolName: 'read',
            output: { type: 'text', value: 'content of 0' },
          },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
    ],
  ],
  [
    'AI SDK UI messages',
    [
      {
        id: 'm',
        role: 'assistant',
        parts: [
          { type: 'step-start' },
          { type: 'text', text: 'I read it.', state: 'done' },
          {
            type: 'tool-read',
            toolCallId: 'a',
            state: 'output-available',
            input: { path: '0' },
            output: 'content of 0',
          },
          { type: 'step-start' },
          { type: 'text', text: 'Done.', state: 'done' },
        ],
      } as HostMessage,
    ],
  ],
  [
    'our own',
    [
      {
        role: 'assistant',
        content: 'I read it.',
        toolPayload: { toolCalls: [{ id: 'a', name: 'read', arguments: { path: '0' } }] },
      },
      {
        role: 'tool',
        content: null,
        toolPayload: { toolCallId: 'a', toolName: 'read', toolResult: 'content of 0', toolError: null },
      },
      { role: 'assistant', content: 'Done.' },
    ],
  ],
];

async function opened() {
  const fixture = await hostFixture();
  const ctx = await fixture.open();
  await ctx.beginTurn('go');
  return { fixture, ctx };
}

describe('endTurn', () => {
  it.each(SHAPES)('takes messages of %s whole, and the same list again adds nothing', async (_, list) => {
    const { fixture, ctx } = await opened();
    await ctx.step(list.slice(0, 1));
    await ctx.step(list);
    await ctx.endTurn(list);
    expect(outline(ctx.messages)).toEqual(['user: go', ...CALLED]);
    await ctx.close();
    expect(outline((await fixture.open()).messages)).toEqual(['user: go', ...CALLED]);
  });

  it.each(SHAPES)('takes the last message of %s alone, as some SDKs give it', async (_, list) => {
    const { ctx } = await opened();
    if (list.length > 1) await ctx.step(list.slice(0, -1));
    await ctx.endTurn(list.slice(-1));
    expect(outline(ctx.messages)).toEqual(['user: go', ...CALLED]);
  });

  it('takes the whole conversation, up to the input of the turn and what follows it', async () => {
    const { ctx } = await opened();
    const [, list] = SHAPES[0]!;
    await ctx.endTurn([{ role: 'system', content: 'Be kind.' }, { role: 'user', content: 'go' }, ...list]);
    expect(outline(ctx.messages)).toEqual(['user: go', ...CALLED]);
  });

  it('takes a turn of Gemini, whose calls have no ids', async () => {
    const { ctx } = await opened();
    await ctx.endTurn([
      {
        role: 'model',
        parts: [
          { text: 'I read both.' },
          { functionCall: { name: 'read', args: { path: '0' } } },
          { functionCall: { name: 'read', args: { path: '1' } } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'read', response: { output: 'content of 0' } } },
          { functionResponse: { name: 'read', response: { output: 'content of 1' } } },
        ],
      },
      { role: 'model', parts: [{ text: 'Done.' }] },
    ]);
    expect(outline(ctx.messages).slice(1)).toEqual([
      ...['assistant: I read both.', 'call: read{"path":"0"}', 'call: read{"path":"1"}'],
      ...[
        expect.stringContaining('content of 0'),
        expect.stringContaining('content of 1'),
        'assistant: Done.',
      ],
    ]);
    expect(checkHistory(ctx.messages)).toEqual([]);
  });

  it.each(['x', ''])('gives two calls of one response under the id "%s" their own results', async (id) => {
    const { ctx } = await opened();
    const call = (path: string) => ({
      id,
      type: 'function',
      function: { name: 'read', arguments: JSON.stringify({ path }) },
    });
    const result = (path: string) => ({ role: 'tool', tool_call_id: id, content: `content of ${path}` });
    await ctx.endTurn([
      { role: 'assistant', content: null, tool_calls: [call('0'), call('1')] },
      ...[result('0'), result('1')],
      { role: 'assistant', content: 'Done.' },
    ] as HostMessage[]);
    expect(outline(ctx.messages).slice(1)).toEqual([
      ...['call: read{"path":"0"}', 'call: read{"path":"1"}'],
      ...['result: "content of 0"', 'result: "content of 1"', 'assistant: Done.'],
    ]);
    const ids = id === '' ? ['call_2', 'call_3'] : ['x', 'x_2'];
    expect(ctx.messages[1]).toMatchObject({ toolPayload: { toolCalls: ids.map((own) => ({ id: own })) } });
  });

  it.each<[string, unknown]>([
    ['what is no message', ['nonsense', 5]],
    ['no list', { role: 'assistant', content: 'Done.' }],
    ['an object that says nothing', [{ anything: true }]],
    [
      'another message of the user',
      [
        { role: 'assistant', content: 'Done.' },
        { role: 'user', content: 'and now?' },
      ],
    ],
    [
      'a call without a name',
      [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'a', type: 'function', function: { name: '', arguments: '{}' } }],
        },
      ],
    ],
    ['good messages with one that is none', [{ role: 'assistant', content: 'Done.' }, 7]],
  ])('refuses %s before anything is written', async (_, list) => {
    const { fixture, ctx } = await opened();
    const before = await fixture.rows();
    await expect(ctx.endTurn(list as HostMessage[])).rejects.toMatchObject({ code: 'MESSAGE_INVALID' });
    expect(await fixture.rows()).toEqual(before);
    await ctx.endTurn([{ role: 'assistant', content: 'Done.' }]);
    expect(outline(ctx.messages)).toEqual(['user: go', 'assistant: Done.']);
  });

  it('never records arguments that a later restore cannot read', async () => {
    const { fixture, ctx } = await opened();
    const deep = `${'{"a":'.repeat(6000)}1${'}'.repeat(6000)}`;
    const tool_calls = [{ id: 'a', type: 'function', function: { name: 'read', arguments: deep } }];
    const list = [
      { role: 'assistant', content: null, tool_calls },
      { role: 'tool', tool_call_id: 'a', content: 'ok' },
    ];
    const code = await ctx.endTurn(list as HostMessage[]).then(
      () => null,
      (thrown: { code?: string }) => thrown.code,
    );
    expect([null, 'MESSAGE_INVALID']).toContain(code);
    const next = await fixture.openAfterCrash();
    expect(next.messages[0]).toMatchObject({ content: 'go' });
  });
});

describe('beginTurn', () => {
  const PNG =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const url = `data:image/png;base64,${PNG}`;

  it.each<[string, HostMessage]>([
    [
      'a UI message',
      {
        id: 'u',
        role: 'user',
        parts: [
          { type: 'text', text: 'What?' },
          { type: 'file', mediaType: 'image/png', url },
        ],
      } as HostMessage,
    ],
    [
      'a model message',
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What?' },
          { type: 'image', image: Buffer.from(PNG, 'base64') },
        ],
      },
    ],
    [
      'OpenAI chat',
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What?' },
          { type: 'image_url', image_url: { url } },
        ],
      },
    ],
    [
      'OpenAI Responses',
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'What?' },
          { type: 'input_image', image_url: url },
        ],
      } as HostMessage,
    ],
    [
      'Anthropic',
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What?' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
        ],
      },
    ],
    [
      'Gemini',
      { role: 'user', parts: [{ text: 'What?' }, { inlineData: { mimeType: 'image/png', data: PNG } }] },
    ],
  ])('takes a message of the user with an image, in the shape of %s', async (_, message) => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    await ctx.beginTurn(message);
    const { request } = ctx.requestFor('anthropic', { model: 'm' });
    expect(request.messages[0]?.content).toMatchObject([
      { type: 'text', text: 'What?' },
      { type: 'image', source: { data: PNG } },
    ]);
    expect((await fixture.rows()).at(-1)).toMatchObject({
      parts: [{ type: 'text' }, { media: { ref: expect.stringMatching(/^sha256:/) } }],
    });
  });

  it.each<[string, unknown]>([
    ['a message of the assistant', { role: 'assistant', content: 'hi' }],
    ['a number', 5],
    ['an unknown field', { text: 'hi', image: 'x.png' }],
    [
      'parts of another library',
      { parts: [{ type: 'file', url: 'https://a.b/c.png', mediaType: 'image/png' }] },
    ],
    ['media without data', { text: 'hi', media: [{ kind: 'image' }] }],
    ['an empty message', { role: 'user', content: '' }],
  ])('refuses %s, and the turn may begin again', async (_, input) => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    await expect(ctx.beginTurn(input as string)).rejects.toMatchObject({ code: 'MESSAGE_INVALID' });
    await ctx.beginTurn('go');
    expect(outline(ctx.messages)).toEqual(['user: go']);
  });
});
