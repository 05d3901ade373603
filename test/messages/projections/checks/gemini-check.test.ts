import { describe, expect, it } from 'vitest';
import { checkGeminiRequest } from '../../../../src/messages/projections/checks/gemini-check.js';
import { at, changed, deeply, GARBAGE, legalGemini, rulesOf } from './legal-requests.js';

const { contents } = legalGemini;
const answer = { role: 'model', parts: [{ text: 'A pixel.' }] };
const signedCall = { functionCall: { name: 'read_file', args: {} }, thoughtSignature: 'c2ln' };

const CASES: readonly [title: string, rule: string, changes: Record<string, unknown>][] = [
  ['no contents', '4.0', { contents: [] }],
  [
    'a part that holds two things',
    '4.0',
    { 'contents/0/parts/0/functionResponse': undefined, 'contents/4/parts/1/text': 'x' },
  ],
  ['a call of the user', '4.0', { 'contents/0/parts/0': signedCall }],
  ['tools that are no list', '4.0', { 'config/tools': {} }],
  ['a part that is a number', '4.0', { 'contents/3/parts/2': 1 }],
  ['a text that is a number', '4.0', { 'contents/3/parts/2': { text: 1 } }],
  ['an unknown role', '4.1', { contents: [contents[0], { role: 'assistant', parts: [{ text: 'Hi' }] }] }],
  ['a model at the head', '4.2', { contents: [answer, contents[0]] }],
  ['a model at the end', '4.2', { 'contents/8': answer }],
  ['neighbours of one role', '4.2', { contents: [contents[0], contents[0]] }],
  ['neighbours of the model', '4.2', { contents: [contents[0], answer, answer, contents[0]] }],
  ['a content of no parts', '4.2', { 'contents/0/parts': [] }],
  ['an empty part', '4.2', { 'contents/3/parts/2': {} }],
  ['an empty text', '4.2', { 'contents/3/parts/0/text': '', 'contents/3/parts/2': { text: 'And?' } }],
  ['an unknown field', '4.2', { 'contents/3/parts/0/cacheControl': {} }],
  [
    'calls behind the model',
    '4.3',
    { contents: [contents[0], answer, { role: 'model', parts: [signedCall] }, contents[7]] },
  ],
  ['calls without responses', '4.4', { 'contents/7': undefined }],
  ['fewer responses than calls', '4.4', { 'contents/5/parts/1': undefined }],
  ['more responses than calls', '4.4', { 'contents/7/parts/1': at(legalGemini, 'contents/7/parts/0') }],
  [
    'responses in another order',
    '4.4',
    {
      'contents/5/parts/0': at(legalGemini, 'contents/5/parts/1'),
      'contents/5/parts/1': at(legalGemini, 'contents/5/parts/0'),
    },
  ],
  ['a response of another function', '4.4', { 'contents/7/parts/0/functionResponse/name': 'write_file' }],
  ['text beside responses', '4.4', { 'contents/5/parts/2': { text: 'Wait.' } }],
  ['a response without a call', '4.4', { 'contents/0/parts/0': at(legalGemini, 'contents/7/parts/0') }],
  ['arguments that are a list', '4.5', { 'contents/6/parts/0/functionCall/args': [] }],
  ['a response that is a text', '4.5', { 'contents/7/parts/0/functionResponse/response': 'three' }],
  ['a response without the id', '4.5', { 'contents/5/parts/1/functionResponse/id': undefined }],
  [
    'an id that occurs twice',
    '4.5',
    { 'contents/6/parts/0/functionCall/id': 'c1', 'contents/7/parts/0/functionResponse/id': 'c1' },
  ],
  [
    'a name that begins with a digit',
    '4.6',
    { 'contents/6/parts/0/functionCall/name': '1st', 'contents/7/parts/0/functionResponse/name': '1st' },
  ],
  [
    'an empty id',
    '4.5',
    { 'contents/6/parts/0/functionCall/id': '', 'contents/7/parts/0/functionResponse/id': '' },
  ],
  [
    'an id that is a number',
    '4.5',
    { 'contents/6/parts/0/functionCall/id': 1, 'contents/7/parts/0/functionResponse/id': 1 },
  ],
  ['a tool without a name', '4.6', { 'config/tools/0/functionDeclarations/0/name': '' }],
  ['a call without a signature', '4.7', { 'contents/4/parts/1/thoughtSignature': undefined }],
  [
    'a signature on the second call only',
    '4.7',
    { 'contents/4/parts/1/thoughtSignature': undefined, 'contents/4/parts/2/thoughtSignature': 'c2ln' },
  ],
  ['a signature that is not Base64', '4.7', { 'contents/4/parts/1/thoughtSignature': 'not signed!' }],
  [
    'system text in the contents',
    '4.10',
    { contents: [{ role: 'system', parts: [{ text: 'Be kind.' }] }, contents[0]] },
  ],
  ['a system instruction without text', '4.10', { 'config/systemInstruction/parts': [] }],
  ['a lone surrogate', '4.11', { 'contents/7/parts/0/functionResponse/response/output': '\udc00' }],
  ['media without a type', '4.12', { 'contents/3/parts/1/inlineData/mimeType': undefined }],
  ['media of any type', '4.12', { 'contents/3/parts/1/inlineData/mimeType': 'image/*' }],
  ['media that are not Base64', '4.12', { 'contents/3/parts/1/inlineData/data': 'AA-A' }],
  ['a file without a URI', '4.12', { 'contents/3/parts/1': { fileData: { mimeType: 'image/png' } } }],
];

