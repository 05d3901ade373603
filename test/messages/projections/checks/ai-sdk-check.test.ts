import { describe, expect, it } from 'vitest';
import { checkAiSdkRequest } from '../../../../src/messages/projections/checks/ai-sdk-check.js';
import { changed, deeply, GARBAGE, legalAiSdk, PNG, rulesOf } from './legal-requests.js';

const result = (toolCallId: string) => ({
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId, toolName: 'read_file', output: { type: 'text', value: '' } }],
});
const call = (toolCallId: string, more: object = {}) => ({
  role: 'assistant',
  content: [{ type: 'tool-call', toolCallId, toolName: 'read_file', input: {}, ...more }],
});

const CASES: readonly [title: string, rule: string, changes: Record<string, unknown>][] = [
  ['no messages', '7.1', { messages: [] }],
  ['an unknown role', '7.1', { 'messages/5/role': 'developer' }],
  ['a call of the user', '7.1', { 'messages/5/content': call('c').content }],
  ['an image of the assistant', '7.1', { 'messages/4/content': [{ type: 'image', image: PNG }] }],
  ['a tool message that is a text', '7.1', { 'messages/6': { role: 'tool', content: 'x' } }],
  ['a system prompt that is a number', '7.1', { system: 1 }],
  ['a call without a name', '7.1', { 'messages/6': call('c', { toolName: '', providerExecuted: true }) }],
  [
    'an approval of nothing',
    '7.1',
    { 'messages/6': { role: 'tool', content: [{ type: 'tool-approval-response' }] } },
  ],
  ['a text that is a number', '7.1', { 'messages/1/content/1/text': 1 }],
  ['a message that is a text', '7.1', { 'messages/5': 'Thanks' }],
  ['a late system message', '7.2', { 'messages/6': { role: 'system', content: 'x' } }],
  ['a call without a result', '7.3', { 'messages/2': undefined }],
  ['calls at the end', '7.3', { 'messages/6': call('c') }],
  ['a result without a call', '7.4', { 'messages/6': result('c') }],
  ['a second result', '7.4', { 'messages/2/content/1': result('b').content[0] }],
  ['a result of another tool', '7.4', { 'messages/2/content/0/toolName': 'write_file' }],
  ['a result in an assistant message', '7.4', { 'messages/4/content': result('a').content }],
  ['an id that occurs twice', '7.5', { 'messages/6': call('a'), 'messages/7': result('a') }],
  ['an empty id', '7.5', { 'messages/6': call(''), 'messages/7': result('') }],
  ['a blank message', '7.6', { 'messages/5/content': ' ' }],
  ['a message of no parts', '7.6', { 'messages/5/content': [] }],
  ['a blank part', '7.6', { 'messages/1/content/1/text': '' }],
  ['an input that is a list', '7.7', { 'messages/1/content/2/input': [] }],
  ['an input that is a text', '7.7', { 'messages/1/content/2/input': '{}' }],
  ['an output that is a text', '7.8', { 'messages/2/content/0/output': 'two' }],
  ['an output of an unknown type', '7.8', { 'messages/2/content/0/output/type': 'blob' }],
  ['an output without a value', '7.8', { 'messages/2/content/0/output/value': undefined }],
  ['an output with an unknown part', '7.8', { 'messages/3/content/0/output/value/0/type': 'blob' }],
  ['an image without data', '7.9', { 'messages/0/content/1/image': undefined }],
  ['an image that is an artifact', '7.9', { 'messages/0/content/1/image': 'sha256:aa' }],
  ['a file without bytes', '7.9', { 'messages/0/content/2/data': new Uint8Array() }],
  ['a file without a type', '7.9', { 'messages/0/content/2/mediaType': undefined }],
  ['a lone surrogate', '7.10', { 'messages/2/content/0/output/value': { deep: ['\ud83d'] } }],
];

const rules = (request: unknown) => rulesOf(checkAiSdkRequest(request));

describe('the check of AI SDK requests', () => {
  it('passes a legal request', () => {
    expect(checkAiSdkRequest(legalAiSdk)).toEqual([]);
  });

  it.each(CASES)('reports %s', (_, rule, changes) => {
    expect(rules(changed(legalAiSdk, changes))).toEqual([`ai-sdk/${rule}`]);
  });

  it('takes system messages at the head', () => {
    const system = { role: 'system', content: 'Be kind.' };
    expect(rules({ system: [system], messages: [system, system, ...legalAiSdk.messages] })).toEqual([]);
  });

  it('takes a text without words that carries what its provider needs', () => {
    const part = { type: 'text', text: '', providerOptions: { google: { thoughtSignature: 'c2ln' } } };
    expect(rules(changed(legalAiSdk, { 'messages/4/content': [part] }))).toEqual([]);
  });

  it('takes calls that a provider ran itself, with their results beside them or without', () => {
    const executed = call('c', { providerExecuted: true });
    expect(rules({ messages: [executed] })).toEqual([]);
    expect(
      rules({ messages: [{ ...executed, content: [...executed.content, ...result('c').content] }] }),
    ).toEqual([]);
    expect(rules({ messages: [executed, result('c')] })).toEqual([]);
  });

  it('takes a call that is approved at the end', () => {
    const asked = {
      role: 'assistant',
      content: [...call('c').content, { type: 'tool-approval-request', approvalId: 'p', toolCallId: 'c' }],
    };
    const approved = {
      role: 'tool',
      content: [{ type: 'tool-approval-response', approvalId: 'p', approved: true }],
    };
    expect(rules({ messages: [asked, approved] })).toEqual([]);
    expect(rules({ messages: [asked, approved, { role: 'user', content: 'And?' }] })).toEqual(['ai-sdk/7.3']);
  });

  it('takes media as bytes, Base64, data URLs and web addresses', () => {
    for (const image of [
      new Uint8Array([1]),
      PNG,
      `data:image/png;base64,${PNG}`,
      'https://x.y/z.png',
      new URL('https://x.y/z.png'),
    ]) {
      expect(rules({ messages: [{ role: 'user', content: [{ type: 'image', image }] }] })).toEqual([]);
    }
  });

  it('names the place', () => {
    const violations = checkAiSdkRequest(changed(legalAiSdk, { 'messages/2': undefined }));
    expect(violations.map(({ path }) => path)).toEqual(['messages/1/content/3']);
  });

  it.each(GARBAGE.map((garbage) => [JSON.stringify(garbage), garbage]))(
    'reports %s and does not throw',
    (_, garbage) => {
      expect(rules(garbage)).not.toEqual([]);
    },
  );

  it('takes values nested deeper than the stack', () => {
    expect(rules(changed(legalAiSdk, { 'messages/2/content/0/output/value': deeply() }))).toEqual([]);
  });
});
