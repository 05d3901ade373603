import { appendFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRekindleError, type RekindleError } from '../../../src/core/errors.js';
import type { CompactionPolicyOptions } from '../../../src/memory/compaction/compaction-policy.js';
import type { Summarizer } from '../../../src/memory/compaction/summarizer.js';
import { type TokenCounter, tokenBound } from '../../../src/memory/compaction/token-counter.js';
import type { MemoryManager } from '../../../src/memory/memory-manager.js';
import { readResultTool } from '../../../src/memory/tools/read-result.js';
import { checkHistory } from '../../../src/messages/legality/history.js';
import { textOf, toolResultOf } from '../../../src/messages/message.js';
import { checkRequest, project } from '../../../src/messages/projections/project.js';
import { TARGETS } from '../../../src/messages/projections/targets.js';
import { runParameters } from '../../property/seed.js';
import {
  AGENT,
  answer,
  call,
  contextText,
  filePlace,
  memoryPlace,
  openAgent,
  type Place,
} from '../memory-kit.js';

const BUDGET = 16_000;

const open = (place: Place, policy: CompactionPolicyOptions = {}) =>
  openAgent(place, {
    system: 'Be kind.',
    memory: { compaction: { inputBudgetTokens: BUDGET, ...policy }, tokenCounter: counter },
  });

/** As dense as code: three bytes a token. */
const counter: TokenCounter = {
  countMessages: async (messages) =>
    messages.reduce((sum, message) => sum + Math.ceil(tokenBound(message) / 3), 0),
};

const size = (memory: MemoryManager) => counter.countMessages(memory.getWorkingContextMessages());

/** One step: a call, and its result. */
async function step(memory: MemoryManager, turnId: string, id: string, result: unknown): Promise<void> {
  await memory.ingestAssistantResponse({ content: null, toolCalls: [call(id)] }, turnId);
  await memory.ingestToolResults([answer(id, result)], turnId);
}

async function begin(memory: MemoryManager, text: string): Promise<string> {
  const turnId = memory.startTurn();
  await memory.ingestUserMessage(text, turnId);
  return turnId;
}

const lines = (count: number, word = 'line') =>
  Array.from({ length: count }, (_, index) => `${word} ${index + 1} of the file`).join('\n');

const callContext = {
  callId: 'c',
  turnId: 't',
  idempotencyKey: 'k',
  signal: new AbortController().signal,
};

function read(place: Place, args: Record<string, string | number>) {
  return readResultTool({ backend: place.storage(), agentId: AGENT }).execute(args, callContext);
}

const refIn = (text: string) => /"ref":"([0-9a-f]+)"/.exec(text)![1]!;

/** Runs `meanwhile` in the middle of a rung: between its decision and its trace. */
function whenAnArtifactIsStored(memory: MemoryManager, meanwhile: () => Promise<void>): void {
  const { backend } = memory.store;
  const blobs = backend.blobs.bind(backend);
  backend.blobs = (name) => {
    const own = blobs(name);
    const put = own.put.bind(own);
    own.put = async (...given) => {
      await meanwhile();
      return put(...given);
    };
    return own;
  };
}

