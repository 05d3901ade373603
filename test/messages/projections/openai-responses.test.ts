import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../src/core/json.js';
import type { Message, ReasoningItem } from '../../../src/messages/message.js';
import { checkOpenAiResponsesRequest } from '../../../src/messages/projections/checks/openai-responses-check.js';
import { projectOpenAiResponses } from '../../../src/messages/projections/openai-responses.js';
import type { ProjectionTarget } from '../../../src/messages/projections/projection.js';
import { assistant, user } from '../arbitraries.js';
import { pngOf } from '../media-bytes.js';
import {
  callOf,
  callsOf,
  codesOf,
  dataUrl,
  errorOf,
  GPT,
  imagePart,
  LIST_FILES,
  resultOf,
  targetOf,
  userWith,
} from './projection-kit.js';

const THOUGHT: ReasoningItem = { text: 'Plan.', encrypted: 'ZW5jcnlwdGVk+/=', id: 'rs_1', origin: GPT };

function input(messages: readonly Message[], target: ProjectionTarget = targetOf(GPT)) {
  const { request } = projectOpenAiResponses(messages, target);
  expect(checkOpenAiResponsesRequest(request)).toStrictEqual([]);
  return request.input;
}

function thinking(item: Partial<ReasoningItem>, more: Partial<Message> = {}): Message {
  return { role: 'assistant', content: 'Done.', reasoning: [{ ...THOUGHT, ...item }], ...more };
}

