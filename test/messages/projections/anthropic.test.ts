import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../src/core/json.js';
import type { Message, ReasoningItem } from '../../../src/messages/message.js';
import { projectAnthropic } from '../../../src/messages/projections/anthropic.js';
import { checkAnthropicRequest } from '../../../src/messages/projections/checks/anthropic-check.js';
import type { ProjectionTarget } from '../../../src/messages/projections/projection.js';
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
  targetOf,
} from './projection-kit.js';

const THOUGHT: ReasoningItem = { text: ' Plan.\n', signature: 'c2lnbmVk+/==', origin: CLAUDE };
const HIDDEN: ReasoningItem = { text: null, encrypted: 'b3BhcXVl', redacted: true, origin: CLAUDE };
const thinks = (reasoning: ReasoningItem) => ({ type: 'reasoning' as const, reasoning });
const says = (text: string) => ({ type: 'text' as const, text });

function projected(messages: readonly Message[], target: ProjectionTarget = targetOf(CLAUDE)) {
  const projection = projectAnthropic(messages, target);
  expect(checkAnthropicRequest(projection.request)).toStrictEqual([]);
  return projection;
}

function sent(messages: readonly Message[], target?: ProjectionTarget) {
  return projected(messages, target).request.messages;
}

/** One message of the assistant between two of the user. */
function blocksOf(message: Partial<Message>, target?: ProjectionTarget) {
  return sent([user('go'), { role: 'assistant', content: null, ...message }, user('on')], target)[1]?.content;
}

