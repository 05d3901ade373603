import { describe, expect, it } from 'vitest';
import type { TokenCounter } from '../../../src/memory/compaction/token-counter.js';
import type { MemoryManager } from '../../../src/memory/memory-manager.js';
import { lookBackTools } from '../../../src/memory/tools/memory-tools.js';
import { checkHistory } from '../../../src/messages/legality/history.js';
import { textOf } from '../../../src/messages/message.js';
import { checkRequest, project } from '../../../src/messages/projections/project.js';
import { TARGETS } from '../../../src/messages/projections/targets.js';
import {
  AGENT,
  byteCounter,
  contextText,
  filePlace,
  memoryPlace,
  openAgent,
  PLACES,
  type Place,
  talk,
} from '../memory-kit.js';

const BUDGET = 2_500;
const open = (place: Place, recall: { tokens?: number } | null = {}) =>
  openAgent(place, { system: 'Be kind.', memory: { compaction: { inputBudgetTokens: BUDGET }, recall } });

/** Words that occur nowhere else: nothing comes back for them. */
const filler = (turn: number) => Array.from({ length: 24 }, (_, at) => `w${turn}x${at}`).join(' ');

/** Enough talk for several compactions, with something said in between that the summaries have no room for. */
async function talkLong(memory: MemoryManager): Promise<void> {
  for (let turn = 0; turn < 40; turn += 1) {
    if (turn === 6) await talk(memory, 'My dentist is Doctor Amsel in Linz.', 'I will remember.');
    if (turn % 9 === 5) await talk(memory, `The garden had ${turn} roses.`, `${turn} roses, fine.`);
    await talk(memory, filler(turn), filler(1_000 + turn));
  }
}

interface Page {
  readonly results: readonly { readonly record: number }[];
  readonly next_offset: number | null;
}

const recalls = (memory: MemoryManager) =>
  memory.getWorkingContextMessages().filter(({ kind }) => kind === 'recall');

const callContext = { callId: 'c', turnId: 't', idempotencyKey: 'k', signal: new AbortController().signal };

describe.each(PLACES)('what has left the context, on $name,', ({ make }) => {
  it('comes back before the request that it fits', async () => {
    const { memory } = await open(await make());
    await talkLong(memory);
    expect(contextText(memory)).not.toContain('Amsel');
    await memory.ingestUserMessage('Who is my dentist?', memory.startTurn());
    const messages = memory.getWorkingContextMessages();
    expect(messages.at(-1)).toMatchObject({ role: 'user', content: 'Who is my dentist?' });
    expect(messages.at(-2)).toMatchObject({ role: 'user', kind: 'recall' });
    expect(textOf(messages.at(-2)!)).toContain('user> My dentist is Doctor Amsel in Linz.');
  });

  it('is there after a restore as it was before', async () => {
    const place = await make();
    const { memory } = await open(place);
    await talkLong(memory);
    await memory.ingestUserMessage('Who is my dentist?', memory.startTurn());
    const before = contextText(memory);
    const again = await open(place);
    expect(contextText(again.memory)).toBe(before);
    expect(again.report.repairs).toEqual([]);
  });
});