describe('the projection to OpenAI Responses', () => {
  it('gives calls and results as items of their own', () => {
    const list: Message[] = [
      { role: 'system', content: 'Be kind.' },
      user('go'),
      callsOf([callOf('a', { arguments: { d: 1 } }), callOf('b')], { content: 'Two.' }),
      resultOf('a', 'one'),
      errorOf('b', 'disk'),
    ];
    const { request } = projectOpenAiResponses(list, { model: 'model-b', tools: [LIST_FILES] });
    expect(request).toStrictEqual({
      model: 'model-b',
      instructions: 'Be kind.',
      input: [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: 'Two.' },
        { type: 'function_call', call_id: 'a', name: 'ls', arguments: '{"d":1}' },
        { type: 'function_call', call_id: 'b', name: 'ls', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: 'one' },
        { type: 'function_call_output', call_id: 'b', output: 'Error: disk' },
      ],
      tools: [
        {
          type: 'function',
          name: 'ls',
          description: 'Lists files.',
          parameters: { type: 'object' },
          strict: false,
        },
      ],
      store: false,
      include: ['reasoning.encrypted_content'],
    });
  });

  it('puts encrypted reasoning directly before what it led to, byte for byte', () => {
    const list = [user('go'), { ...callsOf([callOf('a')]), reasoning: [THOUGHT] }, resultOf('a', 'x')];
    expect(input(list).slice(1, 3)).toStrictEqual([
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'Plan.' }],
        encrypted_content: 'ZW5jcnlwdGVk+/=',
      },
      { type: 'function_call', call_id: 'a', name: 'ls', arguments: '{}' },
    ]);
  });

  it('keeps reasoning between the texts that it was between', () => {
    const text = (said: string) => ({ type: 'text' as const, text: said });
    const parts = [text('First.'), { type: 'reasoning' as const, reasoning: THOUGHT }, text('Second.')];
    expect(input([user('go'), { role: 'assistant', content: null, parts }, user('on')])).toMatchObject([
      {},
      { content: 'First.' },
      { type: 'reasoning' },
      { content: 'Second.' },
      {},
    ]);
  });

  it.each<[string, Partial<ReasoningItem>]>([
    ['of another provider', { origin: { provider: 'anthropic' } }],
    ['of another model', { origin: { ...GPT, model: 'model-z' } }],
    ['of another account', { origin: { ...GPT, account: 'theirs' } }],
    ['that was redacted', { redacted: true }],
  ])('leaves out reasoning %s, with a note', (_, item) => {
    const target = { ...targetOf(GPT), account: 'ours' };
    const { request, notes } = projectOpenAiResponses([user('go'), thinking(item), user('on')], target);
    expect(request.input[1]).toStrictEqual({ role: 'assistant', content: 'Done.' });
    expect(codesOf({ notes })).toStrictEqual(['reasoning-omitted']);
  });

  it('leaves out reasoning of an unknown origin, and reasoning that is not encrypted', () => {
    const { origin: _, ...nobodys } = THOUGHT;
    const { encrypted: __, ...open } = THOUGHT;
    for (const item of [nobodys, open]) {
      const message: Message = { role: 'assistant', content: 'Done.', reasoning: [item] };
      expect(input([user('go'), message, user('on')])).toHaveLength(3);
    }
  });

  it('takes the origin of the message for reasoning that has none of its own', () => {
    const { origin: _, ...item } = THOUGHT;
    const message: Message = { role: 'assistant', content: 'Done.', reasoning: [item], origin: GPT };
    expect(input([user('go'), message, user('on')])).toHaveLength(4);
  });

  it('neither sends nor asks for reasoning where it is off', () => {
    const { request } = projectOpenAiResponses([user('go'), thinking({}), user('on')], { reasoning: false });
    expect(request).not.toHaveProperty('include');
    expect(JSON.stringify(request)).not.toContain(THOUGHT.encrypted);
  });

  it('leaves out reasoning that nothing follows, and keeps what was said before it', () => {
    const parts = [
      { type: 'text' as const, text: 'Said.' },
      { type: 'reasoning' as const, reasoning: THOUGHT },
    ];
    const list: Message[] = [user('go'), { role: 'assistant', content: null, parts }, user('on')];
    expect(input(list)[1]).toStrictEqual({ role: 'assistant', content: 'Said.' });
    expect(codesOf(projectOpenAiResponses(list, targetOf(GPT)))).toContain('reasoning-omitted');
  });

  it('sends the id of an item once', () => {
    const twice = [user('go'), thinking({}), user('again'), thinking({ encrypted: 'b3RoZXI=' }), user('on')];
    expect(input(twice).flatMap((item) => ('id' in item ? [item.id] : []))).toStrictEqual(['rs_1']);
    expect(JSON.stringify(input(twice))).toContain('b3RoZXI=');
  });

  it.each(['msg_1', 'rs_', 'rs_1_', 'rs_a b', `rs_${'x'.repeat(62)}`])(
    'sends reasoning without the id %s, which the API does not take',
    (id) => {
      const [, item] = input([user('go'), thinking({ id }), user('on')]);
      expect(item).toMatchObject({ type: 'reasoning', encrypted_content: THOUGHT.encrypted });
      expect(item).not.toHaveProperty('id');
    },
  );

  it.each<[JsonValue, string]>([
    ['text', 'text'],
    [{ a: 1 }, '{"a":1}'],
    [null, 'null'],
    [0, '0'],
    [false, 'false'],
    ['', '(no output)'],
  ])('gives the result %j as the text %s', (value, output) => {
    const list = [user('go'), callsOf([callOf('a')]), resultOf('a', value)];
    expect(input(list).at(-1)).toStrictEqual({ type: 'function_call_output', call_id: 'a', output });
  });

  it('leaves the images of a result in it', () => {
    const ref = dataUrl(pngOf(1, 1));
    const shown = resultOf('a', 'seen', { parts: [imagePart({ ref })] });
    expect(input([user('go'), callsOf([callOf('a')]), shown]).at(-1)).toMatchObject({
      output: [
        { type: 'input_text', text: 'seen' },
        { type: 'input_image', image_url: ref, detail: 'auto' },
      ],
    });
  });

  it('cuts an output that is too long between two characters, and says how much is left out', () => {
    const list = [user('go'), callsOf([callOf('a')]), resultOf('a', `${'x'.repeat(9)}👍y`)];
    const { request, notes } = projectOpenAiResponses(list, { limits: { outputChars: 10 } });
    expect(request.input.at(-1)).toMatchObject({ output: 'x'.repeat(9) });
    expect(notes).toMatchObject([
      { code: 'output-cut', messageIndex: 2, detail: expect.stringContaining('12') },
    ]);
  });

  it('keeps ids of 64 characters and translates those that hold something else', () => {
    const long = 'a'.repeat(64);
    const list = [user('go'), callsOf([callOf(long), callOf('a|b')]), resultOf(long, 1), resultOf('a|b', 2)];
    const ids = input(list).flatMap((item) => ('call_id' in item ? [item.call_id] : []));
    expect(ids[0]).toBe(long);
    expect(ids[1]).toMatch(/^a_b_[0-9a-f]{8}$/);
    expect(ids.slice(2)).toStrictEqual(ids.slice(0, 2));
  });

  it('gives the parts of a user without the blank ones', () => {
    const ref = dataUrl(pngOf(1, 1));
    const blank = { type: 'text' as const, text: '\u200b ' };
    expect(input([userWith(blank, imagePart({ ref }))])).toStrictEqual([
      { role: 'user', content: [{ type: 'input_image', image_url: ref, detail: 'auto' }] },
    ]);
  });

  it('names no item of the server: nothing is stored there', () => {
    const items = [{ origin: GPT, item: { type: 'web_search_call', id: 'ws_1' } }];
    const { request, notes } = projectOpenAiResponses([
      user('go'),
      { ...assistant('Done.'), providerItems: items },
      user('on'),
    ]);
    expect(JSON.stringify(request)).not.toContain('ws_1');
    expect(codesOf({ notes })).toStrictEqual(['provider-item-omitted']);
  });
});
