import { convertToModelMessages, type UIMessage, validateUIMessages } from 'ai';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { uiMessageExporter } from '../../../src/messages/exporters/ui-message-exporter.js';
import { uiMessagesImporter } from '../../../src/messages/importers/ai-sdk/ai-sdk-ui-messages.js';
import { LossAccount } from '../../../src/messages/importers/loss-account.js';
import { sourceOf } from '../../../src/messages/importers/source.js';
import { type Message, toolCallsOf, toolResultOf } from '../../../src/messages/message.js';
import { legalHistory } from '../arbitraries.js';

const DIGEST = `sha256:${'0'.repeat(64)}`;
const options = { agentId: 'coder', artifacts: new Map([[DIGEST, Buffer.from('png')]]) };

function textOf(messages: readonly Message[]): string {
  return [...uiMessageExporter.write(messages, options)].join('');
}

function write(...messages: readonly Message[]): UIMessage[] {
  return JSON.parse(textOf(messages)) as UIMessage[];
}

async function importOf(text: string): Promise<Message[]> {
  const messages: Message[] = [];
  for await (const item of uiMessagesImporter.read(sourceOf(text), new LossAccount()))
    if (item.kind === 'message') messages.push(item.message);
  return messages;
}

function callOf(id: string, name = 'read'): Message {
  return {
    role: 'assistant',
    content: null,
    toolPayload: { toolCalls: [{ id, name, arguments: { path: id } }] },
  };
}

function resultOf(id: string, toolResult: unknown, toolError: string | null = null): Message {
  return {
    role: 'tool',
    content: null,
    toolPayload: { toolCallId: id, toolName: 'read', toolResult: toolResult as string, toolError },
  };
}

/** What of a message has to survive whatever happens to the rest of it. */
function exchangeOf(message: Message): unknown[] {
  const result = toolResultOf(message);
  if (result) return [[result.toolCallId, result.toolError ?? result.toolResult]];
  return toolCallsOf(message).map((call) => [call.id, call.name]);
}

const conversation: Message[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Look at both.' },
  {
    role: 'assistant',
    content: 'I look.',
    reasoning: [{ text: 'Hm.', signature: 'c2ln', origin: { provider: 'anthropic' } }],
    toolPayload: {
      toolCalls: [
        { id: 'c1', name: 'read', arguments: { path: 'a' } },
        { id: 'c2', name: 'read', arguments: { path: 'b' } },
      ],
    },
    origin: { provider: 'anthropic' },
  },
  resultOf('c1', { lines: 3 }),
  resultOf('c2', null, 'No such file.'),
  { role: 'assistant', content: 'One is there.' },
  {
    role: 'user',
    content: null,
    parts: [
      { type: 'text', text: 'And this?' },
      {
        type: 'media',
        media: { kind: 'image', mime: 'image/png', ref: 'data:image/png;base64,AAAA', name: 'p.png' },
      },
    ],
  },
  { role: 'assistant', content: 'A plan', status: 'aborted' },
];

