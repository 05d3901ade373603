import { describe, expect, it } from 'vitest';
import {
  checkOpenAiChatRequest,
  type OpenAiChatCheckOptions,
} from '../../../../src/messages/projections/checks/openai-chat-check.js';
import { changed, deeply, GARBAGE, legalChat, legalMistral, rulesOf } from './legal-requests.js';

type Case = [title: string, rule: string, changes: Record<string, unknown>];

const user = { role: 'user', content: 'And?' };
const chatCall = { type: 'function', function: { name: 'f', arguments: '{}' } };
const tool = { role: 'tool', tool_call_id: 'call_1', content: 'one' };

const CASES: readonly Case[] = [
  ['no messages', '1.0', { messages: [] }],
  ['an unknown role', '1.0', { 'messages/8/role': 'human' }],
  ['a tool message without an id', '1.0', { 'messages/8': { role: 'tool', content: 'x' } }],
  ['a message that is a text', '1.0', { 'messages/8': 'Thanks' }],
  ['calls that are an object', '1.0', { 'messages/7/tool_calls': {} }],
  ['a call that is a text', '1.0', { 'messages/7/tool_calls': ['read_file'] }],
  ['a call of an unknown type', '1.0', { 'messages/5/tool_calls/0/type': 'code' }],
  ['an empty list of tools', '1.0', { tools: [] }],
  ['a call without a result', '1.1', { 'messages/3': undefined }],
  ['calls at the end', '1.1', { messages: legalChat.messages.slice(0, 3) }],
  ['a result without a call', '1.2', { 'messages/8': tool }],
  ['a second result', '1.2', { 'messages/7': { role: 'tool', tool_call_id: 'call_3', content: 'x' } }],
  ['an empty list of calls', '1.3', { 'messages/7/tool_calls': [] }],
  ['an assistant message with nothing', '1.4', { 'messages/7/content': null }],
  ['an assistant message with no parts', '1.4', { 'messages/7/content': [] }],
  [
    'an image of the assistant',
    '1.4',
    { 'messages/7/content': [{ type: 'image_url', image_url: { url: 'https://x.y' } }] },
  ],
  [
    'a refusal beside text',
    '1.4',
    {
      'messages/7/content': [
        { type: 'refusal', refusal: 'No.' },
        { type: 'text', text: 'But.' },
      ],
    },
  ],
  [
    'an image in a result',
    '1.5',
    { 'messages/4/content/0': { type: 'image_url', image_url: { url: 'https://x.y' } } },
  ],
  ['a result of no parts', '1.5', { 'messages/4/content': [] }],
  ['a result without content', '1.5', { 'messages/4/content': null }],
  ['a user message of no parts', '1.6', { 'messages/8/content': [] }],
  ['a user message without content', '1.6', { 'messages/8/content': undefined }],
  [
    'an image of another type',
    '1.6',
    { 'messages/1/content/1/image_url/url': 'data:image/tiff;base64,AAAA' },
  ],
  [
    'an image that is not Base64',
    '1.6',
    { 'messages/1/content/1/image_url/url': 'data:image/png;base64,AA-A' },
  ],
  ['an artifact for an image', '1.6', { 'messages/1/content/1/image_url/url': 'sha256:aa' }],
  ['arguments that are an object', '1.7', { 'messages/5/tool_calls/0/function/arguments': {} }],
  ['arguments that are no JSON', '1.7', { 'messages/5/tool_calls/0/function/arguments': '{"a":' }],
  [
    'an id of 41 characters',
    '1.8',
    { 'messages/5/tool_calls/0/id': 'x'.repeat(41), 'messages/6/tool_call_id': 'x'.repeat(41) },
  ],
  [
    'an id that occurs twice in a message',
    '1.8',
    { 'messages/2/tool_calls/1/id': 'call_1', 'messages/3': undefined },
  ],
  ['a name with a dot', '1.9', { 'messages/5/tool_calls/0/function/name': 'read.file' }],
  ['an empty id', '1.8', { 'messages/5/tool_calls/0/id': '', 'messages/6/tool_call_id': '' }],
  ['a call without an id', '1.8', { 'messages/7/tool_calls': [{ ...chatCall, id: undefined }] }],
  ['a custom call without a name', '1.9', { 'messages/5/tool_calls/0/type': 'custom' }],
  ['a file without data', '1.6', { 'messages/1/content/1': { type: 'file', file: { filename: 'a.pdf' } } }],
  ['a tool without a name', '1.9', { 'tools/0/function/name': '' }],
  ['a lone surrogate in a text', '1.12', { 'messages/8/content': 'half \ud83d' }],
  ['a lone surrogate in a key', '1.12', { 'tools/0/function/parameters': { '\udc00': 1 } }],
];

