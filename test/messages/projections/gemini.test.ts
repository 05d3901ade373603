import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../src/core/json.js';
import type { Message } from '../../../src/messages/message.js';
import { checkGeminiRequest } from '../../../src/messages/projections/checks/gemini-check.js';
import {
  type GeminiPart,
  projectGemini,
  SIGNATURE_PLACEHOLDER,
} from '../../../src/messages/projections/gemini.js';
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
  GEMINI,
  imagePart,
  LIST_FILES,
  resultOf,
  targetOf,
  userWith,
} from './projection-kit.js';

const SIGNED = 'c2lnbmVk+/==';
const IMAGE = imagePart({ ref: dataUrl(pngOf(1, 1)) });

function projected(messages: readonly Message[], target: ProjectionTarget = targetOf(GEMINI)) {
  const projection = projectGemini(messages, target);
  expect(checkGeminiRequest(projection.request)).toStrictEqual([]);
  return projection;
}

function contents(messages: readonly Message[], target?: ProjectionTarget) {
  return projected(messages, target).request.contents;
}

/** What stands as the signature of each call, in order. */
function signatures(messages: readonly Message[], target?: ProjectionTarget): (string | undefined)[] {
  const parts = contents(messages, target).flatMap((content): GeminiPart[] => content.parts);
  return parts.filter((part) => part.functionCall).map((part) => part.thoughtSignature);
}

describe('the projection to Gemini', () => {
  it('gives the results of a batch as one content, in the order of the calls', () => {
    const list = [
      user('go'),
      callsOf([callOf('a'), callOf('b')]),
      resultOf('b', 'two'),
      resultOf('a', 'one'),
    ];
    expect(contents(list).at(-1)).toStrictEqual({
      role: 'user',
      parts: ['a', 'b'].map((id) => ({
        functionResponse: { id, name: 'ls', response: { output: id === 'a' ? 'one' : 'two' } },
      })),
    });
  });

  it('keeps a prompt out of the content of results', () => {
    const list = [user('go'), callsOf([callOf('a')]), resultOf('a', 'x'), user('So?')];
    expect(contents(list).slice(2)).toMatchObject([
      { role: 'user', parts: [{ functionResponse: {} }] },
      { role: 'user', parts: [{ text: 'So?' }] },
    ]);
  });

  it('puts the images of results behind them, in a content without text', () => {
    const shown = (id: string) => resultOf(id, `saw ${id}`, { parts: [IMAGE] });
    const list = [user('go'), callsOf([callOf('a'), callOf('b')]), shown('a'), shown('b')];
    const [, , results, images] = contents(list);
    expect(results?.parts).toMatchObject([
      { functionResponse: { id: 'a' } },
      { functionResponse: { id: 'b' } },
    ]);
    expect(images?.parts).toMatchObject([{ inlineData: {} }, { inlineData: {} }]);
    expect(codesOf(projected(list))).toContain('media-moved');
  });

  it('gives the text beside a result, and the line for an image that is left out, with it', () => {
    const parts = [{ type: 'text' as const, text: 'beside' }, imagePart({ ref: 'sha256:gone' })];
    const list = [user('go'), callsOf([callOf('a')]), resultOf('a', 'x', { parts })];
    expect(contents(list).at(-1)?.parts[0]?.functionResponse?.response).toStrictEqual({
      output: 'x',
      notes: ['beside', '[image omitted: not available (sha256:gone)]'],
    });
  });

  it.each<JsonValue>(['text', { a: 1 }, [1], null, 0, false])('gives the result %j as it is', (value) => {
    const list = [user('go'), callsOf([callOf('a')]), resultOf('a', value)];
    expect(contents(list).at(-1)?.parts[0]?.functionResponse?.response).toStrictEqual({ output: value });
  });

  it('gives an error as one', () => {
    const list = [user('go'), callsOf([callOf('a')]), errorOf('a', 'disk')];
    expect(contents(list).at(-1)?.parts[0]?.functionResponse?.response).toStrictEqual({ error: 'disk' });
  });

  it('joins neighbours of one role', () => {
    const list = [user('a'), user('b'), assistant('c'), assistant('d'), user('e')];
    expect(contents(list)).toStrictEqual([
      { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] },
      { role: 'model', parts: [{ text: 'c' }, { text: 'd' }] },
      { role: 'user', parts: [{ text: 'e' }] },
    ]);
  });

  it('gives the system prompt and the tools in the configuration', () => {
    const { request } = projected([{ role: 'system', content: 'Be kind.' }, user('go')], {
      tools: [LIST_FILES],
    });
    expect(request.config).toStrictEqual({
      systemInstruction: 'Be kind.',
      tools: [
        {
          functionDeclarations: [
            { name: 'ls', description: 'Lists files.', parametersJsonSchema: { type: 'object' } },
          ],
        },
      ],
    });
  });

  it('sends no thoughts back', () => {
    const thought: Message = { ...assistant('Done.'), reasoning: [{ text: 'private', origin: GEMINI }] };
    const { request, notes } = projected([user('go'), thought, user('on')]);
    expect(JSON.stringify(request)).not.toContain('private');
    expect(codesOf({ notes })).toStrictEqual(['reasoning-omitted']);
  });
});