describe('a recall', () => {
  it('is not there while nothing has left the context', async () => {
    const { memory } = await open(memoryPlace());
    await talk(memory, 'My dentist is Doctor Amsel.', 'I will remember.');
    await memory.ingestUserMessage('Who is my dentist?', memory.startTurn());
    expect(recalls(memory)).toEqual([]);
  });

  it('is not there for a request that nothing fits', async () => {
    const { memory } = await open(memoryPlace());
    await talkLong(memory);
    const before = recalls(memory).length;
    await memory.ingestUserMessage('xylophone quasar', memory.startTurn());
    expect(recalls(memory)).toHaveLength(before);
  });

  it('has nothing that is in the context already', async () => {
    const { memory } = await open(memoryPlace(), { tokens: 1_000 });
    await talkLong(memory);
    await memory.ingestUserMessage('How many roses did the garden have?', memory.startTurn());
    const [recall] = recalls(memory);
    const others = memory
      .getWorkingContextMessages()
      .filter(({ kind }) => kind === undefined)
      .map(textOf);
    const said = [...textOf(recall!).matchAll(/> (The garden had .*)/g)];
    expect(said.length).toBeGreaterThan(0);
    for (const [, text] of said) expect(others).not.toContain(text);
  });

  it('has nothing of the turns that the compaction left', async () => {
    const { memory } = await open(memoryPlace(), { tokens: 600 });
    await talkLong(memory);
    await talk(memory, 'The garden had 99 roses.', '99 roses, fine.');
    await memory.ingestUserMessage('How many roses did the garden have?', memory.startTurn());
    expect(contextText(memory)).toContain('The garden had 99 roses.');
    const recalled = recalls(memory).map(textOf).join('\n');
    expect(recalled).toContain('The garden had');
    expect(recalled).not.toContain('99 roses');
  });

  it('is not there when the host wants none', async () => {
    const { memory } = await open(memoryPlace(), null);
    await talkLong(memory);
    await memory.ingestUserMessage('Who is my dentist?', memory.startTurn());
    expect(recalls(memory)).toEqual([]);
  });

  it('takes at most what the host allows', async () => {
    const { memory } = await open(memoryPlace(), { tokens: 100 });
    await talkLong(memory);
    const told: number[] = [];
    memory.events.on('recalled', ({ tokens }) => told.push(tokens));
    await memory.ingestUserMessage(
      'Who is my dentist, and what about the roses of the garden?',
      memory.startTurn(),
    );
    expect(told).toHaveLength(1);
    expect(told[0]).toBeLessThanOrEqual(100);
  });

  it('of texts with more tokens than usual is counted once, after the first', async () => {
    let counts = 0;
    const tokenCounter: TokenCounter = {
      countMessages: (messages) => {
        if (messages.length === 1 && messages[0]!.kind === 'recall') counts += 1;
        return byteCounter.countMessages(messages);
      },
    };
    const compaction = { inputBudgetTokens: BUDGET * 4 };
    const { memory } = await openAgent(memoryPlace(), { system: 'p', memory: { compaction, tokenCounter } });
    await talkLong(memory);
    const ask = (text: string) => memory.ingestUserMessage(text, memory.startTurn());
    await ask('What about the roses of the garden?');
    expect(recalls(memory)).not.toEqual([]);
    await memory.ingestAssistantResponse({ content: 'They are fine.' }, memory.startTurn());
    counts = 0;
    await ask('And who is the dentist of the garden?');
    expect(counts).toBe(1);
  });

  it.each([
    [15, ['user> The garden.']],
    [45, []],
  ])(
    'looks past the long passages of %i turns for one that fits, if they are at most 64',
    async (turns, expected) => {
      const { memory } = await open(memoryPlace(), { tokens: 150 });
      const words = ['garden', 'roses', 'tulips', ...Array.from({ length: 97 }, (_, at) => `word${at}`)];
      /** One passage with the same words in another order: it ranks above the short one, and is longer than the room. */
      const long = (turn: number) => [...words.slice(turn), ...words.slice(0, turn)].join(' ').slice(0, 590);
      await talk(memory, 'The garden.', long(0));
      for (let turn = 1; turn <= turns; turn += 1) await talk(memory, long(2 * turn), long(2 * turn + 1));
      await memory.ingestUserMessage('garden roses tulips', memory.startTurn());
      const lines = recalls(memory).flatMap((recall) => textOf(recall).split('\n'));
      expect(lines.filter((line) => line.includes('> '))).toEqual(expected);
    },
  );

  it('keeps the list legal for every provider', async () => {
    const { memory } = await open(memoryPlace());
    await talkLong(memory);
    await memory.ingestUserMessage('Who is my dentist?', memory.startTurn());
    const messages = memory.getWorkingContextMessages();
    expect(checkHistory(messages)).toEqual([]);
    for (const target of TARGETS) expect(checkRequest(target, project(target, messages).request)).toEqual([]);
  });

  it('changes nothing that stands before it', async () => {
    const { memory } = await open(memoryPlace());
    await talkLong(memory);
    const before = memory.getWorkingContextMessages();
    await memory.ingestUserMessage('Who is my dentist?', memory.startTurn());
    expect(memory.getWorkingContextMessages().slice(0, before.length)).toEqual(before);
  });

  it('goes first when a later turn needs room', async () => {
    const { memory } = await open(memoryPlace());
    await talkLong(memory);
    await talk(memory, 'Who is my dentist?', 'Doctor Amsel.');
    expect(recalls(memory).length).toBeGreaterThan(0);
    await talk(memory, 'Thanks.', 'You are welcome.');
    await memory.fit({ inputBudgetTokens: 1_800 });
    expect(recalls(memory)).toEqual([]);
  });

  it('stays through a compaction in the middle of its turn', async () => {
    const { memory } = await open(memoryPlace());
    await talkLong(memory);
    await memory.ingestUserMessage('Who is my dentist?', memory.startTurn());
    await memory.fit({ inputBudgetTokens: 1_800 });
    expect(textOf(recalls(memory)[0]!)).toContain('Amsel');
  });

  it('fails without harm: the request is recorded, and an event tells', async () => {
    const { memory } = await open(await filePlace());
    await talkLong(memory);
    const failed: string[] = [];
    memory.events.on('recall_failed', ({ error }) => failed.push(error.code));
    const journal = memory.store.journal.bind(memory.store);
    memory.store.journal = async (name) => {
      const opened = await journal(name);
      return Object.assign(Object.create(opened), {
        append: opened.append.bind(opened),
        read: () => {
          throw new Error('the disk is away');
        },
      });
    };
    await memory.ingestUserMessage('Who is my dentist?', memory.startTurn());
    expect(memory.getWorkingContextMessages().at(-1)).toMatchObject({ content: 'Who is my dentist?' });
    expect(failed).toEqual(['STORAGE_FAILED']);
  });
});