const MISTRAL_CASES: readonly Case[] = [
  ['a late system message', 'openai-chat/1.10', { 'messages/6': { role: 'system', content: 'x' } }],
  ['two user messages', 'openai-chat/1.10', { 'messages/6': user }],
  [
    'an assistant at the head',
    'openai-chat/1.10',
    {
      'messages/1': { role: 'assistant', content: 'Hi' },
      'messages/2': user,
      'messages/3': { role: 'assistant', content: 'a' },
      'messages/4': user,
      'messages/5': undefined,
    },
  ],
  ['an assistant without text', 'openai-chat/1.11', { 'messages/2/content': null }],
  ['an assistant of parts', 'openai-chat/1.11', { 'messages/4/content': [{ type: 'text', text: 'a' }] }],
  ['a user behind a result', 'mistral/5.1', { 'messages/4': undefined }],
  ['a result behind a user', 'mistral/5.2', { 'messages/6': { ...legalMistral.messages[3] } }],
  [
    'a result behind a system message',
    'mistral/5.2',
    { messages: [{ role: 'developer', content: 'x' }, legalMistral.messages[3]] },
  ],
];

const MISTRAL_ONLY: readonly Case[] = [
  [
    'an id of another length',
    'mistral/5.3',
    { 'messages/2/tool_calls/0/id': 'abc', 'messages/3/tool_call_id': 'abc' },
  ],
  ['a result without a name', 'mistral/5.4', { 'messages/3/name': undefined }],
  ['an assistant at the end', 'mistral/5.5', { 'messages/5': undefined }],
];

function rules(request: unknown, flavor: NonNullable<OpenAiChatCheckOptions['flavor']> = 'openai'): string[] {
  return rulesOf(checkOpenAiChatRequest(request, { flavor }));
}

describe('the check of chat requests', () => {
  it('passes a legal request', () => {
    expect(checkOpenAiChatRequest(legalChat)).toEqual([]);
  });

  it('passes a request that only strict servers refuse', () => {
    expect(rules(changed(legalMistral, { 'messages/4': undefined }))).toEqual([]);
    expect(rules(changed(legalMistral, { 'messages/6': user }))).toEqual([]);
  });

  it.each(CASES)('reports %s', (_, rule, changes) => {
    expect(rules(changed(legalChat, changes))).toEqual([`openai-chat/${rule}`]);
  });

  it('takes a refusal as the only part, and files by their data or id', () => {
    const refusal = { 'messages/7/content': [{ type: 'refusal', refusal: 'No.' }] };
    expect(rules(changed(legalChat, refusal))).toEqual([]);
    for (const file of [{ file_id: 'file-1' }, { file_data: 'JVBERi0=' }]) {
      expect(rules(changed(legalChat, { 'messages/1/content/1': { type: 'file', file } }))).toEqual([]);
    }
  });

  it('names the place', () => {
    const [violation] = checkOpenAiChatRequest(changed(legalChat, { 'messages/3': undefined }));
    expect(violation).toEqual({
      rule: 'openai-chat/1.1',
      path: 'messages/2/tool_calls/1',
      reason: 'The call "call_2" is not answered by the tool messages right behind it.',
    });
  });

  it('takes a refusal, calls of an older kind or a voice for content', () => {
    for (const said of [
      { refusal: 'No.' },
      { function_call: { name: 'f', arguments: '' } },
      { audio: { id: 'a' } },
    ]) {
      expect(
        rules(changed(legalChat, { 'messages/7': { role: 'assistant', content: null, ...said } })),
      ).toEqual([]);
    }
  });

  it.each(GARBAGE.map((garbage) => [JSON.stringify(garbage), garbage]))(
    'reports %s and does not throw',
    (_, garbage) => {
      expect(rules(garbage, 'mistral')).not.toEqual([]);
    },
  );

  it('takes values nested deeper than the stack', () => {
    expect(rules(changed(legalChat, { metadata: deeply() }))).toEqual([]);
  });
});

describe('the check for strict servers', () => {
  it('passes a legal request', () => {
    expect(rules(legalMistral, 'strict')).toEqual([]);
    expect(rules(legalMistral, 'mistral')).toEqual([]);
  });

  it.each(MISTRAL_CASES)('reports %s', (_, rule, changes) => {
    expect(rules(changed(legalMistral, changes), 'strict')).toEqual([rule]);
    expect(rules(changed(legalMistral, changes), 'mistral')).toEqual([rule]);
  });

  it.each(MISTRAL_ONLY)('reports %s for Mistral only', (_, rule, changes) => {
    expect(rules(changed(legalMistral, changes), 'strict')).toEqual([]);
    expect(rules(changed(legalMistral, changes), 'mistral')).toEqual([rule]);
  });

  it('lets Mistral go on from a prefix', () => {
    const request = changed(legalMistral, { 'messages/5': undefined, 'messages/4/prefix': true });
    expect(rules(request, 'mistral')).toEqual([]);
  });
});