describe('a large result', () => {
  it('becomes an artifact when it comes in; the context has its head, its tail and the way back', async () => {
    const place = memoryPlace();
    const { memory } = await open(place);
    const whole = lines(4_000);
    await step(memory, await begin(memory, 'Read it.'), 'a', whole);
    const shown = toolResultOf(memory.getWorkingContextMessages().at(-1)!)!.toolResult as string;
    expect(shown.length).toBeLessThan(BUDGET / 2);
    expect(shown).toMatch(/^line 1 of the file/);
    expect(shown).toMatch(/line 4000 of the file$/);
    const ref = refIn(shown);
    expect(await read(place, { ref, line: 2_000, lines: 1 })).toMatchObject({
      text: 'line 2000 of the file',
      of_lines: 4_000,
    });
    expect(await read(place, { ref, search: 'LINE 3999 ' })).toMatchObject({
      matches: [{ line: 3_999, text: 'line 3999 of the file' }],
      next_line: null,
    });
    expect(await read(place, { ref, from: 5, chars: 4 })).toMatchObject({ text: '1 of', of: whole.length });
  });

  it('comes back the same in the next process', async () => {
    const place = memoryPlace();
    const { memory, close } = await open(place);
    await step(memory, await begin(memory, 'Read it.'), 'a', { rows: lines(4_000).split('\n') });
    const before = contextText(memory);
    await close();
    expect(contextText((await open(place)).memory)).toBe(before);
  });

  it('that is an error stays an error', async () => {
    const { memory } = await open(memoryPlace());
    const turnId = await begin(memory, 'Read it.');
    await memory.ingestAssistantResponse({ content: null, toolCalls: [call('a')] }, turnId);
    await memory.ingestToolResults([{ callId: 'a', toolName: 'x', error: lines(4_000) }], turnId);
    expect(toolResultOf(memory.getWorkingContextMessages().at(-1)!)).toMatchObject({
      toolResult: null,
      toolError: expect.stringContaining('read_result'),
    });
  });

  it('gets a smaller share when its step has many calls', async () => {
    const { memory } = await open(memoryPlace());
    const turnId = await begin(memory, 'Read all.');
    const ids = Array.from({ length: 20 }, (_, index) => `c${index}`);
    await memory.ingestAssistantResponse({ content: null, toolCalls: ids.map(call) }, turnId);
    for (const id of ids) await memory.ingestToolResults([answer(id, lines(2_000))], turnId);
    await memory.fit({});
    expect(await size(memory)).toBeLessThan(BUDGET);
  });
});

