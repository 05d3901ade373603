import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { claudeCodeExporter } from '../../../src/messages/exporters/claude-code-exporter.js';
import { claudeCodeImporter } from '../../../src/messages/importers/claude-code/claude-code.js';
import { detectTranscript } from '../../../src/messages/importers/detect-format.js';
import { LossAccount } from '../../../src/messages/importers/loss-account.js';
import { sourceOf } from '../../../src/messages/importers/source.js';
import type { TranscriptItem } from '../../../src/messages/importers/transcript.js';
import { isBlankMessage, type Message, toolCallsOf, toolResultOf } from '../../../src/messages/message.js';
import { legalHistory } from '../arbitraries.js';

function textOf(messages: readonly Message[]): string {
  return [...claudeCodeExporter.write(messages, { agentId: 'coder', startedAtMs: 1_700_000_000_000 })].join(
    '',
  );
}

async function importOf(messages: readonly Message[]): Promise<TranscriptItem[]> {
  const items: TranscriptItem[] = [];
  for await (const item of claudeCodeImporter.read(sourceOf(textOf(messages)), new LossAccount()))
    items.push(item);
  return items;
}

/** The messages in the context at the end, without what the importer cannot know. */
async function contextOf(messages: readonly Message[]): Promise<Message[]> {
  let context: Message[] = [];
  for (const item of await importOf(messages)) {
    if (item.kind === 'message') context.push(item.message);
    else context = [...item.messages];
  }
  return context;
}

/** What has to survive whatever happens to the rest: each call, and each result with the place of its call. */
function exchangesOf(messages: readonly Message[]): unknown[] {
  const places = new Map<string, number>();
  return messages.flatMap((message, index): unknown[] => {
    const result = toolResultOf(message);
    if (result) {
      const { toolCallId, toolError, toolResult } = result;
      return [[places.get(toolCallId), toolError ?? textOfResult(toolResult)]];
    }
    for (const call of toolCallsOf(message)) places.set(call.id, index);
    return toolCallsOf(message).map((call) => call.name);
  });
}

/** The session holds results as text; no result and an empty one are the same there. */
function textOfResult(value: unknown): string {
  return typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value);
}

const origin = { provider: 'anthropic', model: 'claude-x' };
const image = { kind: 'image' as const, mime: 'image/png', ref: 'data:image/png;base64,AAAA' };

const conversation: Message[] = [
  { role: 'user', content: 'Look at both.' },
  {
    role: 'assistant',
    content: 'I look.',
    reasoning: [{ text: 'Hm.', signature: 'c2ln', origin }],
    toolPayload: {
      toolCalls: [
        { id: 'toolu_1', name: 'Read', arguments: { path: 'a' } },
        { id: 'toolu_2', name: 'Read', arguments: { path: 'b' } },
      ],
    },
    messageId: 'msg_1',
    origin,
  },
  {
    role: 'tool',
    content: null,
    toolPayload: { toolCallId: 'toolu_1', toolName: 'Read', toolResult: 'three lines', toolError: null },
  },
  {
    role: 'tool',
    content: null,
    toolPayload: { toolCallId: 'toolu_2', toolName: 'Read', toolResult: null, toolError: 'No such file.' },
  },
  { role: 'assistant', content: 'One is there.', messageId: 'msg_2', origin },
  {
    role: 'user',
    content: null,
    parts: [
      { type: 'text', text: 'And this?' },
      { type: 'media', media: image },
    ],
  },
  { role: 'assistant', content: 'A plan.', messageId: 'msg_3', origin },
];

describe('a session that was exported to Claude Code', () => {
  it('is recognised as one', async () => {
    const detected = await detectTranscript(sourceOf(textOf(conversation)), [claudeCodeImporter]);
    expect(detected.importer.format).toBe('claude-code');
  });

  it('is recognised from its first record alone', async () => {
    const detected = await detectTranscript(sourceOf(textOf(conversation.slice(0, 1))), [claudeCodeImporter]);
    expect(detected.importer.format).toBe('claude-code');
  });

  it('comes back from the importer as it was', async () => {
    expect(await contextOf(conversation)).toStrictEqual(conversation);
  });

  it('comes back with its summary as a compaction', async () => {
    const summary: Message = { role: 'user', content: 'Earlier: much.', kind: 'memory' };
    const messages: Message[] = [{ role: 'user', content: 'Old.' }, summary, ...conversation];
    expect((await importOf(messages)).some((item) => item.kind === 'compaction')).toBe(true);
    expect(await contextOf(messages)).toStrictEqual([summary, ...conversation]);
  });

  it('comes back with pinned messages beside its summary', async () => {
    const summary: Message = { role: 'user', content: 'Earlier: much.', kind: 'memory' };
    const messages: Message[] = [{ role: 'user', content: 'Never push.', pinned: true }, summary];
    expect(await contextOf(messages)).toStrictEqual([summary, { role: 'user', content: 'Never push.' }]);
  });

  it('brings back every call and result of a legal history in order', async () => {
    await fc.assert(
      fc.asyncProperty(legalHistory, async (messages) => {
        const said = messages.filter((message) => !isBlankMessage(message));
        expect(exchangesOf(await contextOf(messages))).toStrictEqual(exchangesOf(said));
      }),
    );
  });
});
