/** What a host hands in is checked before it is durable: what is refused left no row. */
import { describe, expect, it } from 'vitest';
import type { MemoryManager } from '../../src/memory/memory-manager.js';
import { WorkingContextSnapshot } from '../../src/memory/working-context-snapshot.js';
import { WorkingContextSnapshotSerializer } from '../../src/memory/working-context-snapshot-serializer.js';
import { answer, ask, contextText, filePlace, openAgent } from './memory-kit.js';

type Ingest = (memory: MemoryManager) => Promise<unknown>;
const wrong = (value: unknown) => value as never;

const ODD: readonly [string, Ingest][] = [
  [
    'an error that is not text',
    (m) => m.ingestToolResults([{ ...answer('a'), error: wrong(new Error('x')) }, answer('b')], 'turn_0001'),
  ],
  [
    'a wrong result for a second turn',
    (m) =>
      m.ingestToolResults(
        [answer('a'), { ...answer('b'), turnId: 'turn_0002', error: wrong(5) }],
        'turn_0001',
      ),
  ],
  [
    'a tool name that is not text',
    (m) => m.ingestToolResults([{ ...answer('a'), toolName: wrong(7) }], 'turn_0001'),
  ],
  [
    'a call id that is not text',
    (m) => m.ingestToolResults([{ ...answer('a'), callId: wrong(7) }], 'turn_0001'),
  ],
  [
    'parts of a result that are none',
    (m) => m.ingestToolResults([{ ...answer('a'), parts: wrong([{ type: 'what' }]) }], 'turn_0001'),
  ],
  ['content that is a number', (m) => m.ingestAssistantResponse({ content: wrong(5) }, 'turn_0001')],
  [
    'content that is a list',
    (m) => m.ingestAssistantResponse({ content: wrong([{ type: 'text' }]) }, 'turn_0001'),
  ],
  [
    'a message id that is a number',
    (m) => m.ingestAssistantResponse({ content: 'x', messageId: wrong(5) }, 'turn_0001'),
  ],
  ['a turn id that is a number', (m) => m.ingestAssistantResponse({ content: 'x' }, wrong(5))],
  [
    'reasoning that is a text',
    (m) => m.ingestAssistantResponse({ content: 'x', reasoning: wrong('so') }, 'turn_0001'),
  ],
  [
    'reasoning without its fields',
    (m) => m.ingestAssistantResponse({ content: 'x', reasoning: wrong([{ text: 5 }]) }, 'turn_0001'),
  ],
  [
    'reasoning text that is none',
    (m) => m.ingestAssistantResponse({ content: 'x', reasoningContent: wrong({}) }, 'turn_0001'),
  ],
  [
    'parts that are none',
    (m) =>
      m.ingestAssistantResponse(
        { content: null, parts: wrong([{ type: 'text' }, { type: 'text', text: 'x' }]) },
        'turn_0001',
      ),
  ],
  [
    'an origin that is none',
    (m) => m.ingestAssistantResponse({ content: 'x', origin: wrong('openai') }, 'turn_0001'),
  ],
  [
    'a status of another kind',
    (m) => m.ingestAssistantResponse({ content: 'x', status: wrong('odd') }, 'turn_0001'),
  ],
  ['a user text that is a number', (m) => m.ingestUserMessage({ text: wrong(5) }, 'turn_0001')],
  [
    'user parts that are none',
    (m) => m.ingestUserMessage({ parts: wrong([{ type: 'text', text: 'x' }, 5]) }, 'turn_0001'),
  ],
];

describe('what is refused with MESSAGE_INVALID', () => {
  it.each(ODD)('leaves no row: %s', async (_, ingest) => {
    const place = await filePlace();
    const { memory } = await openAgent(place);
    await ask(memory, 'Go', 'a', 'b');
    const before = [await place.lines('raw_traces.jsonl'), contextText(memory)];
    await expect(ingest(memory)).rejects.toMatchObject({ code: 'MESSAGE_INVALID' });
    expect([await place.lines('raw_traces.jsonl'), contextText(memory)]).toStrictEqual(before);
  });
});

describe('a snapshot with what JSON does not hold', () => {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  it.each([[10n], [cycle], [new Map([['a', 1]])], [() => 1]])(
    'is refused by the serializer and by the store: %#',
    async (value) => {
      const message = { role: 'user' as const, content: 'x', extra: { value: wrong(value) } };
      const serialize = () =>
        WorkingContextSnapshotSerializer.serialize(new WorkingContextSnapshot([message]), { agent_id: 'a' });
      expect(serialize).toThrow(expect.objectContaining({ code: 'MESSAGE_INVALID' }));
      const place = await filePlace();
      const { memory } = await openAgent(place);
      const written = memory.snapshotStore.write(memory.agentId, {
        messages: [wrong({ role: 'user', content: value })],
      });
      await expect(written).rejects.toMatchObject({ code: 'MESSAGE_INVALID' });
      expect(await memory.snapshotStore.exists()).toBe(false);
    },
  );
});
