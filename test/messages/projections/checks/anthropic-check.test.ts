import { describe, expect, it } from 'vitest';
import {
  type AnthropicCheckOptions,
  checkAnthropicRequest,
} from '../../../../src/messages/projections/checks/anthropic-check.js';
import { pngOf } from '../../media-bytes.js';
import { at, changed, deeply, GARBAGE, legalAnthropic, rulesOf } from './legal-requests.js';

const calls: readonly unknown[] = at(legalAnthropic, 'messages/2/content');
const results: readonly unknown[] = at(legalAnthropic, 'messages/3/content');
const answer = { role: 'assistant', content: 'A pixel.' };
const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' };
const call = { type: 'tool_use', id: 'toolu_9', name: 'read_file', input: {} };
const result = { type: 'tool_result', tool_use_id: 'toolu_9' };
const image = (data: string, media_type = 'image/png') => ({
  type: 'image',
  source: { type: 'base64', media_type, data },
});
const png = (width: number, height: number) => image(Buffer.from(pngOf(width, height)).toString('base64'));

const CASES: readonly [title: string, rule: string, changes: Record<string, unknown>][] = [
  ['no messages', '3.0', { messages: [], tools: undefined }],
  ['content that is an object', '3.0', { 'messages/1/content': {} }],
  ['a block without a type', '3.0', { 'messages/0/content/0/type': undefined }],
  ['thinking of the user', '3.0', { 'messages/0/content/0': thinking }],
  ['a document of the assistant', '3.0', { 'messages/2/content/1': { type: 'document' } }],
  ['a call in a result', '3.0', { 'messages/3/content/1/content/0': call }],
  ['thinking that is a number', '3.0', { 'messages/2/content/0/thinking': 1 }],
  ['a text that is a number', '3.0', { 'messages/2/content/1/text': 1 }],
  ['a result that is a number', '3.0', { 'messages/5/content/0/content': 1 }],
  ['a system prompt that is a number', '3.0', { system: 1 }],
  ['an image in the system prompt', '3.0', { 'system/0': image('AAAA') }],
  ['tools that are a text', '3.0', { messages: legalAnthropic.messages.slice(0, 2), tools: 'all' }],
  ['an unknown role', '3.1', { 'messages/1/role': 'tool' }],
  ['a system message', '3.1', { 'messages/1/role': 'system' }],
  ['an assistant at the head', '3.2', { 'messages/0': answer }],
  ['a call without a result', '3.3', { 'messages/3/content/0': undefined }],
  ['calls at the end', '3.3', { 'messages/5': undefined }],
  ['a result without a call', '3.3', { 'messages/5/content/1': result }],
  ['a result in the first message', '3.3', { 'messages/0/content': [result] }],
  ['a second result', '3.3', { 'messages/5/content/1': { type: 'tool_result', tool_use_id: 'toolu_3' } }],
  [
    'text before results',
    '3.4',
    { 'messages/3/content': [{ type: 'text', text: 'Wait.' }, ...results.slice(0, 2)] },
  ],
  [
    'results spread over messages',
    '3.4',
    {
      messages: [
        ...legalAnthropic.messages.slice(0, 3),
        { role: 'user', content: results.slice(0, 1) },
        { role: 'user', content: results.slice(1) },
        ...legalAnthropic.messages.slice(4),
      ],
    },
  ],
  [
    'a call id with a bar',
    '3.5',
    { 'messages/4/content/0/id': 'a|b', 'messages/5/content/0/tool_use_id': 'a|b' },
  ],
  [
    'a call id of 65 characters',
    '3.5',
    { 'messages/4/content/0/id': 'x'.repeat(65), 'messages/5/content/0/tool_use_id': 'x'.repeat(65) },
  ],
  [
    'a call id that is a number',
    '3.5',
    { 'messages/4/content/0/id': 1, 'messages/5/content/0/tool_use_id': 1 },
  ],
  [
    'a call id that occurs twice',
    '3.5',
    { 'messages/4/content/0/id': 'toolu_1', 'messages/5/content/0/tool_use_id': 'toolu_1' },
  ],
  ['an input that is a list', '3.6', { 'messages/4/content/0/input': [] }],
  ['an input that is a text', '3.6', { 'messages/4/content/0/input': '{}' }],
  ['text behind a call', '3.7', { 'messages/2/content': [...calls, { type: 'text', text: 'So.' }] }],
  ['calls without tools', '3.8', { tools: undefined }],
  ['a blank text', '3.9', { 'messages/2/content/1/text': '\n\n' }],
  ['a blank message', '3.9', { 'messages/1/content': ' ' }],
  ['a message of no blocks', '3.9', { 'messages/1/content': [] }],
  ['a blank text in a result', '3.9', { 'messages/3/content/1/content/0/text': '' }],
  ['a blank text of the system', '3.9', { 'system/0/text': ' ' }],
  ['an error that says nothing', '3.9', { 'messages/5/content/0/content': '' }],
  ['an error of no blocks', '3.9', { 'messages/5/content/0/content': [] }],
  [
    'an empty message of the assistant before the end',
    '3.9',
    { 'messages/6': { role: 'assistant', content: '' }, 'messages/7': { role: 'user', content: 'And?' } },
  ],
  ['an empty last message of the user', '3.9', { 'messages/6': { role: 'user', content: [] } }],
  ['an assistant at the end', '3.10', { 'messages/6': answer }],
  ['thinking whose text is gone', '3.11', { 'messages/2/content/0/thinking': '' }],
  ['an open loop that begins without thinking', '3.12', { 'messages/2/content/0': undefined }],
  [
    'a turn that ends with thinking',
    '3.12',
    {
      'messages/6': { role: 'assistant', content: [thinking] },
      'messages/7': { role: 'user', content: 'And?' },
    },
  ],
  [
    'thinking where it is off',
    '3.12',
    {
      thinking: { type: 'disabled' },
      'messages/4/content': [thinking, at(legalAnthropic, 'messages/4/content/0')],
    },
  ],
  ['redacted thinking without data', '3.13', { 'messages/2/content/3/data': undefined }],
  ['thinking without a signature', '3.14', { 'messages/2/content/0/signature': '' }],
  ['an image of another type', '3.15', { 'messages/0/content/1': image('AAAA', 'image/svg+xml') }],
  ['an image that is not Base64', '3.15', { 'messages/0/content/1': image('AA-A') }],
  [
    'an image with too many bytes',
    '3.15',
    { 'messages/0/content/1': image('A'.repeat(5 * 1024 * 1024 + 4)) },
  ],
  ['an image with a side that is too long', '3.15', { 'messages/0/content/1': png(8001, 1) }],
  [
    'an image in a result with a side that is too long',
    '3.15',
    { 'messages/3/content/1/content/1': png(1, 8001) },
  ],
  ['an image of the assistant', '3.15', { 'messages/2/content/1': png(1, 1) }],
  [
    'an artifact for an image',
    '3.15',
    { 'messages/0/content/1': { type: 'image', source: { type: 'url', url: 'sha256:aa' } } },
  ],
  ['too many images', '3.15', { 'messages/0/content': Array(101).fill(png(1, 1)) }],
  [
    'a long side among many images',
    '3.15',
    { 'messages/0/content': [png(2001, 1), ...Array(20).fill(png(1, 1))] },
  ],
  ['a body that is too large', '3.15', { 'messages/1/content': 'x'.repeat(32 * 1024 * 1024 + 1) }],
  ['a lone surrogate', '3.16', { 'messages/4/content/0/input': { '\ud83d': 1 } }],
  ['a name with a dot', '3.18', { 'messages/4/content/0/name': 'read.file' }],
  ['a tool without a name', '3.18', { 'tools/0/name': undefined }],
];