describe('a context over its trigger', () => {
  it('clears old results first, down to the target at once, and leaves the current step', async () => {
    const place = memoryPlace();
    const { memory } = await open(place);
    const turnId = await begin(memory, 'Work.');
    for (let index = 1; index <= 7; index += 1)
      await step(memory, turnId, `c${index}`, `r${index} `.repeat(1_590));
    const seen: unknown[] = [];
    memory.events.on('context_fitted', (event) => seen.push(event));
    await step(memory, turnId, 'c8', 'r8 '.repeat(1_590));
    const before = memory.getWorkingContextMessages();
    const report = await memory.fit({});
    expect(report!.rungs).toStrictEqual(['clear']);
    const tokensLost = await counter.countMessages(before.slice(3));
    expect(seen).toMatchObject([{ rung: 'clear', firstIndex: 3, tokensLost }]);
    const results = memory.getWorkingContextMessages().flatMap((message) => toolResultOf(message) ?? []);
    const cleared = results.map(({ extra }) => extra?.['cleared'] === true);
    expect(cleared.indexOf(false)).toBeGreaterThan(0);
    expect(cleared.slice(cleared.indexOf(false))).not.toContain(true);
    expect(results.at(-1)!.toolResult).toBe('r8 '.repeat(1_590));
    expect(await size(memory)).toBeLessThan(BUDGET * 0.62);
    expect(await read(place, { ref: refIn(String(results[0]!.toolResult)), chars: 6 })).toMatchObject({
      text: 'r1 r1 ',
    });
  });

  it('is cleared at the right places when a late result comes in meanwhile', async () => {
    const place = memoryPlace();
    const { memory } = await open(place);
    const turnId = await begin(memory, 'Work.');
    await memory.ingestAssistantResponse({ content: null, toolCalls: [call('late')] }, turnId);
    for (let index = 1; index <= 8; index += 1)
      await step(memory, turnId, `c${index}`, `of c${index}. ${'r '.repeat(2_370)}`);
    let cleared = 0;
    memory.events.on('context_fitted', ({ messages }) => {
      cleared += messages;
    });
    whenAnArtifactIsStored(memory, async () => {
      if (memory.openCalls().length > 0) await memory.ingestToolResults([answer('late', 'at last')], turnId);
    });
    await memory.fit({ inputBudgetTokens: BUDGET - 1_000 });
    expect(cleared).toBeGreaterThan(0);
    const results = memory.getWorkingContextMessages().flatMap((message) => toolResultOf(message) ?? []);
    expect(results.map(({ toolCallId }) => toolCallId)).toEqual([
      'late',
      ...Array.from({ length: 8 }, (_, index) => `c${index + 1}`),
    ]);
    for (const { toolCallId, toolResult, extra } of results.slice(1)) {
      const text = String(toolResult);
      const whole = extra?.['cleared'] ? await read(place, { ref: refIn(text), chars: 6 }) : { text };
      expect(whole).toMatchObject({ text: expect.stringContaining(`of ${toolCallId}`) });
    }
    expect(contextText((await openAgent(place, { readOnly: true })).memory)).toBe(contextText(memory));
  });

  it('is compacted between steps, also in the middle of one long turn', async () => {
    const place = memoryPlace();
    const { memory } = await open(place);
    const turnId = await begin(memory, 'The one request.');
    for (let index = 1; index <= 300; index += 1) {
      await step(memory, turnId, `c${index}`, `result ${index}: ${'x'.repeat(900)}`);
      await memory.fit({});
      expect(await size(memory)).toBeLessThanOrEqual(BUDGET);
    }
    const messages = memory.getWorkingContextMessages();
    expect(checkHistory(messages)).toStrictEqual([]);
    expect(
      messages.filter(({ role, kind }) => role === 'user' && kind !== 'memory').map(textOf),
    ).toStrictEqual(['The one request.']);
    expect(memory.epochId).toBeGreaterThan(3);
    expect(contextText((await openAgent(place, { readOnly: true })).memory)).toBe(contextText(memory));
  });

  it('keeps as much of the newest as the target takes', async () => {
    const { memory } = await open(memoryPlace());
    for (let index = 1; index <= 40; index += 1) {
      const turnId = await begin(memory, `question ${index} ${'q'.repeat(600)}`);
      await memory.ingestAssistantResponse({ content: `answer ${index} ${'a'.repeat(600)}` }, turnId);
    }
    const before = await size(memory);
    expect(before).toBeLessThan(BUDGET);
    const turnId = await begin(memory, 'And now?');
    await memory.fit({ inputBudgetTokens: 10_000 });
    const after = await size(memory);
    expect(after).toBeGreaterThan(10_000 * 0.35);
    expect(after).toBeLessThan(10_000 * 0.6);
    expect(memory.getWorkingContextMessages().at(-1)).toMatchObject({ content: 'And now?', turnId });
  });

  it('is compacted at once where clearing alone would not reach the target, and both are one trace', async () => {
    const place = memoryPlace();
    const { memory } = await open(place);
    const turnId = await begin(memory, 'Work.');
    for (let index = 1; index <= 30; index += 1) {
      await memory.ingestAssistantResponse(
        { content: `I look at ${index}. ${'a '.repeat(400)}`, toolCalls: [call(`c${index}`)] },
        turnId,
      );
      await memory.ingestToolResults([answer(`c${index}`, `r${index} `.repeat(180))], turnId);
    }
    const before = memory.getWorkingContextMessages();
    const lost: number[] = [];
    memory.events.on('compacted', ({ tokensLost }) => lost.push(tokensLost));
    const { rungs, tokens } = (await memory.fit({}))!;
    expect(rungs).toStrictEqual(['compact']);
    expect(lost).toStrictEqual([await counter.countMessages(before.slice(1))]); // all but the system prompt
    expect(tokens! / BUDGET).toBeGreaterThanOrEqual(0.4);
    expect(tokens! / BUDGET).toBeLessThanOrEqual(0.6);
    expect(contextText((await openAgent(place, { readOnly: true })).memory)).toBe(contextText(memory));
  });

  it('keeps an older step without its result where the whole step is too large to stay', async () => {
    const place = memoryPlace();
    const { memory } = await open(place, { resultRatio: 0.4 });
    for (let index = 1; index <= 12; index += 1) {
      const turnId = await begin(memory, `Ask ${index}. ${'q '.repeat(1_300)}`);
      await step(memory, turnId, `c${index}`, index === 9 ? `big ${'b '.repeat(7_000)}` : 'small');
    }
    await memory.fit({});
    const results = memory.getWorkingContextMessages().flatMap((message) => toolResultOf(message) ?? []);
    const big = results.find(({ toolCallId }) => toolCallId === 'c9')!;
    expect(big.extra?.['cleared']).toBe(true);
    expect(await read(place, { ref: refIn(String(big.toolResult)), chars: 3 })).toMatchObject({
      text: 'big',
    });
    expect(await size(memory)).toBeLessThanOrEqual(BUDGET * 0.6);
  });

  it('is compacted without a model when the summarizer is away, also after it has failed too often', async () => {
    const away: Summarizer = { summarize: () => Promise.reject(new Error('The model is away.')) };
    const { memory } = await openAgent(memoryPlace(), {
      system: 'Be kind.',
      memory: { compaction: { inputBudgetTokens: 4_000 }, tokenCounter: counter, summarizer: away },
    });
    for (let index = 1; index <= 120; index += 1) {
      const turnId = await begin(memory, `question ${index} ${'q'.repeat(300)}`);
      await memory.fit({});
      expect(await size(memory)).toBeLessThanOrEqual(4_000);
      await memory.ingestAssistantResponse({ content: `answer ${index} ${'a'.repeat(300)}` }, turnId);
    }
    expect(memory.epochId).toBeGreaterThan(5);
  });

  it('fits a smaller model: a long message in the middle is trimmed when nothing else suffices', async () => {
    const place = memoryPlace();
    const { memory } = await open(place, { inputBudgetTokens: 200_000 });
    const first = await begin(memory, 'Keep this.');
    await memory.ingestAssistantResponse({ content: null, toolCalls: [call('a')] }, first);
    await memory.ingestToolResults([answer('a', lines(1_500))], first);
    const report = await memory.fit({ inputBudgetTokens: 8_000 });
    expect(report!.rungs).toContain('trim');
    expect(await size(memory)).toBeLessThanOrEqual(8_000);
    expect(textOf(memory.getWorkingContextMessages()[1]!)).toBe('Keep this.');
  });

  it('counts the tools, and what is kept free for the answer', async () => {
    const { memory } = await open(memoryPlace());
    const turnId = await begin(memory, 'Work.');
    for (let index = 1; index <= 6; index += 1) await step(memory, turnId, `c${index}`, 'r '.repeat(2_400));
    expect((await memory.fit({}))!.rungs).toStrictEqual([]);
    expect((await memory.fit({ reserveTokens: 4_000 }))!.rungs).not.toStrictEqual([]);
  });

  it('that cannot be made small enough is refused before the model is called, with what takes the room', async () => {
    const { memory } = await open(memoryPlace());
    await begin(memory, 'x'.repeat(BUDGET * 3));
    const error = await memory.fit({}).catch((thrown: unknown) => thrown);
    expect(isRekindleError(error, 'CONTEXT_TOO_LARGE')).toBe(true);
    expect((error as RekindleError).details).toMatchObject({
      inputBudgetTokens: BUDGET,
      parts: { requests: expect.any(Number), system: expect.any(Number) },
    });
    expect(textOf(memory.getWorkingContextMessages().at(-1)!)).toHaveLength(BUDGET * 3);
  });

  it('that could not be made small enough is shortened when a shorter one follows, and stays readable', async () => {
    const { memory } = await open(memoryPlace());
    await begin(memory, `x${' long'.repeat(BUDGET)} end`);
    await memory.fit({}).catch(() => {});
    await begin(memory, 'Only say hello.');
    const report = await memory.fit({});
    expect(report!.rungs).toContain('trim');
    const [, earlier, last] = memory.getWorkingContextMessages();
    expect(textOf(last!)).toBe('Only say hello.');
    expect(textOf(earlier!)).toMatch(/read_result/);
    expect(await size(memory)).toBeLessThanOrEqual(BUDGET);
  });

  it('leaves pinned messages as they are', async () => {
    const { memory } = await open(memoryPlace());
    const turnId = memory.startTurn();
    await memory.ingestUserMessage({ text: `Rule: ${'never '.repeat(900)}`, pinned: true }, turnId);
    await memory.ingestAssistantResponse({ content: 'Yes.' }, turnId);
    const next = await begin(memory, 'Work.');
    for (let index = 1; index <= 60; index += 1) {
      await step(memory, next, `c${index}`, `r${index} `.repeat(700));
      await memory.fit({});
    }
    expect(memory.epochId).toBeGreaterThan(1);
    const pinned = memory.getWorkingContextMessages().filter((message) => message.pinned);
    expect(pinned.map(textOf)).toStrictEqual([`Rule: ${'never '.repeat(900)}`]);
  });
});

