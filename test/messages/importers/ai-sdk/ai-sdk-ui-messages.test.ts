import { describe, expect, it } from 'vitest';
import { aiSdkModelMessagesImporter } from '../../../../src/messages/importers/ai-sdk/ai-sdk-model-messages.js';
import { uiMessagesImporter } from '../../../../src/messages/importers/ai-sdk/ai-sdk-ui-messages.js';
import { detectTranscript } from '../../../../src/messages/importers/detect-format.js';
import { LossAccount } from '../../../../src/messages/importers/loss-account.js';
import { sourceOf } from '../../../../src/messages/importers/source.js';
import type { TranscriptItem } from '../../../../src/messages/importers/transcript.js';
import type { Message } from '../../../../src/messages/message.js';

async function read(content: unknown, losses = new LossAccount()): Promise<TranscriptItem[]> {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const items: TranscriptItem[] = [];
  for await (const item of uiMessagesImporter.read(sourceOf(text, 'chat', 7), losses)) items.push(item);
  return items;
}

async function messagesOf(content: unknown, losses?: LossAccount): Promise<Message[]> {
  return (await read(content, losses)).flatMap((item) => (item.kind === 'message' ? [item.message] : []));
}

async function formatOf(content: unknown): Promise<string> {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const importers = [aiSdkModelMessagesImporter, uiMessagesImporter];
  try {
    return (await detectTranscript(sourceOf(text), importers)).importer.format;
  } catch {
    return 'none';
  }
}

function answer(...parts: unknown[]): unknown {
  return { id: 'm1', role: 'assistant', parts };
}

const step = { type: 'step-start' };
const user = { id: 'm0', role: 'user', parts: [{ type: 'text', text: 'Hi' }] };

function tool(fields: object, id = 'c1'): unknown {
  return { type: 'tool-weather', toolCallId: id, state: 'output-available', input: { city: 'B' }, ...fields };
}

describe('the detection of UI messages', () => {
  it('takes a list, an object with messages, and a message a line', async () => {
    const line = JSON.stringify(user);
    expect(await formatOf([user])).toBe('ai-sdk-ui');
    expect(await formatOf({ id: 'chat', messages: [user, answer(step)] })).toBe('ai-sdk-ui');
    expect(await formatOf(`${line}\n${line}\n`)).toBe('ai-sdk-ui');
  });

  it('leaves parts without a known type to others', async () => {
    expect(await formatOf([{ role: 'user', parts: [{ text: 'Hi' }] }])).toBe('none');
    expect(await formatOf([{ role: 'user', parts: [{ type: 'output_text', text: 'Hi' }] }])).toBe('none');
    expect(await formatOf([{ role: 'model', parts: [{ type: 'text', text: 'Hi' }] }])).toBe('none');
  });

  it('leaves messages with content to others', async () => {
    expect(await formatOf([{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }])).toBe('none');
  });
});