const rules = (request: unknown, options?: AnthropicCheckOptions) =>
  rulesOf(checkAnthropicRequest(request, options));

describe('the check of Anthropic requests', () => {
  it('passes a legal request', () => {
    expect(checkAnthropicRequest(legalAnthropic)).toEqual([]);
  });

  it.each(CASES)('reports %s', (_, rule, changes) => {
    expect(rules(changed(legalAnthropic, changes))).toEqual([`anthropic/${rule}`]);
  });

  it('reports too many messages', () => {
    const messages = Array(100_001).fill({ role: 'user', content: 'x' });
    expect(rules({ messages })).toEqual(['anthropic/3.1']);
  });

  it('takes more blocks than a call can have arguments', () => {
    const content = Array(200_000).fill({ type: 'text', text: 'x' });
    const message = { role: 'user', content };
    expect(rules({ messages: [message, message] })).toEqual([]);
  });

  it('takes a prefill without white space at its end where the model takes one', () => {
    const request = changed(legalAnthropic, { 'messages/6': answer });
    expect(rules(request, { prefill: true })).toEqual([]);
    const spaced = changed(legalAnthropic, { 'messages/6': { ...answer, content: 'A ' } });
    expect(rules(spaced, { prefill: true })).toEqual(['anthropic/3.10']);
  });

  it('takes an empty last message of the assistant as a prefill', () => {
    for (const content of ['', []]) {
      const request = changed(legalAnthropic, { 'messages/6': { role: 'assistant', content } });
      expect(rules(request, { prefill: true })).toEqual([]);
    }
  });

  it('takes a last message that a tool of the API has to go on from', () => {
    const content = [{ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }];
    expect(rules(changed(legalAnthropic, { 'messages/6': { role: 'assistant', content } }))).toEqual([]);
  });

  it('takes system messages where the model takes them', () => {
    const request = changed(legalAnthropic, { 'messages/1/role': 'system' });
    expect(rules(request, { systemInMessages: true })).toEqual([]);
  });

  it('takes an open loop without thinking if thinking is adaptive, off or not spoken of', () => {
    for (const thinking of [{ type: 'adaptive' }, { type: 'disabled' }, undefined]) {
      const request = changed(legalAnthropic, {
        thinking,
        'messages/2/content/0': undefined,
        'messages/2/content/2': undefined,
      });
      expect(rules(request)).toEqual([]);
    }
  });

  it('takes signatures without texts where the request asks for them', () => {
    const thinking = { type: 'enabled', budget_tokens: 1024, display: 'omitted' };
    expect(rules(changed(legalAnthropic, { thinking, 'messages/2/content/0/thinking': '' }))).toEqual([]);
  });

  it('takes text between calls where thinking begins a segment', () => {
    const text = { type: 'text', text: 'And the other.' };
    for (const block of [thinking, calls[3]]) {
      const content = [...calls.slice(0, 3), block, text, ...calls.slice(4)];
      expect(rules(changed(legalAnthropic, { 'messages/2/content': content }))).toEqual([]);
    }
  });

  it('takes earlier turns without their thinking', () => {
    const request = changed(legalAnthropic, {
      'messages/2/content/0': undefined,
      'messages/6': answer,
      'messages/7': { role: 'user', content: 'And?' },
    });
    expect(rules(request)).toEqual([]);
  });

  it('takes other limits of images', () => {
    const request = changed(legalAnthropic, { 'messages/0/content/1': png(3000, 1) });
    expect(rules(request, { imageSide: 2000 })).toEqual(['anthropic/3.15']);
    expect(rules(request, { imagesPerRequest: 1 })).toEqual(['anthropic/3.15']);
  });

  it('names the place', () => {
    const violations = checkAnthropicRequest(
      changed(legalAnthropic, { 'messages/5/content/0/tool_use_id': 'x' }),
    );
    expect(violations.map(({ path }) => path)).toEqual(['messages/5/content/0', 'messages/4/content/0']);
  });

  it.each(GARBAGE.map((garbage) => [JSON.stringify(garbage), garbage]))(
    'reports %s and does not throw',
    (_, garbage) => {
      expect(rules(garbage)).not.toEqual([]);
    },
  );

  it('takes values nested deeper than the stack', () => {
    expect(rules(changed(legalAnthropic, { 'messages/4/content/0/input': { deep: deeply() } }))).toEqual([]);
  });
});
