/** What is exported in our own format and imported again is what it was. */
import { expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/json.js';
import { importTranscript } from '../../../src/memory/importing/import-transcript.js';
import { rekindleExporter } from '../../../src/messages/exporters/rekindle-exporter.js';
import { sourceOf } from '../../../src/messages/importers/source.js';
import type { Message } from '../../../src/messages/message.js';
import { messageToJson } from '../../../src/messages/message-serializer.js';
import { memoryPlace, openAgent } from '../memory-kit.js';

const ORIGIN = { provider: 'anthropic', model: 'model-a' };
const calls = (id: string) => ({ toolPayload: { toolCalls: [{ id, name: 'ls', arguments: {} }] } });
const result = (toolCallId: string): Message => ({
  role: 'tool',
  content: null,
  toolPayload: { toolCallId, toolName: 'ls', toolResult: 'out', toolError: null },
});

const LIST: readonly Message[] = [
  { role: 'system', content: 'Be kind.' },
  { role: 'user', content: 'go', pinned: true },
  { role: 'assistant', content: null, origin: ORIGIN, messageId: 'm1', ...calls('a') },
  result('a'),
  { role: 'assistant', content: null, reasoning: [{ text: 'Hm.' }], messageId: 'm2', ...calls('b') },
  result('b'),
  {
    role: 'assistant',
    content: null,
    providerItems: [{ origin: ORIGIN, item: { type: 'x' } }],
    messageId: 'm3',
  },
  { role: 'user', content: null, parts: [{ type: 'text', text: 'Look.' }] },
  { role: 'assistant', content: 'Done.', origin: ORIGIN, messageId: 'm4' },
];

/** Without turns, which an import counts anew. */
const plain = (messages: readonly Message[]): JsonObject[] =>
  messages.map(({ turnId: _, ...message }) => messageToJson(message));

/** As an import marks them: a prompt is the host's own, and a result is its tool's. */
const imported = (messages: readonly Message[]): Message[] =>
  messages.map((message) =>
    message.role === 'system' || message.role === 'tool' ? message : { ...message, imported: true },
  );

it('origins of answers that only call, marks, and content that is not there come back', async () => {
  const place = memoryPlace();
  const text = [...rekindleExporter.write(LIST, { agentId: 'agent-a' })].join('');
  await importTranscript(place.storage(), 'agent-a', sourceOf(text));
  const { memory, report } = await openAgent(place);
  expect(plain(memory.getWorkingContextMessages())).toStrictEqual(plain(imported(LIST)));
  expect(report.repairs).toStrictEqual([]);
});

it('a prompt with text in both of its fields keeps all of it', async () => {
  const place = memoryPlace();
  const prompt = { role: 'system', content: 'Be kind. ', parts: [{ type: 'text', text: 'Be brief.' }] };
  const text = JSON.stringify({
    schema_version: 1,
    agent_id: 'a',
    messages: [prompt, { role: 'user', content: 'Hi.' }],
  });
  await importTranscript(place.storage(), 'agent-a', sourceOf(text));
  const { memory } = await openAgent(place);
  expect(memory.getWorkingContextMessages()[0]).toMatchObject({
    role: 'system',
    content: 'Be kind. Be brief.',
  });
});