describe('the import of UI messages', () => {
  it('reads a list, an object and lines alike', async () => {
    const expected = [{ role: 'user', content: 'Hi' }];
    const line = JSON.stringify(user);
    expect(await messagesOf([user])).toStrictEqual(expected);
    expect(await messagesOf({ id: 'chat', messages: [user] })).toStrictEqual(expected);
    expect(await messagesOf(`${line}\n${line}`)).toStrictEqual([...expected, ...expected]);
  });

  it('makes a message of each step, with its results between', async () => {
    const messages = await messagesOf([
      answer(step, tool({ output: { degrees: 3 } }), step, { type: 'text', text: 'Three.' }),
    ]);
    expect(messages).toStrictEqual([
      {
        role: 'assistant',
        content: null,
        toolPayload: { toolCalls: [{ id: 'c1', name: 'weather', arguments: { city: 'B' } }] },
      },
      {
        role: 'tool',
        content: null,
        toolPayload: {
          toolCallId: 'c1',
          toolName: 'weather',
          toolResult: { degrees: 3 },
          toolError: null,
        },
      },
      { role: 'assistant', content: 'Three.' },
    ]);
  });

  it('ends an answer after its results where steps are not marked', async () => {
    const losses = new LossAccount();
    const messages = await messagesOf([answer(tool({ output: 1 }), { type: 'text', text: 'One.' })], losses);
    expect(messages.map(({ role }) => role)).toStrictEqual(['assistant', 'tool', 'assistant']);
    expect(losses.report().approximated[0]?.what).toBe('steps that were not marked');
  });

  it('keeps text before a call in one message with it', async () => {
    const [first] = await messagesOf([answer({ type: 'text', text: 'Wait.' }, tool({ output: 1 }))]);
    expect(first).toMatchObject({ content: 'Wait.', toolPayload: { toolCalls: [{ id: 'c1' }] } });
  });

  it('reads a tool whose name is not in the type', async () => {
    const [message] = await messagesOf([
      answer(tool({ type: 'dynamic-tool', toolName: 'search', output: 1 })),
    ]);
    expect(message).toMatchObject({ toolPayload: { toolCalls: [{ name: 'search' }] } });
  });

  it('reads a tool that is named as a part of version 4', async () => {
    const [message] = await messagesOf([answer(tool({ type: 'tool-invocation', output: 1 }))]);
    expect(message).toMatchObject({ toolPayload: { toolCalls: [{ id: 'c1', name: 'invocation' }] } });
  });

  it.each(['input-available', 'approval-requested', 'approval-responded', 'no-such-state'])(
    'leaves a call in the state %s open',
    async (state) => {
      const messages = await messagesOf([answer(tool({ state, approval: { id: 'a' } }))]);
      expect(messages).toHaveLength(1);
      expect(messages[0]?.status).toBeUndefined();
    },
  );

  it('takes an answer that was still streaming for one that was cut off', async () => {
    const cut = tool({ state: 'input-streaming', input: undefined, rawInput: '{"city":' });
    expect(await messagesOf([answer(cut)])).toMatchObject([
      {
        status: 'aborted',
        toolPayload: { toolCalls: [{ arguments: '{"city":', argumentsText: '{"city":' }] },
      },
    ]);
  });

  it('reads what failed and what was denied as errors', async () => {
    const messages = await messagesOf([
      answer(
        tool({ state: 'output-error', errorText: 'Timeout.' }, 'c1'),
        tool({ state: 'output-denied', approval: { id: 'a', approved: false, reason: 'Never.' } }, 'c2'),
      ),
    ]);
    expect(messages.slice(1).map(({ toolPayload }) => toolPayload)).toMatchObject([
      { toolCallId: 'c1', toolResult: null, toolError: 'Timeout.' },
      { toolCallId: 'c2', toolResult: null, toolError: 'Never.' },
    ]);
  });

  it('keeps signed reasoning where it stands between texts', async () => {
    const signed = {
      type: 'reasoning',
      text: 'Hm.',
      state: 'done',
      providerMetadata: { anthropic: { signature: 'c2ln' } },
    };
    const [message] = await messagesOf([
      answer({ type: 'text', text: 'A' }, signed, { type: 'text', text: 'B' }),
    ]);
    const origin = { provider: 'anthropic' };
    expect(message).toStrictEqual({
      role: 'assistant',
      content: null,
      parts: [
        { type: 'text', text: 'A' },
        { type: 'reasoning', reasoning: { text: 'Hm.', signature: 'c2ln', origin } },
        { type: 'text', text: 'B' },
      ],
      origin,
    });
  });

  it('puts the summaries of one OpenAI item together', async () => {
    const part = (text: string): object => ({
      type: 'reasoning',
      text,
      providerMetadata: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'Z0FB' } },
    });
    const [message] = await messagesOf([answer(part('One.'), part('Two.'), { type: 'text', text: 'A' })]);
    expect(message?.reasoning).toStrictEqual([
      { text: 'One.\n\nTwo.', encrypted: 'Z0FB', id: 'rs_1', origin: { provider: 'openai' } },
    ]);
  });

  it('reads the signature of a Gemini call, and keeps its options', async () => {
    const metadata = { google: { thoughtSignature: 'c2ln' } };
    const [message] = await messagesOf([
      answer(tool({ state: 'input-available', callProviderMetadata: metadata })),
    ]);
    expect(message?.toolPayload).toMatchObject({
      toolCalls: [{ signature: 'c2ln', extra: { provider_options: metadata } }],
    });
  });

  it('reads the files of the user', async () => {
    const file = {
      type: 'file',
      mediaType: 'image/png',
      filename: 'a.png',
      url: 'https://example.org/a.png',
    };
    const [message] = await messagesOf([{ role: 'user', parts: [{ type: 'text', text: 'See' }, file] }]);
    expect(message?.parts?.[1]).toStrictEqual({
      type: 'media',
      media: { kind: 'image', mime: 'image/png', ref: 'https://example.org/a.png', name: 'a.png' },
    });
  });

  it('takes times where the host stored some', async () => {
    const items = await read([
      { ...user, createdAt: '2026-01-02T00:00:00.500Z' },
      { ...user, metadata: { createdAt: 1500 } },
      { ...user, createdAt: 'soon' },
    ]);
    expect(items.map(({ ts }) => ts)).toStrictEqual([Date.UTC(2026, 0, 2) / 1000 + 0.5, 1.5, undefined]);
  });

  it('reads the parts of version 4', async () => {
    const invocation = { state: 'result', toolCallId: 'c1', toolName: 'weather', args: { a: 1 }, result: 2 };
    const messages = await messagesOf([
      answer(
        { type: 'reasoning', reasoning: 'Hm.' },
        { type: 'tool-invocation', toolInvocation: invocation },
      ),
    ]);
    expect(messages).toMatchObject([
      {
        reasoning: [{ text: 'Hm.' }],
        toolPayload: { toolCalls: [{ name: 'weather', arguments: { a: 1 } }] },
      },
      { toolPayload: { toolCallId: 'c1', toolResult: 2 } },
    ]);
  });

  it('accounts for what has no place in a conversation', async () => {
    const losses = new LossAccount();
    await messagesOf(
      {
        title: 'Chat',
        messages: [
          answer(
            { type: 'data-chart', data: 1 },
            { type: 'source-url', url: 'x' },
            { type: 'text', text: 'A' },
          ),
          { role: 'robot', parts: [] },
          null,
        ],
      },
      losses,
    );
    const report = losses.report();
    expect(report.records).toBe(3);
    expect(report.kept).toStrictEqual({ 'assistant message': 1 });
    expect(report.dropped.map(({ what, places }) => [what, places[0]])).toStrictEqual([
      ['field beside the messages', 'title'],
      ['the id of a UI message', 'messages/0'],
      ['a data part of the host', 'messages/0'],
      ['a source of an answer', 'messages/0'],
      ['a message of an unknown role', 'messages/1'],
      ['a message that is not an object', 'messages/2'],
    ]);
  });

  it('survives wrong types everywhere', async () => {
    const odd: unknown[] = [null, 1, 'x', [], {}, { toString: 1 }, [{ type: 'text' }], true];
    const names = ['text', 'reasoning', 'file', 'tool-x', 'dynamic-tool', 'tool-invocation'];
    const keys = ['toolCallId', 'toolName', 'input', 'output', 'errorText', 'approval', 'toolInvocation'];
    const states = ['output-available', 'output-error', 'output-denied', 'input-streaming', {}];
    for (const value of odd) {
      const fields = Object.fromEntries(
        [...keys, 'text', 'url', 'providerMetadata'].map((key) => [key, value]),
      );
      const parts = names.flatMap((type) => states.map((state) => ({ type, state, ...fields })));
      const messages = ['user', 'system', 'assistant', value].map((role) => ({
        ...{ id: value, role, createdAt: value, metadata: value },
        parts: [...parts, value],
      }));
      await expect(
        messagesOf([...messages, { role: 'user', parts: value }, value]),
      ).resolves.not.toHaveLength(0);
    }
  });

  it('refuses a document without messages', async () => {
    await expect(messagesOf({ title: 'Chat' })).rejects.toMatchObject({ code: 'TRANSCRIPT_INVALID' });
  });
});
