import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/json.js';
import { openMemory } from '../../../src/memory/open-memory.js';
import { RecallIndex } from '../../../src/memory/recall/recall-index.js';
import { searchAgent } from '../../../src/memory/recall/search-agent.js';
import { StoredShard } from '../../../src/memory/recall/shard-file.js';
import { SHARD_PASSAGES } from '../../../src/memory/recall/shard-store.js';
import type { MemoryStore } from '../../../src/memory/store/memory-store.js';
import { runParameters } from '../../property/seed.js';
import { AGENT, filePlace, memoryPlace, PLACES, type Place } from '../memory-kit.js';

const row = (seq: number, content: string, more: JsonObject = {}): JsonObject => ({
  id: `rt_${seq}`,
  ts: 1_700_000_000 + seq * 60,
  turn_id: `turn_${String(seq).padStart(4, '0')}`,
  seq: 1,
  trace_type: 'user',
  source_event: 'Test',
  content,
  ...more,
});

async function open(place: Place): Promise<{ store: MemoryStore; close(): Promise<void> }> {
  const opened = await openMemory(place.storage(), AGENT, { compaction: null });
  return { store: opened.memory.store, close: opened.close };
}

async function found(index: RecallIndex, text: string, limit = 5): Promise<string[]> {
  const texts: string[] = [];
  for await (const { passage } of index.hits({ text, limit })) texts.push(passage.text);
  return texts;
}

const filler = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => row(from + at, `filler number n${from + at}x about nothing`));

/** A stored shard with one passage that is about something, and a few passages more. */
async function storedZebra(): Promise<{ store: MemoryStore; file: readonly string[] }> {
  const { store } = await open(await filePlace());
  await store.addTraces([row(1, 'a zebra'), ...filler(2, SHARD_PASSAGES + 10)]);
  await new RecallIndex(store).catchUp();
  return { store, file: ['agents', AGENT, 'recall', (await shardFiles(store))[0]!] };
}

const shardFiles = (store: MemoryStore) => store.backend.documents.list(['agents', AGENT, 'recall']);

describe.each(PLACES)('the recall index on $name', ({ make }) => {
  it('finds what was said by its words, whatever their form', async () => {
    const { store } = await open(await make());
    await store.addTraces([row(1, 'We painted the sunrise'), row(2, 'The invoice is late')]);
    expect((await found(new RecallIndex(store), 'who paints sunrises?'))[0]).toBe('We painted the sunrise');
  });

  it('takes in what is said after it was opened', async () => {
    const { store } = await open(await make());
    const index = new RecallIndex(store);
    expect(await found(index, 'zebra')).toEqual([]);
    await store.addTraces([row(1, 'a zebra')]);
    expect(await found(index, 'zebra')).toEqual(['a zebra']);
  });

  it('is stored, and read on from where it ends by the next process', async () => {
    const place = await make();
    const first = await open(place);
    await first.store.addTraces([row(1, 'the oldest zebra'), ...filler(2, SHARD_PASSAGES + 10)]);
    await new RecallIndex(first.store).catchUp();
    await first.close();
    const { store } = await open(place);
    expect(await shardFiles(store)).toHaveLength(1);
    await store.addTraces([row(5_000, 'the newest zebra')]);
    const index = new RecallIndex(store);
    expect(new Set(await found(index, 'zebra', 2))).toEqual(
      new Set(['the oldest zebra', 'the newest zebra']),
    );
  });
});

