import { describe, expect, it } from 'vitest';
import type { MemoryEvents } from '../../../src/memory/memory-events.js';
import type { MemoryManager } from '../../../src/memory/memory-manager.js';
import { openMemory } from '../../../src/memory/open-memory.js';
import { MeaningSearch } from '../../../src/memory/recall/meaning-search.js';
import { RecallIndex } from '../../../src/memory/recall/recall-index.js';
import { searchAgent } from '../../../src/memory/recall/search-agent.js';
import { lookBackTools } from '../../../src/memory/tools/memory-tools.js';
import { textOf } from '../../../src/messages/message.js';
import { AGENT, contextText, filePlace, memoryPlace, openAgent, type Place, talk } from '../memory-kit.js';
import { type ToyEmbedder, toyEmbedder } from './toy-embedder.js';

const FACT = 'My dentist is Doctor Amsel in Linz.';
/** Has no word of the fact. */
const QUESTION = 'Which physician repairs teeth?';

const open = (place: Place, embedder?: ToyEmbedder) =>
  openAgent(place, {
    system: 'Be kind.',
    memory: {
      compaction: { inputBudgetTokens: 2_500 },
      recall: embedder ? { embedder, embedderTimeoutMs: 200 } : {},
    },
  });

const filler = (turn: number) => Array.from({ length: 24 }, (_, at) => `w${turn}x${at}`).join(' ');

/** The fact has left the context, and its vector is stored. */
async function remembering(place: Place, embedder: ToyEmbedder = toyEmbedder()): Promise<void> {
  const { memory, close } = await open(place, embedder);
  for (let turn = 0; turn < 20; turn += 1) {
    if (turn === 3) await talk(memory, FACT, 'I will remember.');
    await talk(memory, filler(turn), filler(1_000 + turn));
  }
  expect(contextText(memory)).not.toContain('Amsel');
  await close();
}

const ask = (memory: MemoryManager, question = QUESTION) =>
  memory.ingestUserMessage(question, memory.startTurn());

function recalled(memory: MemoryManager): string {
  const messages = memory.getWorkingContextMessages().filter(({ kind }) => kind === 'recall');
  return messages.map(textOf).join('\n');
}

function problemsOf(memory: MemoryManager): string[] {
  const problems: string[] = [];
  memory.events.on('vectors_failed', ({ step, error }) => problems.push(`${step}: ${error.code}`));
  return problems;
}

describe('a recall with an embedder', () => {
  it('finds what has no word of the request, and says why', async () => {
    const place = await filePlace();
    await remembering(place);
    const { memory } = await open(place, toyEmbedder());
    const told: MemoryEvents['recalled'][] = [];
    memory.events.on('recalled', (event) => told.push(event));
    await ask(memory);
    expect(recalled(memory)).toContain(FACT);
    const best = told[0]!.best.find(({ because }) => because === 'meaning');
    expect(best).toMatchObject({ turnId: 'turn_0004', speaker: 'user', words: [] });
  });

  it('does not find that by words alone', async () => {
    const place = memoryPlace();
    await remembering(place);
    const { memory } = await open(place);
    await ask(memory);
    expect(recalled(memory)).toBe('');
  });

  it('brings nothing for a request without a direction', async () => {
    const place = memoryPlace();
    await remembering(place);
    const { memory } = await open(place, toyEmbedder());
    await ask(memory, '12345 67890');
    expect(recalled(memory)).toBe('');
  });

  it('is there after a restore as it was before, whatever the embedder says then', async () => {
    const place = await filePlace();
    await remembering(place);
    const { memory } = await open(place, toyEmbedder());
    await ask(memory);
    const before = contextText(memory);
    expect(before).toContain('Amsel');
    const broken = toyEmbedder();
    broken.answer = () => Promise.reject(new Error('no such model'));
    for (const embedder of [undefined, broken, toyEmbedder({ name: 'other', dimension: 9 })])
      expect(contextText((await open(place, embedder)).memory)).toBe(before);
  });

  it.each([
    ['rejects', () => Promise.reject(new Error('no network'))],
    ['hangs', () => new Promise(() => {})],
    ['gives no vectors', async () => 'hello'],
  ])('ranks by words where the embedder %s, and an event says so', async (_what, answer) => {
    const place = memoryPlace();
    await remembering(place);
    const embedder = toyEmbedder();
    const { memory } = await open(place, embedder);
    const problems = problemsOf(memory);
    embedder.answer = answer;
    await ask(memory, 'Who is my dentist?');
    expect(recalled(memory)).toContain(FACT);
    expect(problems).toEqual(['question: EMBEDDER_FAILED']);
  });

  it('ranks by words where stored vectors are damaged, and the next turn makes them again', async () => {
    const place = await filePlace();
    await remembering(place);
    const embedder = toyEmbedder();
    const { memory, storage, close } = await open(place, embedder);
    const folder = ['agents', AGENT, 'recall'];
    const names = (await storage.documents.list(folder)).filter((name) => name.endsWith('.vec'));
    for (const name of names) await storage.documents.writeBytes([...folder, name], new Uint8Array(40));
    const problems = problemsOf(memory);
    await ask(memory, 'Who is my dentist?');
    expect(recalled(memory)).toContain(FACT);
    expect(problems).toEqual(['stored: DOCUMENT_DAMAGED']);
    await memory.ingestAssistantResponse({ content: 'Doctor Amsel.' }, 'turn_0022');
    await close();
    expect(embedder.calls.flat()).toContain(FACT);
  });

  it('goes on with a turn whose passages get no vectors, and an event says so', async () => {
    const place = memoryPlace();
    await remembering(place);
    const embedder = toyEmbedder();
    const { memory, close } = await open(place, embedder);
    const problems = problemsOf(memory);
    embedder.answer = () => Promise.reject(new Error('the quota is used up'));
    await talk(memory, 'Thanks.', 'You are welcome.');
    await close();
    expect(new Set(problems)).toEqual(new Set(['question: EMBEDDER_FAILED', 'passages: EMBEDDER_FAILED']));
  });
});

