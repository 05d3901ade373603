import { describe, expect, it } from 'vitest';
import { aiSdkModelMessagesImporter } from '../../../../src/messages/importers/ai-sdk/ai-sdk-model-messages.js';
import { headOf } from '../../../../src/messages/importers/detect-format.js';
import { LossAccount } from '../../../../src/messages/importers/loss-account.js';
import { sourceOf } from '../../../../src/messages/importers/source.js';
import type { Message } from '../../../../src/messages/message.js';

async function messagesOf(content: unknown, losses = new LossAccount()): Promise<Message[]> {
  const messages: Message[] = [];
  const source = sourceOf(JSON.stringify(content), 'chat', 11);
  for await (const item of aiSdkModelMessagesImporter.read(source, losses))
    if (item.kind === 'message') messages.push(item.message);
  return messages;
}

async function isRecognised(content: unknown): Promise<boolean> {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const head = await headOf(sourceOf(text));
  return head !== null && aiSdkModelMessagesImporter.recognises(head);
}

const user = { role: 'user', content: 'Hi' };
const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'ls', input: { dir: '.' } };

function answer(...content: unknown[]): unknown {
  return { role: 'assistant', content };
}

function results(...outputs: unknown[]): unknown {
  const content = outputs.map((output, index) => ({
    ...{ type: 'tool-result', toolCallId: `c${index + 1}`, toolName: 'ls', output },
  }));
  return { role: 'tool', content };
}

describe('the detection of model messages', () => {
  it('takes a list or lines with the parts of the SDK', async () => {
    expect(await isRecognised([user, answer(call)])).toBe(true);
    expect(await isRecognised(`${JSON.stringify(user)}\n${JSON.stringify(answer(call))}`)).toBe(true);
    expect(await isRecognised([{ ...user, providerOptions: { anthropic: {} } }])).toBe(true);
  });

  it('takes an object whose first message has a part of the SDK', async () => {
    const first = { role: 'user', content: [{ type: 'image', image: 'AAAA' }] };
    expect(await isRecognised({ messages: [first, user] })).toBe(true);
  });

  it.each([
    ['plain texts', [user, { role: 'assistant', content: 'Hello' }]],
    ['OpenAI calls', [user, { role: 'assistant', content: null, tool_calls: [{ id: 'c1' }] }]],
    ['Anthropic blocks', [user, answer({ type: 'tool_use', id: 'c1', name: 'ls', input: {} })]],
    ['Anthropic images', [{ role: 'user', content: [{ type: 'image', source: { type: 'base64' } }] }]],
    ['UI messages', [{ role: 'user', content: '', parts: [call] }]],
    ['other roles', [{ role: 'toolResult', content: [call] }]],
  ])('leaves %s to others', async (_name, content) => {
    expect(await isRecognised(content)).toBe(false);
  });
});

