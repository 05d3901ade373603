/** What holds for the memory tools over every transport. */
import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/core/json.js';
import { entriesBelow } from '../../cli/cli-fixture.js';
import { AGENT_ID, type Caller, errorOf, result } from './mcp-kit.js';

export const MEMORY_TOOLS = [
  'forget',
  'memory_read',
  'memory_recent_turns',
  'memory_search',
  'pin',
  'read_result',
  'remember',
  'restore_report',
];

export function memoryContract(client: (caller?: Caller) => Promise<Client>, dirOf: () => string): void {
  describe('the tools of the memory', () => {
    it.each([
      ['a request', 'FRIDAY order', { speaker: 'user', text: 'Order 4711 ships on Friday.' }],
      ['an answer', 'noted', { speaker: 'assistant', text: 'Noted: it ships on Friday.' }],
      ['a call', '4711', { speaker: 'call', tool_name: 'weigh', text: 'order: 4711' }],
      ['the result of a tool', 'zebra blue', { speaker: 'tool', tool_name: 'weigh' }],
    ])('find %s, and say when it was and where', async (_what, query, found) => {
      const { results } = await result(await client(), 'memory_search', { query });
      expect(results).toContainEqual(
        expect.objectContaining({
          ...found,
          record: expect.any(Number),
          at: expect.stringMatching(/^\d{4}-.*Z$/),
          turn_id: expect.stringMatching(/^turn_\d{4}$/),
        }),
      );
    });

    it('find nothing for words that do not occur', async () => {
      const found = await result(await client(), 'memory_search', { query: 'unicorn giraffe' });
      expect(found).toEqual({ results: [], next_offset: null, searched_passages: expect.any(Number) });
      expect(found['searched_passages']).toBeGreaterThan(4);
    });

    it('find the same a page at a time', async () => {
      const own = await client();
      const whole = await result(own, 'memory_search', { query: 'order 4711' });
      const paged: JsonValue[] = [];
      for (let offset: JsonValue | undefined = 0; typeof offset === 'number'; ) {
        const page: JsonObject = await result(own, 'memory_search', {
          query: 'order 4711',
          limit: 1,
          offset,
        });
        paged.push(...(page['results'] as JsonValue[]));
        offset = page['next_offset'];
      }
      expect(paged.length).toBeGreaterThan(1);
      expect(paged).toEqual(whole['results']);
    });

    it('find only what one speaker said, or one tool was asked and gave', async () => {
      const own = await client();
      const speakersOf = async (filter: JsonObject) => {
        const { results } = await result(own, 'memory_search', { query: 'order 4711 zebra', ...filter });
        return new Set((results as JsonObject[]).map(({ speaker }) => speaker));
      };
      expect(await speakersOf({ speaker: 'user' })).toEqual(new Set(['user']));
      expect(await speakersOf({ tool: 'weigh' })).toEqual(new Set(['call', 'tool']));
    });

    it('read what stands around a result, and whole turns, in order', async () => {
      const own = await client();
      const { results } = await result(own, 'memory_search', { query: 'zebra', speaker: 'tool' });
      const [{ record }] = results as [{ record: number }];
      const around = await result(own, 'memory_read', { record, before: 2, after: 1 });
      const speakers = (read: JsonObject) =>
        (read['passages'] as JsonObject[]).map((passage) => passage['speaker']);
      expect(speakers(around)).toEqual(['assistant', 'call', 'tool', 'assistant']);
      const turn = await result(own, 'memory_read', { from_turn: 1 });
      expect(speakers(turn)).toEqual(['user', 'assistant']);
      expect(turn).toHaveProperty('next_record', null);
    });

    it('tell that memory_read needs a place', async () => {
      expect(await errorOf(await client(), 'memory_read')).toMatchObject({ code: 'INVALID_ARGUMENT' });
    });

    it('show the last turns, oldest first', async () => {
      const own = await client({ agent: AGENT_ID });
      const typesOf = (turn: unknown) =>
        (turn as { events: { type: string }[] }).events.map((event) => event.type);
      const { turns } = await result(own, 'memory_recent_turns');
      expect((turns as unknown[]).map(typesOf)).toEqual([
        ['user', 'assistant'],
        ['user', 'assistant', 'tool_call', 'tool_result', 'assistant'],
      ]);
      const last = await result(own, 'memory_recent_turns', { turns: 1 });
      expect(last['turns']).toEqual((turns as unknown[]).slice(1));
    });

    it('report what a restore would use', async () => {
      const report = await result(await client(), 'restore_report');
      expect(report).toHaveProperty('source');
    });

    it('keep facts of this agent, as its own and not as those of the user', async () => {
      const own = await client();
      const fact = await result(own, 'remember', { text: 'The crate is blue', key: 'crate' });
      expect(fact).toMatchObject({ text: 'The crate is blue', source: 'agent', pinned: false });
      const { id } = fact;
      expect(await result(own, 'pin', { id: 'the crate is blue' })).toMatchObject({ id, pinned: true });
      const newer = await result(own, 'remember', { text: 'The crate is green', key: 'crate' });
      expect(newer).toMatchObject({ source: 'agent' });
      expect(await result(own, 'forget', { id: newer['id']! })).toMatchObject({ gone: 'forgotten' });
      expect(await errorOf(own, 'forget', { id: 'sem_unknown' })).toMatchObject({ code: 'FACT_NOT_FOUND' });
    });

    it('write nothing to the folder of the agent', async () => {
      const own = await client();
      const before = await entriesBelow(`${dirOf()}/agents`);
      expect(before.size).toBeGreaterThan(2);
      await result(own, 'memory_search', { query: 'order' });
      await result(own, 'memory_read', { from_turn: 1 });
      await result(own, 'memory_recent_turns');
      await result(own, 'restore_report');
      expect(await entriesBelow(`${dirOf()}/agents`)).toEqual(before);
    });
  });
}