describe('a journal whose end is damaged', () => {
  it('takes the trace of a rung as the first one after the restore', async () => {
    const place = await filePlace();
    const first = await open(place);
    const turnId = await begin(first.memory, 'Work.');
    for (let index = 1; index <= 7; index += 1)
      await step(first.memory, turnId, `c${index}`, `r${index} `.repeat(1_590));
    await first.close();
    // A write of several lines of which the disk kept the end: it was never acknowledged.
    await appendFile(place.file('raw_traces.jsonl'), 'lost","content":"x","_seq":99,"_crc":"00000000"}\n');
    const { memory } = await open(place);
    const { rungs } = (await memory.fit({ inputBudgetTokens: 8_000 }))!;
    expect(rungs.length).toBeGreaterThan(0);
    expect(contextText((await openAgent(place, { readOnly: true })).memory)).toBe(contextText(memory));
  });
});

describe('read_result', () => {
  it('refuses a ref that this agent does not have', async () => {
    const error = await Promise.resolve(read(memoryPlace(), { ref: 'deadbeef' })).catch(
      (thrown: unknown) => thrown,
    );
    expect(isRekindleError(error, 'INVALID_ARGUMENT')).toBe(true);
  });
});

const stepOf = fc.record({
  calls: fc.integer({ min: 1, max: 6 }),
  chars: fc.integer({ min: 0, max: 30_000 }),
  says: fc.option(fc.string({ maxLength: 1_200 }), { nil: null }),
  isError: fc.boolean(),
});
const turnOf = fc.record({
  text: fc.string({ minLength: 1, maxLength: 500 }).map((text) => `ask ${text}`),
  isPinned: fc.boolean().map((pinned) => pinned),
  steps: fc.array(stepOf, { maxLength: 8 }),
});