describe('the report of a recall', () => {
  it('names the passages, their words and scores, live and after a restore', async () => {
    const place = await filePlace();
    await remembering(place);
    const { memory } = await open(place);
    const told: MemoryEvents['recalled'][] = [];
    memory.events.on('recalled', (event) => told.push(event));
    await ask(memory, 'Who are my dentists in Linz?');
    const [event] = told;
    expect(event!.best[0]).toEqual({
      record: expect.any(Number),
      piece: 0,
      turnId: 'turn_0004',
      speaker: 'user',
      toolName: null,
      score: 1,
      words: ['dentists', 'linz'],
      because: 'words',
    });
    expect(event!.best.every(({ score }) => score > 0 && score <= 1)).toBe(true);
    const { report } = await open(place);
    const messageIndex = memory.getWorkingContextMessages().findIndex(({ kind }) => kind === 'recall');
    expect(report.recalls).toEqual([
      { turnId: event!.turnId, messageIndex, passages: event!.passages, best: event!.best },
    ]);
  });

  it('has at most twelve passages', async () => {
    const place = memoryPlace();
    const { memory } = await openAgent(place, {
      system: 'Be kind.',
      memory: { compaction: { inputBudgetTokens: 2_500 }, recall: { tokens: 900 } },
    });
    for (let turn = 0; turn < 16; turn += 1)
      await talk(memory, `The garden had ${turn} roses.`, filler(turn));
    for (let turn = 16; turn < 30; turn += 1) await talk(memory, filler(turn), filler(1_000 + turn));
    const told: MemoryEvents['recalled'][] = [];
    memory.events.on('recalled', (event) => told.push(event));
    await ask(memory, 'roses of the garden?');
    expect(told).toHaveLength(1);
    expect(told[0]!.passages).toBeGreaterThan(12);
    expect(told[0]!.best).toHaveLength(12);
  });
});

describe('a search with an embedder', () => {
  it('finds by meaning, in the library and in the tool of the model', async () => {
    const place = await filePlace();
    await remembering(place);
    const backend = place.storage();
    const embedder = toyEmbedder();
    const page = await searchAgent(backend, AGENT, { text: QUESTION, nowMs: 0, embedder });
    expect(page.hits[0]).toMatchObject({ passage: { text: FACT }, isNear: true });
    expect(page.embedderError).toBeNull();
    const tool = lookBackTools({ backend, agentId: AGENT, embedder }).find(
      ({ name }) => name === 'memory_search',
    );
    const signal = new AbortController().signal;
    const context = { callId: 'c', turnId: 't', idempotencyKey: 'k', signal };
    expect(await tool!.execute({ query: QUESTION, limit: 1 }, context)).toMatchObject({
      results: [{ text: FACT }],
    });
  });

  it('keeps to its filters', async () => {
    const place = memoryPlace();
    await remembering(place);
    const query = { text: QUESTION, nowMs: 0, embedder: toyEmbedder(), speakers: ['assistant'] as const };
    const page = await searchAgent(place.storage(), AGENT, query);
    expect(page.hits.filter(({ passage }) => passage.speaker !== 'assistant')).toEqual([]);
  });

  it('answers by words where the embedder fails, and says why', async () => {
    const place = memoryPlace();
    await remembering(place);
    const embedder = toyEmbedder();
    embedder.answer = () => Promise.reject(new Error('no network'));
    const page = await searchAgent(place.storage(), AGENT, { text: 'dentist', nowMs: 0, embedder });
    expect(page.hits[0]!.passage.text).toBe(FACT);
    expect(page.embedderError).toMatchObject({ code: 'EMBEDDER_FAILED' });
  });
});

describe('closing an agent', () => {
  it('does not wait for an embedder that hangs', async () => {
    const place = memoryPlace();
    await remembering(place);
    const { memory, close } = await openMemory(place.storage(), AGENT, { compaction: null });
    const embedder = toyEmbedder({ name: 'slow' });
    embedder.answer = () => new Promise(() => {});
    const search = new MeaningSearch(memory.store, { embedder, closeMs: 20 }, () => {});
    search.refresh(new RecallIndex(memory.store));
    await search.settled();
    expect(embedder.calls.length).toBeLessThanOrEqual(1);
    await close();
  });
});