const rules = (request: unknown) => rulesOf(checkGeminiRequest(request));

describe('the check of Gemini requests', () => {
  it('passes a legal request', () => {
    expect(checkGeminiRequest(legalGemini)).toEqual([]);
  });

  it.each(CASES)('reports %s', (_, rule, changes) => {
    expect(rules(changed(legalGemini, changes))).toEqual([`gemini/${rule}`]);
  });

  it('asks for signatures from Gemini 3 on, and where the model is not said', () => {
    const unsigned = (model?: string) =>
      changed(legalGemini, { model, 'contents/4/parts/1/thoughtSignature': undefined });
    for (const model of ['gemini-2.5-pro', 'models/gemini-1.5-flash', 'claude-sonnet-4-5']) {
      expect(
        rules(
          changed(unsigned(model) as object, {
            'contents/6/parts/0/functionCall/id': 'c3',
            'contents/7/parts/0/functionResponse/id': 'c3',
            'contents/1/parts/0/functionCall/id': 'c0',
            'contents/2/parts/0/functionResponse/id': 'c0',
          }),
        ),
      ).toEqual([]);
    }
    for (const model of ['gemini-3.1-flash', 'models/gemini-10-pro', 'gemini-flash-latest', undefined]) {
      expect(rules(unsigned(model))).toEqual(['gemini/4.7']);
    }
  });

  it('lets text beside responses not begin a turn', () => {
    const mixed = { role: 'user', parts: [at(legalGemini, 'contents/2/parts/0'), { text: 'And this?' }] };
    const request = changed(legalGemini, {
      'contents/2': mixed,
      'contents/3': undefined,
      'contents/0/parts/0/text': 'Earlier.',
    });
    expect(rules(request)).toContain('gemini/4.7');
  });

  it('asks for ids where a model of others needs them', () => {
    expect(rules({ ...legalGemini, model: 'claude-sonnet-4-5' })).toEqual(['gemini/4.5']);
  });

  it('takes an empty text that carries a signature', () => {
    const signed = { role: 'model', parts: [{ text: '', thoughtSignature: 'c2ln' }] };
    expect(rules({ contents: [contents[0], signed, contents[0]] })).toEqual([]);
  });

  it('takes a content without a role as one of the user', () => {
    expect(rules(changed(legalGemini, { 'contents/0/role': undefined }))).toEqual([]);
  });

  it('takes the short forms of contents', () => {
    for (const short of [
      'Hi',
      { text: 'Hi' },
      ['Hi', { text: 'there' }],
      contents[0],
      [contents[0], answer, 'Hi'],
    ]) {
      expect(rules({ contents: short })).toEqual([]);
    }
  });

  it('names the place', () => {
    const violations = checkGeminiRequest(
      changed(legalGemini, { 'contents/4/parts/1/thoughtSignature': undefined }),
    );
    expect(violations.map(({ path }) => path)).toEqual(['contents/4/parts/1']);
  });

  it.each(GARBAGE.map((garbage) => [JSON.stringify(garbage), garbage]))(
    'reports %s and does not throw',
    (_, garbage) => {
      expect(rules(garbage)).not.toEqual([]);
    },
  );

  it('takes values nested deeper than the stack', () => {
    expect(
      rules(changed(legalGemini, { 'contents/7/parts/0/functionResponse/response': { output: deeply() } })),
    ).toEqual([]);
  });
});