describe('the tools that look back', () => {
  it('find what left the context, and read around it', async () => {
    const place = memoryPlace();
    const { memory } = await open(place);
    await talkLong(memory);
    const [, search, read] = lookBackTools({ backend: memory.store.backend, agentId: AGENT });
    const page = await search!.execute({ query: 'dentist', limit: 1 }, callContext);
    const [hit] = (page as { results: { record: number; text: string }[] }).results;
    expect(hit).toMatchObject({
      text: 'My dentist is Doctor Amsel in Linz.',
      speaker: 'user',
    });
    const around = await read!.execute({ record: hit!.record, after: 1, before: 0 }, callContext);
    expect(around).toMatchObject({
      passages: [{ text: hit!.text }, { text: 'I will remember.' }],
      next_record: null,
    });
  });

  it('give one page after the other', async () => {
    const { memory } = await open(memoryPlace());
    await talkLong(memory);
    const [, search] = lookBackTools({ backend: memory.store.backend, agentId: AGENT });
    const pageFrom = async (offset: number) =>
      (await search!.execute({ query: 'garden', limit: 3, offset }, callContext)) as unknown as Page;
    const first = await pageFrom(0);
    const second = await pageFrom(first.next_offset!);
    const records = (page: Page) => page.results.map(({ record }) => record);
    expect(records(first)).toHaveLength(3);
    expect(records(second).some((record) => records(first).includes(record))).toBe(false);
  });

  it('keep to a speaker and a time', async () => {
    const { memory } = await open(memoryPlace());
    await talkLong(memory);
    const [, search] = lookBackTools({ backend: memory.store.backend, agentId: AGENT });
    const spoken = (await search!.execute(
      { query: 'roses fine', speaker: 'assistant' },
      callContext,
    )) as Record<string, { speaker: string }[]>;
    expect(new Set(spoken['results']!.map(({ speaker }) => speaker))).toEqual(new Set(['assistant']));
    const later = await search!.execute({ query: 'garden', since: '2999-01-01' }, callContext);
    expect(later).toMatchObject({ results: [] });
  });

  it('refuse a time that is none', async () => {
    const { memory } = await open(memoryPlace());
    await talk(memory, 'Hello.', 'Hi.');
    const [, search] = lookBackTools({ backend: memory.store.backend, agentId: AGENT });
    await expect(search!.execute({ query: 'x', since: 'soon' }, callContext)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
  });

  it('read whole turns by their numbers', async () => {
    const { memory } = await open(memoryPlace());
    await talkLong(memory);
    const [, , read] = lookBackTools({ backend: memory.store.backend, agentId: AGENT });
    const turns = (await read!.execute({ from_turn: 1, to_turn: 2 }, callContext)) as Record<
      string,
      { turn_id: string }[]
    >;
    expect(new Set(turns['passages']!.map(({ turn_id }) => turn_id))).toEqual(
      new Set(['turn_0001', 'turn_0002']),
    );
  });
});
