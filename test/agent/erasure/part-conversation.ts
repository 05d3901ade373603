/** A conversation with a canary in everything that it leaves behind, by turn. The texts are seeded. */
import { expect } from 'vitest';
import { formatTurnId } from '../../../src/core/ids.js';
import type { JsonObject } from '../../../src/core/json.js';
import type { Summarizer } from '../../../src/memory/compaction/summarizer.js';
import { tokenBound } from '../../../src/memory/compaction/token-counter.js';
import { verifyAgent } from '../../../src/memory/maintenance/verify-agent.js';
import type { MemoryManager } from '../../../src/memory/memory-manager.js';
import { openMemory } from '../../../src/memory/open-memory.js';
import type { RestoreReport } from '../../../src/memory/restore/restore-report.js';
import { WorkingContextSnapshotBootstrapper } from '../../../src/memory/restore/working-context-snapshot-bootstrapper.js';
import { searchTools } from '../../../src/memory/tools/search-tools.js';
import { checkHistory } from '../../../src/messages/legality/history.js';
import { textOf } from '../../../src/messages/message.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import { ToolCallLog } from '../../../src/workspace/tool-calls/tool-call-log.js';
import type { Canaries } from './canaries.js';

export const AGENT = 'desk';
export const TURNS = 7;
/** The subject whose facts the agent shares. */
const SCOPE = 'house';
const BUDGET = { inputBudgetTokens: 6_000 };

/** Repeats all canaries, as a model could, and those of earlier summaries. */
const repeating: Summarizer = {
  summarize: async (turns, { previous = [] }) => ({
    episodicSummary: `It was about ${canariesIn([...previous, JSON.stringify(turns)]).join(', ')}.`,
    semanticFacts: turns.map((one) => ({ fact: `They spoke of ${canariesIn([textOf(one)]).join(' and ')}` })),
  }),
};

function canariesIn(texts: readonly string[]): string[] {
  return [...new Set(texts.join(' ').match(/canary-[a-z]+/g))];
}

export function openDesk(storage: StorageBackend, isShared = false) {
  return openMemory(storage, AGENT, {
    tokenCounter: { countMessages: async (list) => list.reduce((sum, one) => sum + tokenBound(one), 0) },
    summarizer: repeating,
    compaction: { rawTailTurns: 2, maxItemChars: 6_000 },
    recall: { tokens: 400 },
    ...(isShared ? { scope: SCOPE } : {}),
  });
}

/** Opens, restores, and closes again. */
export async function withDesk<T>(
  storage: StorageBackend,
  work: (memory: MemoryManager, report: RestoreReport) => Promise<T>,
  isShared = false,
): Promise<T> {
  const opened = await openDesk(storage, isShared);
  try {
    return await work(
      opened.memory,
      await new WorkingContextSnapshotBootstrapper().bootstrap(opened.memory, null),
    );
  } finally {
    await opened.close();
  }
}

/** Owners of canaries: `turn 2`, `tool search in 3`, `user of 4`. Each text is in one place of its own only. */
export async function converse(storage: StorageBackend, canaries: Canaries): Promise<void> {
  await withDesk(storage, (memory) => memory.begin('You help at the desk.'));
  for (let turn = 1; turn <= TURNS; turn += 1)
    await withDesk(
      storage,
      async (memory) => {
        await converseOnce(storage, memory, turn, canaries);
        if (turn === 4 || turn === 6) await memory.compact();
        await memory.endTurn();
      },
      turn % 2 === 0,
    );
}

