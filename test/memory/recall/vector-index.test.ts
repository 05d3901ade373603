import { describe, expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../../src/core/json.js';
import { openMemory } from '../../../src/memory/open-memory.js';
import { embedTexts } from '../../../src/memory/recall/embedder.js';
import { RecallIndex } from '../../../src/memory/recall/recall-index.js';
import { VectorFile } from '../../../src/memory/recall/vector-file.js';
import { VectorIndex } from '../../../src/memory/recall/vector-index.js';
import type { MemoryStore } from '../../../src/memory/store/memory-store.js';
import { AGENT, filePlace, memoryPlace, PLACES, type Place } from '../memory-kit.js';
import { type ToyEmbedder, toyEmbedder } from './toy-embedder.js';

const row = (seq: number, content: string): JsonObject => ({
  id: `rt_${seq}`,
  ts: 1_700_000_000 + seq * 60,
  turn_id: `turn_${String(seq).padStart(4, '0')}`,
  seq: 1,
  trace_type: 'user',
  source_event: 'Test',
  content,
});
const words = ['amber', 'birch', 'cedar', 'delta', 'ember', 'fjord', 'grove', 'haven', 'islet', 'jetty'];
const filler = (seq: number) =>
  row(seq, `${words[seq % 10]} ${words[(seq * 7 + 3) % 10]} ${words[(seq * 3 + 1) % 10]}`);
const fillers = (from: number, count: number) => Array.from({ length: count }, (_, at) => filler(from + at));
const never = new AbortController().signal;

async function open(place: Place): Promise<{ store: MemoryStore; close(): Promise<void> }> {
  const opened = await openMemory(place.storage(), AGENT, { compaction: null });
  return { store: opened.memory.store, close: opened.close };
}

const vectorsOf = (store: MemoryStore, embedder: ToyEmbedder, bytesMax?: number) => {
  const damaged: string[] = [];
  const onDamaged = (error: { code: string }) => damaged.push(error.code);
  const options = { embedder, onDamaged, ...(bytesMax === undefined ? {} : { bytesMax }) };
  return { index: new VectorIndex(store, options), damaged };
};

/** The text of the most similar passage; null if there is none. */
async function nearest(store: MemoryStore, index: VectorIndex, text: string): Promise<unknown> {
  const [question] = await embedTexts(toyEmbedder(index.model), [text], { timeoutMs: 60_000 });
  const [found] = await index.nearest(question!, 1);
  if (!found) return null;
  for await (const entry of (await store.journal('raw_traces')).read({ after: found.seq - 1, limit: 1 }))
    if (entry.kind === 'record') return entry.record['content'];
}

async function catchUp(store: MemoryStore, index: VectorIndex): Promise<void> {
  const words = new RecallIndex(store);
  await words.catchUp();
  await index.catchUp(words.recordFromEnd(index.passagesMax), never);
}

const files = async (store: MemoryStore) =>
  (await store.backend.documents.list(['agents', AGENT, 'recall'])).filter((name) => name.endsWith('.vec'));

/** An agent with vectors, one passage of which is about a dog. */
async function withVectors(place: Place) {
  const opened = await open(place);
  await opened.store.addTraces([...fillers(1, 30), row(31, 'my puppy sleeps'), ...fillers(32, 30)]);
  const embedder = toyEmbedder();
  const { index } = vectorsOf(opened.store, embedder);
  await index.catchUp(1, never);
  return { ...opened, embedder, index, file: ['agents', AGENT, 'recall', (await files(opened.store))[0]!] };
}

describe.each(PLACES)('the vectors on $name', ({ make }) => {
  it('find a passage by its meaning', async () => {
    const { store, index } = await withVectors(await make());
    expect(await nearest(store, index, 'the terrier')).toBe('my puppy sleeps');
  });

  it('are read by the next process, which makes only those that are missing', async () => {
    const place = await make();
    const { close } = await withVectors(place);
    await close();
    const { store } = await open(place);
    await store.addTraces([row(62, 'a dentist')]);
    const embedder = toyEmbedder();
    const { index } = vectorsOf(store, embedder);
    await index.catchUp(1, never);
    expect(embedder.calls.flat()).toEqual(['a dentist']);
    expect(await nearest(store, index, 'teeth')).toBe('a dentist');
    expect(await nearest(store, index, 'dog')).toBe('my puppy sleeps');
    expect(await files(store)).toHaveLength(1);
  });
});

describe('the vectors', () => {
  it.each([
    ['a new name', toyEmbedder({ name: 'toy-2' })],
    ['another dimension', toyEmbedder({ dimension: 32 })],
  ])('are made again for an embedder with %s', async (_what, embedder) => {
    const { store } = await withVectors(memoryPlace());
    const { index, damaged } = vectorsOf(store, embedder);
    await index.catchUp(1, never);
    expect(embedder.calls.flat()).toHaveLength(61);
    expect(await nearest(store, index, 'dog')).toBe('my puppy sleeps');
    expect(await files(store)).toHaveLength(1);
    expect(damaged).toEqual([]);
  });

  it.each([
    ['a changed byte', (bytes: Uint8Array) => bytes.map((byte, at) => (at === 300 ? byte ^ 1 : byte))],
    ['a lost end', (bytes: Uint8Array) => bytes.subarray(0, bytes.length - 9)],
    ['no content', () => new Uint8Array()],
  ])('of a file with %s are reported and made again', async (_what, change) => {
    const { store, file, embedder } = await withVectors(await filePlace());
    const { documents } = store.backend;
    await documents.writeBytes(file, change((await documents.readBytes(file))!));
    const { index, damaged } = vectorsOf(store, embedder);
    expect(await nearest(store, index, 'dog')).toBeNull();
    expect(damaged).toEqual(['DOCUMENT_DAMAGED']);
    await index.catchUp(1, never);
    expect(await nearest(store, index, 'dog')).toBe('my puppy sleeps');
  });

  it('of another line of history are made again', async () => {
    const { store, file } = await withVectors(await filePlace());
    const bytes = await store.backend.documents.readBytes(file);
    const other = await open(await filePlace());
    await other.store.addTraces([...fillers(1, 60), row(61, 'my puppy sleeps elsewhere')]);
    await other.store.backend.documents.writeBytes(file, bytes!);
    const embedder = toyEmbedder();
    const { index } = vectorsOf(other.store, embedder);
    expect(await nearest(other.store, index, 'dog')).toBeNull();
    await index.catchUp(1, never);
    expect(await nearest(other.store, index, 'dog')).toBe('my puppy sleeps elsewhere');
  });

  it('of another agent are not used', async () => {
    const { store, file, embedder } = await withVectors(memoryPlace());
    const bytes = (await store.backend.documents.readBytes(file))!;
    expect(VectorFile.read(bytes, AGENT, embedder)).toBeInstanceOf(VectorFile);
    expect(VectorFile.read(bytes, 'agent-b', embedder)).toBe('other');
  });

  it('cover the newest passages up to a limit, in few files', async () => {
    const { store } = await open(memoryPlace());
    const embedder = toyEmbedder({ dimension: 4_096 });
    const { index } = vectorsOf(store, embedder, 100 * 4_096);
    for (let from = 1; from <= 300; from += 50) {
      await store.addTraces(fillers(from, 50));
      await catchUp(store, index);
    }
    expect(index.count).toBeGreaterThanOrEqual(100);
    expect(index.count).toBeLessThan(200);
    const again = vectorsOf(store, embedder, 100 * 4_096).index;
    await catchUp(store, again);
    expect(embedder.calls.flat()).toHaveLength(300);
    expect(again.count).toBe(index.count);
  });

  it('are kept as far as they were made when the embedder fails in between', async () => {
    const { store } = await open(await filePlace());
    await store.addTraces(fillers(1, 200));
    const embedder = toyEmbedder();
    const make = embedder.embed.bind(embedder);
    embedder.embed = (texts, options) =>
      embedder.calls.length < 3 ? make(texts, options) : Promise.reject(new Error('the quota is used up'));
    const { index } = vectorsOf(store, embedder);
    await expect(index.catchUp(1, never)).rejects.toMatchObject({
      code: 'EMBEDDER_FAILED',
      details: { problem: 'the quota is used up' },
    });
    const made = index.count;
    expect(made).toBeGreaterThan(0);
    const later = toyEmbedder();
    await vectorsOf(store, later).index.catchUp(1, never);
    expect(later.calls.flat()).toHaveLength(200 - made);
  });

  it('are not made for an agent that is only read', async () => {
    const place = await filePlace();
    const { store, close } = await open(place);
    await store.addTraces(fillers(1, 5));
    await close();
    const reading = await openMemory(place.storage(), AGENT, { compaction: null, readOnly: true });
    onTestFinished(() => reading.close());
    const embedder = toyEmbedder();
    await vectorsOf(reading.memory.store, embedder).index.catchUp(1, never);
    expect(embedder.calls).toEqual([]);
    expect(await place.names()).not.toContain('recall');
  });
});

describe('an embedder', () => {
  it.each([
    ['too few vectors', async () => []],
    ['arrays that are no vectors', async (texts: readonly string[]) => texts.map(() => [1, 2])],
    ['vectors of another length', async (texts: readonly string[]) => texts.map(() => new Float32Array(3))],
    [
      'numbers that are none',
      async (texts: readonly string[]) => texts.map(() => new Float32Array(64).fill(Number.NaN)),
    ],
  ])('that gives %s has failed', async (_what, answer) => {
    const embedder = toyEmbedder();
    embedder.answer = answer;
    await expect(embedTexts(embedder, ['a'], { timeoutMs: 1_000 })).rejects.toMatchObject({
      code: 'EMBEDDER_FAILED',
    });
  });

  it('that hangs is told to stop, and is not waited for', async () => {
    const embedder = toyEmbedder();
    let told = false;
    embedder.answer = (_texts, signal) => {
      signal!.addEventListener('abort', () => {
        told = true;
      });
      return new Promise(() => {});
    };
    await expect(embedTexts(embedder, ['a'], { timeoutMs: 10 })).rejects.toMatchObject({
      code: 'EMBEDDER_FAILED',
      details: { why: 'it did not answer within 10 ms' },
    });
    expect(told).toBe(true);
  });

  it.each([
    ['name', { name: ' ' }],
    ['dimension', { dimension: 0.5 }],
    ['embed', { embed: undefined as never }],
  ])('without a usable %s is refused before the agent is opened', async (field, change) => {
    const place = await filePlace();
    const embedder = { ...toyEmbedder(), ...change };
    await expect(openMemory(place.storage(), AGENT, { recall: { embedder } })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      details: { field },
    });
    await expect(place.names()).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
