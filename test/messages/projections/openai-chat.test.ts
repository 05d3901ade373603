import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../src/core/json.js';
import type { Message } from '../../../src/messages/message.js';
import { checkOpenAiChatRequest } from '../../../src/messages/projections/checks/openai-chat-check.js';
import { projectOpenAiChat } from '../../../src/messages/projections/openai-chat.js';
import {
  BRIDGE_TEXT,
  CONTINUE_TEXT,
  type ProjectionTarget,
} from '../../../src/messages/projections/projection.js';
import { assistant, user } from '../arbitraries.js';
import { pngOf } from '../media-bytes.js';
import {
  CLAUDE,
  callOf,
  callsOf,
  codesOf,
  dataUrl,
  errorOf,
  imagePart,
  LIST_FILES,
  resultOf,
  userWith,
} from './projection-kit.js';

const RED = dataUrl(pngOf(1, 1));
const BLUE = dataUrl(pngOf(2, 2));

function chat(messages: readonly Message[], target: ProjectionTarget = {}) {
  const { request } = projectOpenAiChat(messages, target);
  expect(checkOpenAiChatRequest(request, { flavor: target.flavor ?? 'openai' })).toStrictEqual([]);
  return request.messages;
}

function shown(id: string, ref: string): Message {
  return resultOf(id, `saw ${id}`, { parts: [imagePart({ ref })] });
}

describe('the projection to OpenAI chat', () => {
  it('keeps the conversation, its calls and their results in order', () => {
    const list: Message[] = [
      { role: 'system', content: 'Be kind.' },
      user('go'),
      callsOf([callOf('a', { arguments: { d: 1 } }), callOf('b')], { content: 'Two.' }),
      resultOf('a', 'one'),
      resultOf('b', 'two'),
      assistant('Done.'),
      user('Thanks.'),
    ];
    const called = (id: string, args: string) => ({
      id,
      type: 'function',
      function: { name: 'ls', arguments: args },
    });
    expect(chat(list)).toStrictEqual([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'go' },
      { role: 'assistant', content: 'Two.', tool_calls: [called('a', '{"d":1}'), called('b', '{}')] },
      { role: 'tool', tool_call_id: 'a', content: 'one' },
      { role: 'tool', tool_call_id: 'b', content: 'two' },
      { role: 'assistant', content: 'Done.' },
      { role: 'user', content: 'Thanks.' },
    ]);
  });

  it.each<[JsonValue, string]>([
    ['text', 'text'],
    [{ a: [1] }, '{"a":[1]}'],
    [null, 'null'],
    [0, '0'],
    [false, 'false'],
    [[], '[]'],
    ['', '(no output)'],
  ])('gives the result %j as the text %s', (value, content) => {
    const list = [user('go'), callsOf([callOf('a')]), resultOf('a', value)];
    expect(chat(list).at(-1)).toStrictEqual({ role: 'tool', tool_call_id: 'a', content });
  });

  it.each([
    ['Disk is full.', 'Error: Disk is full.'],
    ['Error: disk', 'Error: disk'],
    ['Interrupted: unknown.', 'Interrupted: unknown.'],
    ['Errors are many.', 'Error: Errors are many.'],
  ])('marks the error %j once', (error, content) => {
    expect(chat([user('go'), callsOf([callOf('a')]), errorOf('a', error)]).at(-1)).toMatchObject({ content });
  });

  it('moves the images of results behind the whole block, in order', () => {
    const list = [user('go'), callsOf([callOf('a'), callOf('b')]), shown('a', RED), shown('b', BLUE)];
    expect(chat([...list, user('So?')]).slice(2)).toStrictEqual([
      { role: 'tool', tool_call_id: 'a', content: 'saw a' },
      { role: 'tool', tool_call_id: 'b', content: 'saw b' },
      {
        role: 'user',
        content: [RED, BLUE].map((url) => ({ type: 'image_url', image_url: { url } })),
      },
      { role: 'user', content: 'So?' },
    ]);
    expect(codesOf(projectOpenAiChat(list))).toStrictEqual(['media-moved', 'media-moved']);
  });

  it('moves the images of the last block in the list, too', () => {
    expect(chat([user('go'), callsOf([callOf('a')]), shown('a', RED)]).at(-1)).toMatchObject({
      role: 'user',
      content: [{ type: 'image_url' }],
    });
  });

  it('keeps the texts of a user apart, and drops the blank ones', () => {
    const texts = ['Look at this:', ' ', 'a file'].map((text) => ({ type: 'text' as const, text }));
    expect(chat([userWith(...texts)])).toStrictEqual([{ role: 'user', content: [texts[0], texts[2]] }]);
    expect(chat([userWith(...texts)], { flavor: 'strict' })).toStrictEqual([
      { role: 'user', content: 'Look at this:\n\na file' },
    ]);
  });

  it('sends no reasoning, in whichever field it is, and says so', () => {
    const reasoning = { text: 'private plan', signature: 'c2ln', origin: CLAUDE };
    const said = { type: 'text' as const, text: 'Done.' };
    const kinds: Partial<Message>[] = [
      { content: 'Done.', reasoning: [reasoning] },
      { content: 'Done.', reasoningContent: 'private plan' },
      { content: null, parts: [{ type: 'reasoning', reasoning }, said] },
    ];
    for (const kind of kinds) {
      const { request, notes } = projectOpenAiChat([
        user('go'),
        { role: 'assistant', content: null, ...kind },
        user('on'),
      ]);
      expect(request.messages[1]).toStrictEqual({ role: 'assistant', content: 'Done.' });
      expect(codesOf({ notes })).toStrictEqual(['reasoning-omitted']);
    }
  });

  it('declares the tools that it is given and no stubs', () => {
    const list = [user('go'), callsOf([callOf('a')]), resultOf('a', 'x')];
    expect(projectOpenAiChat(list).request).not.toHaveProperty('tools');
    expect(projectOpenAiChat(list, { tools: [LIST_FILES] }).request.tools).toStrictEqual([
      {
        type: 'function',
        function: { name: 'ls', description: 'Lists files.', parameters: { type: 'object' } },
      },
    ]);
  });

  it('calls a tool by one legal name, in its declaration, its calls and its results', () => {
    const name = 'files/list all';
    const list = [user('go'), callsOf([callOf('a', { name })]), resultOf('a', 'x')];
    const { request } = projectOpenAiChat(list, { tools: [{ ...LIST_FILES, name }], flavor: 'mistral' });
    const legal = request.tools?.[0]?.function.name;
    expect(legal).toMatch(/^files_list_all_[0-9a-f]{8}$/);
    expect(request.messages).toMatchObject([
      {},
      { tool_calls: [{ function: { name: legal } }] },
      { role: 'tool', name: legal },
    ]);
  });
});