describe('the import of model messages', () => {
  it('reads a call and its result', async () => {
    const messages = await messagesOf([
      { role: 'system', content: 'Be brief.' },
      user,
      answer({ type: 'text', text: 'I look.' }, call),
      results({ type: 'text', value: 'a.md' }),
    ]);
    expect(messages).toStrictEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: 'I look.',
        toolPayload: { toolCalls: [{ id: 'c1', name: 'ls', arguments: { dir: '.' } }] },
      },
      {
        role: 'tool',
        content: null,
        toolPayload: { toolCallId: 'c1', toolName: 'ls', toolResult: 'a.md', toolError: null },
      },
    ]);
  });

  it('gives each result of a message a message of its own', async () => {
    const messages = await messagesOf([
      results(
        { type: 'json', value: [1] },
        { type: 'error-text', value: 'No.' },
        { type: 'execution-denied', reason: 'Never.' },
      ),
    ]);
    expect(messages.map(({ toolPayload }) => toolPayload)).toMatchObject([
      { toolCallId: 'c1', toolResult: [1], toolError: null },
      { toolCallId: 'c2', toolResult: null, toolError: 'No.' },
      { toolCallId: 'c3', toolResult: null, toolError: 'Never.' },
    ]);
  });

  it('puts the images of a result beside its text', async () => {
    const value = [
      { type: 'text', text: 'Taken.' },
      { type: 'media', data: 'iVBORw0KGgo=', mediaType: 'image/png' },
    ];
    const [message] = await messagesOf([results({ type: 'content', value })]);
    expect(message?.toolPayload).toMatchObject({ toolResult: 'Taken.' });
    expect(message?.parts).toStrictEqual([
      {
        type: 'media',
        media: { kind: 'image', mime: 'image/png', ref: 'data:image/png;base64,iVBORw0KGgo=' },
      },
    ]);
  });

  it('names a result by its call where it has no name itself', async () => {
    const result = { type: 'tool-result', toolCallId: 'c1', output: { type: 'text', value: 'x' } };
    const messages = await messagesOf([answer(call), { role: 'tool', content: [result] }]);
    expect(messages[1]?.toolPayload).toMatchObject({ toolName: 'ls' });
  });

  it.each([
    ['base64', 'iVBORw0KGgo=', 'data:image/png;base64,iVBORw0KGgo='],
    ['a data URL', 'data:image/gif;base64,AAAA', 'data:image/gif;base64,AAAA'],
    ['a URL', 'https://example.org/a.png', 'https://example.org/a.png'],
    ['a stored buffer', { type: 'Buffer', data: [1, 2] }, 'data:application/octet-stream;base64,AQI='],
    ['a stored typed array', { 0: 1, 1: 2 }, 'data:application/octet-stream;base64,AQI='],
  ])('reads an image given as %s', async (_name, image, ref) => {
    const [message] = await messagesOf([{ role: 'user', content: [{ type: 'image', image }] }]);
    expect(message?.parts).toMatchObject([{ media: { kind: 'image', ref } }]);
  });

  it('keeps a file whose bytes cannot be read for its provider, and counts it', async () => {
    const losses = new LossAccount();
    const file = { type: 'file', mediaType: 'application/pdf', data: { 0: 'x' } };
    const [message] = await messagesOf([{ role: 'user', content: [file] }], losses);
    expect(message?.providerItems).toMatchObject([{ item: file }]);
    expect(losses.report().approximated).toMatchObject([{ count: 1, places: ['messages/0'] }]);
  });

  it('keeps signed reasoning and says whose it is', async () => {
    const part = { type: 'reasoning', text: 'Hm.', providerOptions: { anthropic: { signature: 'c2ln' } } };
    const [message] = await messagesOf([answer(part, { type: 'text', text: 'A' })]);
    const origin = { provider: 'anthropic' };
    expect(message).toMatchObject({
      content: 'A',
      reasoning: [{ text: 'Hm.', signature: 'c2ln', origin }],
      origin,
    });
  });

  it('keeps integers that JavaScript would round', async () => {
    const losses = new LossAccount();
    const text =
      '[{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c1","toolName":"get","input":{"id":12345678901234567890}}]}]';
    for await (const item of aiSdkModelMessagesImporter.read(sourceOf(text), losses))
      expect(item).toMatchObject({
        message: { toolPayload: { toolCalls: [{ arguments: { id: '12345678901234567890' } }] } },
      });
    expect(losses.report().kept).toStrictEqual({ 'assistant message': 1, 'tool call': 1 });
  });

  it('keeps the text of arguments that did not parse', async () => {
    const [message] = await messagesOf([answer({ ...call, input: '{"dir' })]);
    expect(message?.toolPayload).toMatchObject({
      toolCalls: [{ arguments: '{"dir', argumentsText: '{"dir' }],
    });
  });

  it('reads calls and results of version 4', async () => {
    const old = { type: 'tool-call', toolCallId: 'c1', toolName: 'ls', args: { a: 1 } };
    const result = { type: 'tool-result', toolCallId: 'c1', toolName: 'ls', result: 'bad', isError: true };
    const messages = await messagesOf([answer(old), { role: 'tool', content: [result] }]);
    expect(messages).toMatchObject([
      { toolPayload: { toolCalls: [{ arguments: { a: 1 } }] } },
      { toolPayload: { toolResult: null, toolError: 'bad' } },
    ]);
  });

  it('puts the result of a tool that the provider ran after its answer', async () => {
    const result = {
      type: 'tool-result',
      toolCallId: 'c1',
      toolName: 'ls',
      output: { type: 'json', value: 1 },
    };
    const messages = await messagesOf([answer(call, result, { type: 'text', text: 'One.' })]);
    expect(messages.map(({ role }) => role)).toStrictEqual(['assistant', 'tool']);
  });

  it('counts approvals as dropped', async () => {
    const losses = new LossAccount();
    const request = { type: 'tool-approval-request', approvalId: 'a', toolCallId: 'c1' };
    const response = { type: 'tool-approval-response', approvalId: 'a', approved: true };
    await messagesOf([answer(call, request), { role: 'tool', content: [response] }], losses);
    expect(losses.report().dropped).toMatchObject([{ what: 'the approval of a tool call', count: 2 }]);
  });

  it('survives wrong types everywhere', async () => {
    const odd: unknown[] = [null, 1, 'x', [], {}, { toString: 1 }, [{ type: 'text' }], true];
    const types = ['text', 'reasoning', 'file', 'image', 'tool-call', 'tool-result', 'other', {}];
    const keys = ['toolCallId', 'toolName', 'input', 'args', 'output', 'result', 'text', 'data', 'image'];
    for (const value of odd) {
      const fields = Object.fromEntries([...keys, 'providerOptions'].map((key) => [key, value]));
      const output = { type: 'content', value: [value, { type: 'media', data: value }] };
      const denied = { type: 'execution-denied', reason: value };
      const content = [
        ...types.map((type) => ({ ...fields, type })),
        ...[output, denied].map((made) => ({ type: 'tool-result', output: made })),
        value,
      ];
      const messages = ['user', 'system', 'assistant', 'tool', value].map((role) => ({ role, content }));
      await expect(
        messagesOf([...messages, { role: 'user', content: value }, value]),
      ).resolves.not.toHaveLength(0);
    }
  });

  it('refuses a document without messages', async () => {
    await expect(messagesOf({ a: 1 })).rejects.toMatchObject({ code: 'TRANSCRIPT_INVALID' });
  });
});