describe('the projection to Anthropic', () => {
  it('gives the results of a batch as one message of results only', () => {
    const list = [
      user('go'),
      callsOf([callOf('a', { arguments: { d: 1 } }), callOf('b')], { content: 'Two.' }),
      resultOf('a', { n: 1 }),
      errorOf('b', 'disk'),
      user('So?'),
    ];
    expect(sent(list)).toStrictEqual([
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Two.' },
          { type: 'tool_use', id: 'a', name: 'ls', input: { d: 1 } },
          { type: 'tool_use', id: 'b', name: 'ls', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: '{"n":1}' },
          { type: 'tool_result', tool_use_id: 'b', content: 'disk', is_error: true },
        ],
      },
      { role: 'user', content: 'So?' },
    ]);
  });

  it('gives the system prompt beside the messages', () => {
    const { request } = projected([{ role: 'system', content: 'Be kind.' }, user('go')]);
    expect(request).toMatchObject({ system: 'Be kind.', messages: [{ role: 'user' }] });
  });

  it('sends thinking back with its signature and in its place, byte for byte', () => {
    const parts = [thinks(THOUGHT), says('First.'), thinks(HIDDEN), says('Second.')];
    expect(blocksOf({ parts })).toStrictEqual([
      { type: 'thinking', thinking: ' Plan.\n', signature: 'c2lnbmVk+/==' },
      { type: 'text', text: 'First.' },
      { type: 'redacted_thinking', data: 'b3BhcXVl' },
      { type: 'text', text: 'Second.' },
    ]);
  });

  it('begins a turn of calls with its thinking', () => {
    const list = [user('go'), callsOf([callOf('a')], { reasoning: [THOUGHT] }), resultOf('a', 'x')];
    expect(sent(list)[1]?.content).toMatchObject([{ type: 'thinking' }, { type: 'tool_use' }]);
  });

  it.each<[string, ReasoningItem, ProjectionTarget]>([
    ['another provider', { ...THOUGHT, origin: { provider: 'google' } }, {}],
    ['another model', { ...THOUGHT, origin: { provider: 'anthropic', model: 'old' } }, {}],
    ['another account', { ...THOUGHT, origin: { ...CLAUDE, account: 'theirs' } }, { account: 'ours' }],
    ['nobody who is known', { text: 'Plan.', signature: 'c2ln' }, {}],
    ['a model that did not sign it', { text: 'Plan.', origin: CLAUDE }, {}],
    ['the same model, with thinking off', THOUGHT, { reasoning: false }],
  ])('leaves out thinking of %s, with a note', (_, item, target) => {
    const list: Message[] = [user('go'), { ...assistant('Done.'), reasoning: [item] }, user('on')];
    const { request, notes } = projected(list, { ...targetOf(CLAUDE), ...target });
    expect(request.messages[1]?.content).toStrictEqual([{ type: 'text', text: 'Done.' }]);
    expect(codesOf({ notes })).toStrictEqual(['reasoning-omitted']);
  });

  it('leaves out all thinking of a message of which one block may not go back', () => {
    const foreign = { ...THOUGHT, origin: { provider: 'openai' } };
    expect(blocksOf({ content: 'Done.', reasoning: [THOUGHT, foreign] })).toStrictEqual([
      { type: 'text', text: 'Done.' },
    ]);
  });

  it('sends thinking to a model where one of the two is not named', () => {
    const item = { ...THOUGHT, origin: { provider: 'claude-code' } };
    expect(blocksOf({ content: 'Done.', reasoning: [item] })).toHaveLength(2);
    expect(blocksOf({ content: 'Done.', reasoning: [THOUGHT] }, {})).toHaveLength(2);
  });

  it('keeps what was said before thinking that nothing follows', () => {
    expect(blocksOf({ parts: [says('Said.'), thinks(THOUGHT)] })).toStrictEqual([
      { type: 'text', text: 'Said.' },
    ]);
  });

  it('omits a message of thinking alone, with a note', () => {
    const items = [{ origin: CLAUDE, item: {} }];
    const silent: Message = { role: 'assistant', content: null, reasoning: [THOUGHT], providerItems: items };
    const { request, notes } = projected([user('go'), silent, user('on')]);
    expect(request.messages).toHaveLength(2);
    expect(codesOf({ notes })).toContain('message-omitted');
  });

  it.each<[JsonValue, string]>([
    ['text', 'text'],
    [null, 'null'],
    [0, '0'],
    [false, 'false'],
    [[], '[]'],
    [' ', '(no output)'],
  ])('gives the result %j as the text %s', (value, content) => {
    const [, , results] = sent([user('go'), callsOf([callOf('a')]), resultOf('a', value)]);
    expect(results?.content).toStrictEqual([{ type: 'tool_result', tool_use_id: 'a', content }]);
  });

  it('leaves the images of a result in it', () => {
    const shown = resultOf('a', 'seen', { parts: [imagePart({ ref: dataUrl(pngOf(1, 1)) })] });
    const [, , results] = sent([user('go'), callsOf([callOf('a')]), shown]);
    expect(results?.content).toMatchObject([
      {
        content: [
          { type: 'text', text: 'seen' },
          { type: 'image', source: { media_type: 'image/png' } },
        ],
      },
    ]);
  });

  it('does not mark a result as an error that shows an image: such may hold text only', () => {
    const failed = errorOf('a', 'Timeout.', { parts: [imagePart({ ref: dataUrl(pngOf(1, 1)) })] });
    const [, , results] = sent([user('go'), callsOf([callOf('a')]), failed]);
    expect(results?.content).toMatchObject([{ content: [{ text: 'Error: Timeout.' }, { type: 'image' }] }]);
    expect(JSON.stringify(results)).not.toContain('is_error');
  });

  it('marks a result as an error whose image is left out', () => {
    const failed = errorOf('a', 'Timeout.', { parts: [imagePart({ ref: 'sha256:gone' })] });
    const [, , results] = sent([user('go'), callsOf([callOf('a')]), failed]);
    expect(results?.content).toMatchObject([{ content: [{ text: 'Timeout.' }, {}], is_error: true }]);
  });

  it('declares a stub for each tool of the history where the request has no tools', () => {
    const list = [
      user('go'),
      callsOf([callOf('a'), callOf('b', { name: 'rm' }), callOf('c')]),
      resultOf('a', 1),
      resultOf('b', 2),
      resultOf('c', 3),
    ];
    for (const target of [{}, { tools: [] }]) {
      const { request, notes } = projected(list, target);
      expect(request.tools?.map(({ name }) => name)).toStrictEqual(['ls', 'rm']);
      expect(codesOf({ notes }).filter((code) => code === 'tool-stub-declared')).toHaveLength(2);
    }
  });

  it('declares nothing but the tools of the request where it has some, and says which are gone', () => {
    const list = [user('go'), callsOf([callOf('a', { name: 'rm' })]), resultOf('a', 1)];
    const { request, notes } = projected(list, { tools: [LIST_FILES] });
    expect(request.tools?.map(({ name }) => name)).toStrictEqual(['ls']);
    expect(notes).toContainEqual({
      code: 'tool-unknown',
      messageIndex: 1,
      detail: 'rm exists no longer',
    });
  });

  it('declares nothing for a history without calls', () => {
    expect(projected([user('Hi')]).request).not.toHaveProperty('tools');
  });

  it('gives an id that comes again in a later turn another one, in the call and its result', () => {
    const turn = [user('go'), callsOf([callOf('call_0')]), resultOf('call_0', 'x')];
    const { request, callIds } = projected([...turn, ...turn]);
    const [again = ''] = [...callIds.keys()];
    expect(again).not.toBe('call_0');
    expect(request.messages[1]?.content).toMatchObject([{ id: 'call_0' }]);
    expect(request.messages[2]?.content).toMatchObject([{ tool_use_id: 'call_0' }]);
    expect(request.messages[4]?.content).toMatchObject([{ id: again }]);
    expect(request.messages[5]?.content).toMatchObject([{ tool_use_id: again }]);
    expect(callIds.get(again)).toBe('call_0');
  });

  it('ends words to go on with without white space, and leaves others as they are', () => {
    const spoken = assistant(' Hello,  ');
    const { messages } = projectAnthropic([user('Hi'), spoken], { ending: 'as-is' }).request;
    expect(messages[1]?.content).toStrictEqual([says(' Hello,')]);
    expect(sent([user('Hi'), spoken, user('on')])[1]?.content).toStrictEqual([says(' Hello,  ')]);
  });
});