describe.each(['strict', 'mistral'] as const)('the projection to OpenAI chat for %s templates', (flavor) => {
  it('lets the assistant speak between a result and the user', () => {
    const list = [user('go'), callsOf([callOf('a')]), resultOf('a', 'x'), user('So?')];
    expect(chat(list, { flavor }).slice(3)).toStrictEqual([
      { role: 'assistant', content: BRIDGE_TEXT },
      { role: 'user', content: 'So?' },
    ]);
  });

  it('lets the assistant speak before the images of a result, and joins what the user says to them', () => {
    const list = [user('go'), callsOf([callOf('a')]), shown('a', RED), user('So?')];
    expect(chat(list, { flavor }).slice(3)).toStrictEqual([
      { role: 'assistant', content: BRIDGE_TEXT },
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: RED } },
          { type: 'text', text: 'So?' },
        ],
      },
    ]);
  });

  it('builds no bridge where the assistant goes on by itself', () => {
    const list = [user('go'), callsOf([callOf('a')]), resultOf('a', 'x'), assistant('Done.'), user('Ok')];
    const { request, notes } = projectOpenAiChat(list, { flavor });
    expect(JSON.stringify(request)).not.toContain(BRIDGE_TEXT);
    expect(codesOf({ notes })).not.toContain('assistant-bridge-added');
  });

  it('joins neighbours of one role', () => {
    const list = [user('a'), user('b'), assistant('c'), callsOf([callOf('x')], { content: 'd' })];
    const messages = chat([...list, resultOf('x', 'y')], { flavor });
    expect(messages[0]).toStrictEqual({ role: 'user', content: 'a\n\nb' });
    expect(messages[1]).toMatchObject({ role: 'assistant', content: 'c\n\nd', tool_calls: [{}] });
  });

  it('joins the users on both sides of an assistant of which nothing can be sent', () => {
    const silent: Message = {
      role: 'assistant',
      content: null,
      providerItems: [{ origin: CLAUDE, item: { type: 'server_item' } }],
    };
    expect(chat([user('a'), silent, user('b')], { flavor })).toStrictEqual([
      { role: 'user', content: 'a\n\nb' },
    ]);
  });

  it('has text rather than null beside calls', () => {
    const list = [user('go'), callsOf([callOf('a')]), resultOf('a', 'x')];
    expect(chat(list, { flavor })[1]).toMatchObject({ content: '' });
    expect(chat(list)[1]).toMatchObject({ content: null });
  });
});

describe('the projection to OpenAI chat for Mistral', () => {
  const list = [user('go'), callsOf([callOf('call_1'), callOf('call_2')]), resultOf('call_1', 'x')];
  const both = [...list, resultOf('call_2', 'y')];

  it('has ids of nine letters and digits, which lead back', () => {
    const { request, callIds } = projectOpenAiChat(both, { flavor: 'mistral' });
    const ids = request.messages.flatMap((message) =>
      'tool_call_id' in message ? [message.tool_call_id] : [],
    );
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(ids.map((id) => callIds.get(id))).toStrictEqual(['call_1', 'call_2']);
  });

  it('keeps an id that has nine letters and digits', () => {
    const messages = chat([user('go'), callsOf([callOf('abcDEF123')]), resultOf('abcDEF123', 'x')], {
      flavor: 'mistral',
    });
    expect(messages[2]).toMatchObject({ tool_call_id: 'abcDEF123' });
  });

  it('marks a last message of the assistant as one to go on with', () => {
    const messages = chat([user('Hi'), assistant('Hello')], { flavor: 'mistral', ending: 'as-is' });
    expect(messages.at(-1)).toStrictEqual({ role: 'assistant', content: 'Hello', prefix: true });
  });

  it('has a mark that no other server gets', () => {
    for (const flavor of ['openai', 'strict'] as const) {
      const messages = chat([user('Hi'), assistant('Hello')], { flavor, ending: 'as-is' });
      expect(messages.at(-1)).toStrictEqual({ role: 'assistant', content: 'Hello' });
    }
  });

  it('marks nothing where a user turn follows, or a result is last', () => {
    for (const messages of [[user('Hi'), assistant('Hello')], both]) {
      expect(JSON.stringify(chat(messages, { flavor: 'mistral' }))).not.toContain('prefix');
    }
    expect(chat([user('Hi'), assistant('Hello')], { flavor: 'mistral' }).at(-1)).toStrictEqual({
      role: 'user',
      content: CONTINUE_TEXT,
    });
  });
});