describe('the export to AI SDK UI messages', () => {
  it('gives one assistant message for a turn, with a step for each answer', () => {
    const messages = write(...conversation);
    expect(messages.map((message) => message.role)).toStrictEqual([
      'system',
      'user',
      'assistant',
      'user',
      'assistant',
    ]);
    expect(messages[2]?.parts.map((part) => part.type)).toStrictEqual([
      'step-start',
      'reasoning',
      'text',
      'tool-read',
      'tool-read',
      'step-start',
      'text',
    ]);
  });

  it('is valid for the SDK', async () => {
    await expect(validateUIMessages({ messages: write(...conversation) })).resolves.toHaveLength(5);
  });

  it('becomes the same calls and results as model messages', async () => {
    const model = await convertToModelMessages(write(...conversation));
    expect(model.map((message) => message.role)).toStrictEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
      'assistant',
    ]);
    expect(model[3]?.content).toMatchObject([
      { toolCallId: 'c1', output: { type: 'json', value: { lines: 3 } } },
      { toolCallId: 'c2', output: { type: 'error-text', value: 'No such file.' } },
    ]);
  });

  it('comes back from the importer as it was', async () => {
    expect(await importOf(textOf(conversation))).toStrictEqual(conversation);
  });

  it('brings back every call and result of a legal history in order', async () => {
    await fc.assert(
      fc.asyncProperty(legalHistory, async (messages) => {
        const back = await importOf(textOf(messages));
        expect(back.flatMap(exchangeOf)).toStrictEqual(messages.flatMap(exchangeOf));
      }),
    );
  });

  it('comes back with the signatures of Gemini and the encrypted reasoning of OpenAI', async () => {
    const google = { provider: 'google' };
    const openai = { provider: 'openai' };
    const messages: Message[] = [
      { role: 'user', content: 'Go' },
      {
        role: 'assistant',
        content: null,
        parts: [{ type: 'text', text: 'Signed', signature: 'dGV4dA==' }],
        reasoning: [{ text: 'Thought', signature: 'dGhvdWdodA==', origin: google }],
        origin: google,
      },
      { role: 'user', content: 'On' },
      {
        role: 'assistant',
        content: 'Done',
        reasoning: [{ text: null, encrypted: 'Z0FB', id: 'rs_1', origin: openai }],
        origin: openai,
      },
    ];
    expect(await importOf(textOf(messages))).toStrictEqual(messages);
  });

  it('gives the same bytes for the same messages', () => {
    expect(textOf(conversation)).toBe(textOf(structuredClone(conversation)));
  });

  it('gives equal messages different ids', () => {
    const ids = write({ role: 'user', content: 'Go' }, { role: 'user', content: 'Go' }).map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
  });

  it('leaves a call without a result open', () => {
    expect(write(callOf('c1'))[0]?.parts[1]).toMatchObject({
      state: 'input-available',
      input: { path: 'c1' },
    });
  });

  it('puts a result to the newest call with its id', () => {
    const parts = write(callOf('c1'), resultOf('c1', 'one'), callOf('c1'), resultOf('c1', 'two'))[0]?.parts;
    expect(parts?.map((part) => ('output' in part ? part.output : null))).toStrictEqual([
      null,
      'one',
      null,
      'two',
    ]);
  });

  it('gives a result without a call an empty one', () => {
    expect(write(resultOf('c9', 'late'))[0]?.parts[1]).toMatchObject({
      toolCallId: 'c9',
      input: {},
      output: 'late',
    });
  });

  it('puts the bytes of an artifact into the file', () => {
    const part = {
      type: 'media' as const,
      media: { kind: 'image' as const, mime: 'image/png', ref: DIGEST },
    };
    expect(write({ role: 'user', content: null, parts: [part] })[0]?.parts).toStrictEqual([
      { type: 'file', mediaType: 'image/png', url: `data:image/png;base64,${btoa('png')}` },
    ]);
  });

  it('says which artifact is missing', () => {
    const media = { kind: 'file' as const, ref: `sha256:${'1'.repeat(64)}`, name: 'a.pdf' };
    expect(write({ role: 'user', content: null, parts: [{ type: 'media', media }] })[0]?.parts).toStrictEqual(
      [{ type: 'text', text: '[file not available: a.pdf]' }],
    );
  });

  it('says in the result that there was an image', () => {
    const media = { kind: 'image' as const, ref: 'data:image/png;base64,AAAA' };
    const shot: Message = { ...resultOf('c1', 'Taken.'), parts: [{ type: 'media', media }] };
    expect(write(callOf('c1'), shot)[0]?.parts[1]).toMatchObject({ output: 'Taken.\n[image]' });
  });

  it('writes an empty list for no messages', () => {
    expect(textOf([])).toBe('[]\n');
  });
});