describe('thought signatures', () => {
  const step = (id: string, more: Partial<Message> = {}, signature?: string): Message[] => [
    callsOf([callOf(id, signature === undefined ? {} : { signature })], more),
    resultOf(id, 'x'),
  ];

  it('stay on the very part that they came with, byte for byte', () => {
    const calls = [callOf('a'), callOf('b', { signature: SIGNED })];
    const text = { type: 'text' as const, text: 'First.', signature: 'dGV4dA==' };
    const message = {
      ...callsOf(calls),
      parts: [text, { type: 'text' as const, text: 'Second.' }],
      origin: GEMINI,
    };
    const list = [user('old'), message, resultOf('a', 1), resultOf('b', 2), user('new')];
    expect(contents(list)[1]?.parts).toStrictEqual([
      { text: 'First.', thoughtSignature: 'dGV4dA==' },
      { text: 'Second.' },
      { functionCall: { id: 'a', name: 'ls', args: {} } },
      { functionCall: { id: 'b', name: 'ls', args: {} }, thoughtSignature: SIGNED },
    ]);
  });

  it('are missed on the first call of each step of the current turn only', () => {
    const list = [
      user('old'),
      ...step('a'),
      user('new'),
      callsOf([callOf('b'), callOf('c')]),
      resultOf('b', 1),
      resultOf('c', 2),
      ...step('d'),
    ];
    expect(signatures(list)).toStrictEqual([
      undefined,
      SIGNATURE_PLACEHOLDER,
      undefined,
      SIGNATURE_PLACEHOLDER,
    ]);
    const places = projected(list).notes.filter(({ code }) => code === 'signature-placeholder');
    expect(places.map(({ messageIndex }) => messageIndex)).toStrictEqual([4, 7]);
  });

  it('are not replaced where the call has its own', () => {
    expect(signatures([user('go'), ...step('a', { origin: GEMINI }, SIGNED), ...step('b')])).toStrictEqual([
      SIGNED,
      SIGNATURE_PLACEHOLDER,
    ]);
  });

  it.each<[string, Partial<Message>]>([
    ['another provider', { origin: CLAUDE }],
    ['another model', { origin: { provider: 'google', model: 'gemini-4' } }],
    ['another account', { origin: { ...GEMINI, account: 'theirs' } }],
    ['nobody who is known', {}],
  ])('of %s are left out', (_, more) => {
    const target = { ...targetOf(GEMINI), account: 'ours' };
    expect(signatures([user('go'), ...step('a', more, SIGNED)], target)).toStrictEqual([
      SIGNATURE_PLACEHOLDER,
    ]);
  });

  it('of another provider are left out of texts, too', () => {
    const parts = [{ type: 'text' as const, text: 'Done.', signature: SIGNED }];
    const list: Message[] = [user('go'), { role: 'assistant', content: null, parts, origin: CLAUDE }];
    expect(JSON.stringify(contents([...list, user('on')]))).not.toContain(SIGNED);
  });

  it('are missed in a turn that images, which are no prompt, go on with', () => {
    const shown = resultOf('a', 'x', { parts: [IMAGE] });
    const list = [user('go'), callsOf([callOf('a')]), shown, ...step('b'), userWith(IMAGE)];
    expect(signatures(list)).toStrictEqual([SIGNATURE_PLACEHOLDER, SIGNATURE_PLACEHOLDER]);
  });

  it('are not missed once the user has said something', () => {
    const list = [user('go'), ...step('a'), user('So?')];
    expect(signatures(list)).toStrictEqual([undefined]);
    expect(codesOf(projected(list))).not.toContain('signature-placeholder');
  });

  it.each(['gemini-2.5-pro', 'models/gemini-2.0-flash', 'gemini-1.5-pro'])(
    'are not missed by %s',
    (model) => {
      expect(signatures([user('go'), ...step('a')], { model })).toStrictEqual([undefined]);
    },
  );

  it.each(['gemini-3-pro', 'gemini-3.1-flash', 'gemini-20'])('are missed by %s', (model) => {
    expect(signatures([user('go'), ...step('a')], { model })).toStrictEqual([SIGNATURE_PLACEHOLDER]);
  });
});