describe('random conversations', () => {
  it('fit before each request, are legal for every target, and restore to the same', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(turnOf, { minLength: 1, maxLength: 6 }),
        fc.constantFrom(6_000, 9_000, 20_000),
        async (turns, inputBudgetTokens) => {
          const place = memoryPlace();
          const { memory, close } = await open(place, { inputBudgetTokens });
          let ids = 0;
          for (const [index, { text, steps }] of turns.entries()) {
            const turnId = memory.startTurn();
            await memory.ingestUserMessage({ text, pinned: index === 0 }, turnId);
            await assertFits(memory, inputBudgetTokens);
            for (const { calls, chars, says, isError } of steps) {
              const toolCalls = Array.from({ length: calls }, () => call(`c${++ids}`));
              await memory.ingestAssistantResponse({ content: says, toolCalls }, turnId);
              for (const { id } of toolCalls) {
                const value = `${id} ${'y'.repeat(chars)}`;
                const given = isError ? { callId: id, toolName: 'x', error: value } : answer(id, value);
                await memory.ingestToolResults([given], turnId);
              }
              await assertFits(memory, inputBudgetTokens);
            }
            await memory.ingestAssistantResponse({ content: 'Done.' }, turnId);
          }
          const live = contextText(memory);
          expect(contextText((await openAgent(place, { readOnly: true })).memory)).toBe(live);
          await close();
          expect(contextText((await open(place, { inputBudgetTokens })).memory)).toBe(live);
        },
      ),
      runParameters('context-fitter', 15),
    );
  });
});

async function assertFits(memory: MemoryManager, inputBudgetTokens: number): Promise<void> {
  await memory.fit({});
  const messages = memory.getWorkingContextMessages();
  expect(await size(memory)).toBeLessThanOrEqual(inputBudgetTokens);
  expect(checkHistory(messages)).toStrictEqual([]);
  for (const target of TARGETS)
    expect(checkRequest(target, project(target, messages).request)).toStrictEqual([]);
}
