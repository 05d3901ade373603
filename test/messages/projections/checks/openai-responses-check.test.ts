import { describe, expect, it } from 'vitest';
import { checkOpenAiResponsesRequest } from '../../../../src/messages/projections/checks/openai-responses-check.js';
import { changed, deeply, GARBAGE, legalResponses, rulesOf } from './legal-requests.js';

const user = { role: 'user', content: 'And?' };
const reasoning = { type: 'reasoning', id: 'rs_3', summary: [], encrypted_content: 'gAAAAD' };

const CASES: readonly [title: string, rule: string, changes: Record<string, unknown>][] = [
  ['no input', '2.0', { input: [] }],
  ['an unknown role', '2.0', { 'input/8/role': 'tool' }],
  ['a part of the user in a message of the assistant', '2.0', { 'input/7/content/0/type': 'input_text' }],
  ['an image without a URL', '2.0', { 'input/0/content/1/image_url': undefined }],
  ['an item that is a text', '2.0', { 'input/8': 'Thanks' }],
  ['an item whose type is a number', '2.0', { 'input/8': { type: 1 } }],
  ['a message without content', '2.0', { 'input/8/content': undefined }],
  ['a part without a text', '2.0', { 'input/7/content/0/text': undefined }],
  ['a file without data', '2.0', { 'input/0/content/1': { type: 'input_file', filename: 'a.pdf' } }],
  ['tools that are no list', '2.0', { tools: {} }],
  ['a call without an output', '2.1', { 'input/4': undefined }],
  [
    'an output without a call',
    '2.1',
    { 'input/8': { type: 'function_call_output', call_id: 'x', output: 'x' } },
  ],
  [
    'an output before its call',
    '2.1',
    { 'input/3': legalResponses.input[4], 'input/4': legalResponses.input[3] },
  ],
  ['a second output', '2.1', { 'input/8': { type: 'function_call_output', call_id: 'call_1', output: 'x' } }],
  ['a call id that is open already', '2.1', { 'input/3/call_id': 'call_1', 'input/4': undefined }],
  [
    'a call id of 65 characters',
    '2.2',
    { 'input/3/call_id': 'x'.repeat(65), 'input/4/call_id': 'x'.repeat(65) },
  ],
  ['an output that is an object', '2.2', { 'input/4/output': {} }],
  ['an output of no parts', '2.2', { 'input/4/output': [] }],
  ['an output that is too long', '2.2', { 'input/4/output': 'x'.repeat(10_485_761) }],
  ['an item id that occurs twice', '2.3', { 'input/3/id': 'fc_1' }],
  ['an item id of another type', '2.3', { 'input/3/id': 'msg_2' }],
  ['an item id with a bar', '2.3', { 'input/3/id': 'fc_2|x' }],
  ['an item id that is too long', '2.3', { 'input/3/id': `fc_${'x'.repeat(62)}` }],
  ['an item id that ends with an underscore', '2.3', { 'input/3/id': 'fc_2_' }],
  ['reasoning before the user', '2.4', { 'input/7': user }],
  ['reasoning at the end', '2.4', { 'input/8': reasoning }],
  ['reasoning without its content', '2.5', { 'input/1/encrypted_content': undefined }],
  ['a reference to what is not stored', '2.5', { 'input/8': { type: 'item_reference', id: 'msg_9' } }],
  ['reasoning without a summary', '2.8', { 'input/1/summary': undefined }],
  ['a blank message', '2.11', { 'input/8/content': ' ' }],
  ['a message of no parts', '2.11', { 'input/8/content': [] }],
  ['a blank part', '2.11', { 'input/7/content/0/text': '' }],
  ['a name with a dot', '2.12', { 'input/3/name': 'read.file' }],
  ['a tool without a name', '2.12', { 'tools/0/name': undefined }],
  ['arguments that are an object', '2.13', { 'input/3/arguments': {} }],
  ['arguments that are no JSON', '2.13', { 'input/3/arguments': '{' }],
  ['a lone surrogate', '2.14', { 'input/8/content': 'half \ud83d' }],
];

const rules = (request: unknown) => rulesOf(checkOpenAiResponsesRequest(request));

describe('the check of Responses requests', () => {
  it('passes a legal request', () => {
    expect(checkOpenAiResponsesRequest(legalResponses)).toEqual([]);
  });

  it.each(CASES)('reports %s', (_, rule, changes) => {
    expect(rules(changed(legalResponses, changes))).toEqual([`openai-responses/${rule}`]);
  });

  it('passes a text for the input', () => {
    expect(rules({ input: 'Hi' })).toEqual([]);
    expect(rules({ input: ' ' })).toEqual(['openai-responses/2.11']);
  });

  it('takes reasoning by its id, and references, where items are stored', () => {
    const stored = {
      store: true,
      'input/1/encrypted_content': undefined,
      'input/8': { type: 'item_reference', id: 'msg_9' },
    };
    expect(rules(changed(legalResponses, stored))).toEqual([]);
    expect(rules(changed(legalResponses, { ...stored, 'input/1/id': undefined }))).toEqual([
      'openai-responses/2.5',
    ]);
  });

  it('takes reasoning without an id', () => {
    expect(rules(changed(legalResponses, { 'input/1/id': undefined }))).toEqual([]);
  });

  it('takes an output whose call is in the response before', () => {
    const output = { type: 'function_call_output', call_id: 'x', output: 'x' };
    expect(rules({ previous_response_id: 'resp_1', input: [output] })).toEqual([]);
    expect(rules({ previous_response_id: 'resp_1', input: [output, output] })).toEqual([
      'openai-responses/2.1',
    ]);
  });

  it('takes a call id again once its call is answered', () => {
    expect(
      rules({
        input: [...legalResponses.input.slice(2, 6), ...legalResponses.input.slice(2, 6)].map((item) => ({
          ...item,
          id: undefined,
        })),
      }),
    ).toEqual([]);
  });

  it('passes items of other tools through', () => {
    const items = [reasoning, { type: 'web_search_call', id: 'ws_1', status: 'completed' }, user];
    expect(rules({ input: items })).toEqual([]);
  });

  it.each(GARBAGE.map((garbage) => [JSON.stringify(garbage), garbage]))(
    'takes %s and does not throw',
    (_, garbage) => {
      expect(Array.isArray(rules(garbage))).toBe(true);
    },
  );

  it('takes values nested deeper than the stack', () => {
    expect(rules(changed(legalResponses, { metadata: deeply() }))).toEqual([]);
  });
});