export async function converseOnce(
  storage: StorageBackend,
  memory: MemoryManager,
  turn: number,
  canaries: Canaries,
): Promise<void> {
  const turnId = memory.startTurn();
  const text = (part: string) => canaries.make(`${turn} ${part}`);
  const user = text('user');
  await memory.ingestUserMessage(`Please look at ${user}. I always want ${text('user')} first.`, turnId);
  const tools = turn % 2 === 0 ? ['search', 'mail'] : ['search'];
  const calls = tools.map((name, index) => ({
    id: `call_${index}`, // the same in every turn
    name,
    arguments: { query: text(`${name} call`) },
  }));
  const said = { content: text('answer'), toolCalls: calls, messageId: `msg_${turn}` };
  await memory.ingestAssistantResponse(said, turnId);
  for (const [index, call] of calls.entries()) {
    const large = index === 0 ? 'x'.repeat(30_000) : '';
    const result = `${text(`${call.name} result`)} ${large} ${text(`${call.name} result`)} ${large} ${text(`${call.name} result`)}`;
    const ledgerCall = { callId: call.id, turnId, toolName: call.name };
    await memory.ledger.run(ledgerCall, {}, async () => result);
    await memory.fit(BUDGET);
    await memory.ingestToolResults([{ callId: call.id, toolName: call.name, result }], turnId);
    await logCall(storage, {
      callId: call.id,
      tool: call.name,
      turnId,
      input: call.arguments,
      output: result,
    });
  }
  await memory.facts.remember(text('fact'));
  if (turn === 5) await lookBack(storage, memory, turnId, canaries.all.get('2 user')![0]!);
  await memory.fit(BUDGET);
  const final = { content: `Done. ${text('final')}`, messageId: `end_${turn}` };
  await memory.answerParts.begin(turnId, null).write({ text: final.content });
  await memory.ingestAssistantResponse(final, turnId);
}

/** The model finds the words of an earlier turn again. */
async function lookBack(
  storage: StorageBackend,
  memory: MemoryManager,
  turnId: string,
  query: string,
): Promise<void> {
  const [search] = searchTools({ backend: storage, agentId: AGENT });
  const call = { id: 'back', name: 'memory_search', arguments: { query: 'look at' } };
  await memory.ingestAssistantResponse(
    { content: 'I look it up.', toolCalls: [call], messageId: 'back' },
    turnId,
  );
  const result = await search!.execute({ query } as never, {} as never);
  await memory.ingestToolResults([{ callId: 'back', toolName: 'memory_search', result }], turnId);
}

async function logCall(
  storage: StorageBackend,
  call: { callId: string; tool: string; turnId: string; input: { query: string }; output: string },
): Promise<void> {
  const log = new ToolCallLog(storage);
  await log.record({ ...call, agent: AGENT, error: null, startedMs: Date.UTC(2026, 2, 1), durationMs: 1 });
  await log.record({
    ...call,
    agent: 'other',
    error: null,
    startedMs: Date.UTC(2026, 2, 1),
    durationMs: 1,
    input: {},
    output: 'of another agent',
  });
  await log.close();
}

/** The number of the first record of a turn that the filter accepts. */
export async function recordOf(
  storage: StorageBackend,
  turn: number,
  accepts: (row: JsonObject) => boolean,
): Promise<number> {
  const journal = await storage.openJournal<JsonObject>(['agents', AGENT, 'raw_traces'], { readOnly: true });
  try {
    for await (const entry of journal.read())
      if (entry.kind === 'record' && entry.record['turn_id'] === formatTurnId(turn) && accepts(entry.record))
        return entry.seq;
  } finally {
    await journal.close();
  }
  throw new Error(`Turn ${turn} has no such record.`);
}

/** Canaries of the owners that go, and of all others. */
export function split(canaries: Canaries, goes: (owner: string) => boolean) {
  const of = (wanted: boolean) =>
    [...canaries.all].filter(([owner]) => goes(owner) === wanted).flatMap(([, texts]) => texts);
  return { gone: of(true), left: of(false) };
}

/** The agent restores, legal and undamaged, with and without its cache, and takes another turn. */
export async function expectGoesOn(storage: StorageBackend, canaries: Canaries): Promise<void> {
  const before = await withDesk(storage, async (memory, report) => {
    expect(report).toMatchObject({ source: 'rebuilt', damage: [], repairs: [] });
    expect(report.erased).toBeGreaterThan(0);
    expect(checkHistory(memory.getWorkingContextMessages())).toEqual([]);
    await memory.persistWorkingContextSnapshot();
    return memory.getWorkingContextMessages();
  });
  expect(await verifyAgent(storage, AGENT)).toMatchObject({ problems: [], cacheEqualsRebuild: true });
  await withDesk(storage, async (memory) => {
    expect(memory.getWorkingContextMessages()).toEqual(before);
    await converseOnce(storage, memory, TURNS + 1, canaries);
    expect(checkHistory(memory.getWorkingContextMessages())).toEqual([]);
    await memory.endTurn();
  });
}