describe('the recall index', () => {
  it('ranks a stored passage as it does one in memory', async () => {
    const rows = [...filler(1, SHARD_PASSAGES - 1), row(SHARD_PASSAGES, 'a zebra'), ...filler(3_000, 20)];
    const stored = await open(await filePlace());
    await stored.store.addTraces(rows);
    const index = new RecallIndex(stored.store);
    await index.catchUp();
    expect(index.storedBytes).toBeGreaterThan(0);
    const inMemory = await openMemory(stored.store.backend, AGENT, { readOnly: true, compaction: null });
    await stored.store.backend.documents.delete([
      'agents',
      AGENT,
      'recall',
      (await shardFiles(stored.store))[0]!,
    ]);
    const scores = async (of: RecallIndex) => {
      const all: [string, number][] = [];
      for await (const { passage, score } of of.hits({ text: 'zebra n1030x', limit: 9 }))
        all.push([passage.text, Number(score.toFixed(3))]);
      return all;
    };
    expect(await scores(new RecallIndex(inMemory.memory.store))).toEqual(await scores(index));
  });

  it.each([
    ['damaged', (bytes: Uint8Array) => bytes.map((byte, at) => (at === 200 ? byte ^ 1 : byte))],
    ['cut off', (bytes: Uint8Array) => bytes.subarray(0, bytes.length - 7)],
    ['empty', () => new Uint8Array()],
    ['no index at all', () => new TextEncoder().encode('{"recall":1}\nhello there')],
  ])('is built again where a file of it is %s', async (_what, change) => {
    const { store, file } = await storedZebra();
    const { documents } = store.backend;
    const changed = change((await documents.readBytes(file))!);
    expect(await StoredShard.read(changed, AGENT)).toBeNull();
    await documents.writeBytes(file, changed);
    expect(await found(new RecallIndex(store), 'zebra', 1)).toEqual(['a zebra']);
  });

  it('of another line of history is thrown away', async () => {
    const { store, file } = await storedZebra();
    const bytes = await store.backend.documents.readBytes(file);
    const other = await open(await filePlace());
    await other.store.addTraces([row(1, 'a giraffe'), ...filler(2, SHARD_PASSAGES + 10)]);
    await other.store.backend.documents.writeBytes(file, bytes!);
    const index = new RecallIndex(other.store);
    expect(await found(index, 'zebra', 1)).toEqual([]);
    expect(await found(index, 'giraffe', 1)).toEqual(['a giraffe']);
  });

  it('becomes few files: eight of one size are merged, and nothing is lost', async () => {
    const { store } = await open(memoryPlace());
    const index = new RecallIndex(store);
    for (let part = 0; part < 9; part += 1) {
      const from = part * SHARD_PASSAGES + 1;
      await store.addTraces([row(from, `zebra${part} here`), ...filler(from + 1, SHARD_PASSAGES - 1)]);
      await index.catchUp();
    }
    expect((await shardFiles(store)).length).toBeLessThanOrEqual(2);
    const again = new RecallIndex(store);
    for (let part = 0; part < 9; part += 1)
      expect(await found(again, `zebra${part}`, 1)).toEqual([`zebra${part} here`]);
    expect(again.count).toBe(index.count);
  });

  it('of an agent that is only read is not written', async () => {
    const place = await filePlace();
    const { store, close } = await open(place);
    await store.addTraces([row(1, 'a zebra'), ...filler(2, SHARD_PASSAGES + 10)]);
    await close();
    const page = await searchAgent(place.storage(), AGENT, { text: 'zebra', nowMs: 0 });
    expect(page.hits[0]?.passage.text).toBe('a zebra');
    expect(await place.names()).not.toContain('recall');
  });

  it('finds what a summary that came in from elsewhere says', async () => {
    const { store } = await open(memoryPlace());
    const messages = [{ role: 'user', content: 'the zebra plan', kind: 'memory' }];
    const base = {
      boundary: 'base',
      reason: 'x',
      epoch_id: 1,
      last_compaction_ts: 1,
      last_turn: 0,
      messages,
    };
    await store.addTraces([row(1, '', { ...base, trace_type: 'boundary', turn_id: '' })]);
    expect(await found(new RecallIndex(store), 'zebra plan', 1)).toEqual(['the zebra plan']);
  });

  it('puts a passage of the time that is asked for first', async () => {
    const { store } = await open(memoryPlace());
    await store.addTraces([row(1, 'lunch was soup'), ...filler(2, 40), row(50, 'lunch was rice')]);
    const index = new RecallIndex(store);
    const at = 1_700_000_000 + 60;
    const texts: string[] = [];
    for await (const { passage } of index.hits({
      text: 'lunch',
      limit: 1,
      times: [{ from: at, to: at + 1 }],
    }))
      texts.push(passage.text);
    expect(texts).toEqual(['lunch was soup']);
  });

  it('finds what stands beside the words that are asked for', async () => {
    const { store } = await open(memoryPlace());
    await store.addTraces([...filler(1, 20), row(21, 'What is your dog called?'), row(22, 'Rex')]);
    expect(await found(new RecallIndex(store), 'dog', 2)).toEqual(['What is your dog called?', 'Rex']);
  });

  it('of another agent is not used', async () => {
    const { store, file } = await storedZebra();
    const bytes = await store.backend.documents.readBytes(file);
    expect(await StoredShard.read(bytes!, AGENT)).not.toBeNull();
    expect(await StoredShard.read(bytes!, 'agent-b')).toBeNull();
  });

  it('prefers the newer of two that say the same', async () => {
    const { store } = await open(memoryPlace());
    await store.addTraces([row(1, 'the code is blue'), ...filler(2, 30), row(40, 'the code is green')]);
    expect((await found(new RecallIndex(store), 'code', 1))[0]).toBe('the code is green');
  });

  it('finds every passage by its own words, whatever they are, stored or not', async () => {
    const { numRuns, seed } = runParameters('recall index', 12);
    const word = fc.string({
      unit: fc.constantFrom(...'abcdefghiéß東京🎉_-./A1'),
      minLength: 1,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(word, { minLength: 1, maxLength: 8 }), { maxLength: 30 }),
        async (texts) => {
          const { store } = await open(memoryPlace());
          const rows = texts.map((words, at) => row(at + 1, `${words.join(' ')} mark${at}end`));
          if (rows.length > 0) await store.addTraces(rows);
          const index = new RecallIndex(store);
          for (const at of texts.keys())
            expect((await found(index, `mark${at}end`, 1))[0]).toContain(`mark${at}end`);
        },
      ),
      { numRuns, seed },
    );
  });
});
