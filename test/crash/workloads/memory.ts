/**
 * A whole agent's memory: turns, tool calls, compactions, restarts. After a crash the restored context is the one that was
 * acknowledged last, or a later one whose outcome was not known yet; with the cache and without it; and a second restore
 * gives the same.
 */
import type { TokenCounter } from '../../../src/memory/compaction/token-counter.js';
import type { MemoryManager } from '../../../src/memory/memory-manager.js';
import { checkHistory } from '../../../src/messages/legality/history.js';
import { messageToJson } from '../../../src/messages/message-serializer.js';
import type { Fact } from '../history.js';
import {
  demand,
  type Process,
  type RebootedProcess,
  type RunningProcess,
  type Session,
  type Workload,
} from '../workload.js';
import { closeAgent, contextOf, type OpenedAgent, openAgent } from './opened-agent.js';

/** One token a character: small contexts, the same arithmetic. */
const counter: TokenCounter = {
  countMessages: async (messages) =>
    messages.reduce((sum, message) => sum + JSON.stringify(messageToJson(message)).length, 0),
};

const summarizer = { summarize: async () => ({ episodicSummary: 's', semanticFacts: [{ fact: 'f' }] }) };

const open = (process: Process, ignoreCache = false) =>
  openAgent(
    process,
    { compaction: { rawTailTurns: 1, inputBudgetTokens: 1e9 }, tokenCounter: counter, summarizer },
    ignoreCache,
  );

class MemorySession implements Session {
  readonly #process: RunningProcess;
  #running: OpenedAgent;
  #turns = 0;

  constructor(process: RunningProcess, running: OpenedAgent) {
    this.#process = process;
    this.#running = running;
  }

  get #memory(): MemoryManager {
    return this.#running.opened.memory;
  }

  async apply(operation: string): Promise<void> {
    if (operation === 'turn') await this.#turn(false);
    else if (operation === 'tool turn') await this.#turn(true);
    else if (operation === 'compact') await this.#step('compact', () => this.#memory.compact());
    else {
      await closeAgent(this.#running);
      this.#running = await open(this.#process);
    }
  }

  async #turn(withTool: boolean): Promise<void> {
    const turnId = this.#memory.startTurn();
    const call = { callId: 'c', turnId, toolName: 't' };
    const memory = this.#memory;
    this.#turns += 1;
    await this.#step('user', () => memory.ingestUserMessage(`u${this.#turns}`, turnId));
    if (withTool) {
      const calls = [{ id: 'c', name: 't', arguments: {} }];
      await this.#step('calls', () =>
        memory.ingestAssistantResponse({ content: null, toolCalls: calls }, turnId),
      );
      await this.#step('started', () => memory.ledger.started(call));
      await this.#step('result', () =>
        memory.ingestToolResults([{ callId: 'c', toolName: 't', result: 1 }], turnId),
      );
    }
    await this.#step('answer', () => memory.ingestAssistantResponse({ content: `a${this.#turns}` }, turnId));
  }

  async #step(kind: string, run: () => Promise<unknown>): Promise<void> {
    const ack = this.#process.history.begin({ kind });
    // Nothing to compact: nothing was written, so nothing is acknowledged (what a killed process left may still be volatile).
    if ((await run()) === null) return;
    ack({ epochId: this.#memory.epochId, context: contextOf(this.#memory) });
  }

  dispose(): Promise<void> {
    return closeAgent(this.#running);
  }
}

/** The context that was acknowledged last, and whether something was begun after it. */
function lastKnown(facts: readonly Fact[]): { context: string[]; epochId: number; open: readonly string[] } {
  const at = facts.findLastIndex(({ acked }) => acked !== null);
  const acked = facts[at]?.acked;
  const open = facts.slice(at + 1).map(({ fact }) => String(fact['kind']));
  const context = (acked?.['context'] as string[] | undefined) ?? [];
  return { context, epochId: Number(acked?.['epochId'] ?? 1), open };
}

/** The restored context goes on from the one that was acknowledged last. */
export function checkContext(found: readonly string[], epochId: number, facts: readonly Fact[]): void {
  const known = lastKnown(facts);
  if (known.open.includes('compact') && epochId === known.epochId + 1) return; // the new epoch, redone from its record
  demand(epochId === known.epochId, () => `epoch ${epochId}, but ${known.epochId} was acknowledged`);
  const prefix = known.context.every((message, index) => found[index] === message);
  demand(prefix, () => `the restored context does not begin with the acknowledged one:\n${found.join('\n')}`);
  const more = found.slice(known.context.length).filter((message) => !message.includes('"synthetic":true'));
  const allowed = known.context.length === 0 || known.open.length > 0;
  demand(more.length === 0 || allowed, () => `messages that nobody said: ${more.join('\n')}`);
}

async function check(process: RebootedProcess): Promise<void> {
  const restored = await open(process);
  const { memory } = restored.opened;
  const found = contextOf(memory);
  checkContext(found, restored.report.epochId, process.facts);
  const [violation] = checkHistory(memory.getWorkingContextMessages());
  demand(violation === undefined, () => `the restored list breaks ${violation?.rule}`);
  await memory.persistWorkingContextSnapshot();
  const turnId = memory.startTurn();
  await memory.ingestUserMessage('after', turnId);
  await memory.ingestAssistantResponse({ content: 'after all' }, turnId);
  const later = contextOf(memory);
  await closeAgent(restored);
  for (const ignoreCache of process.thorough ? [false, true] : [false]) {
    const again = await open(process.next(), ignoreCache);
    const same = contextOf(again.opened.memory).join('\n') === later.join('\n');
    await closeAgent(again);
    demand(
      same,
      () => `the second restore (${ignoreCache ? 'without' : 'with'} the cache) gives another context`,
    );
  }
}

export const memory: Workload = {
  name: 'memory',
  alphabet: ['turn', 'tool turn', 'compact', 'restart'],
  start: async (process) => new MemorySession(process, await open(process)),
  check,
};
