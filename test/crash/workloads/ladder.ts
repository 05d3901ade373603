/**
 * The rungs that make a context smaller: a large result stored apart, old results cleared, steps compacted, a long message trimmed. After a
 * crash the restored context is the one before a rung or the one after it, never another; and every artifact that it names is there whole.
 */
import { isRekindleError } from '../../../src/core/errors.js';
import type { TokenCounter } from '../../../src/memory/compaction/token-counter.js';
import { readResultTool } from '../../../src/memory/tools/read-result.js';
import { checkHistory } from '../../../src/messages/legality/history.js';
import { messageToJson } from '../../../src/messages/message-serializer.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import type { Fact } from '../history.js';
import {
  demand,
  type Process,
  type RebootedProcess,
  type RunningProcess,
  type Session,
  type Workload,
} from '../workload.js';
import { AGENT, closeAgent, contextOf, type OpenedAgent, openAgent } from './opened-agent.js';

/** In tokens of the counter below. */
const BUDGET = 3_000;
/** So little that compactions and trims are needed, too. */
const SMALL_BUDGET = 900;
const LARGE = `a large result: ${'much text. '.repeat(300)}`;
const RESULT = `a result that may be cleared: ${'some text. '.repeat(50)}`;

/** One token for four characters. */
const counter: TokenCounter = {
  countMessages: async (messages) =>
    messages.reduce((sum, message) => sum + Math.ceil(JSON.stringify(messageToJson(message)).length / 4), 0),
};

const open = (process: Process, ignoreCache = false) =>
  openAgent(
    process,
    {
      compaction: { inputBudgetTokens: BUDGET, safetyMarginTokens: 1, maxItemChars: 200 },
      tokenCounter: counter,
    },
    ignoreCache,
  );

const textOf = ({ opened }: OpenedAgent): string => contextOf(opened.memory).join('\n');

class LadderSession implements Session {
  readonly #process: RunningProcess;
  #running: OpenedAgent;
  #turnId = '';
  #calls = 0;

  constructor(process: RunningProcess, running: OpenedAgent) {
    this.#process = process;
    this.#running = running;
  }

  async apply(operation: string): Promise<void> {
    if (operation === 'result') await this.#callStep(RESULT);
    else if (operation === 'large result') await this.#callStep(LARGE);
    else if (operation === 'fit') await this.#fit(BUDGET);
    else if (operation === 'fit a small model') await this.#fit(SMALL_BUDGET);
    else {
      await closeAgent(this.#running);
      this.#running = await open(this.#process);
      this.#turnId = '';
    }
  }

  async #callStep(result: string): Promise<void> {
    const { memory } = this.#running.opened;
    if (this.#turnId === '') {
      const turnId = memory.startTurn();
      await this.#step('user', () => memory.ingestUserMessage('the request', turnId));
      this.#turnId = turnId;
    }
    const turnId = this.#turnId;
    this.#calls += 1;
    const callId = `${turnId}_${this.#calls}`;
    const toolCalls = [{ id: callId, name: 't', arguments: {} }];
    await this.#step('calls', () => memory.ingestAssistantResponse({ content: null, toolCalls }, turnId));
    await this.#step('result', () => memory.ingestToolResults([{ callId, toolName: 't', result }], turnId));
  }

  /** Each rung is one trace: a crash may leave the context as any of them made it. */
  async #fit(inputBudgetTokens: number): Promise<void> {
    const { memory } = this.#running.opened;
    const between: string[] = [];
    const seen = () => between.push(textOf(this.#running));
    const off = [memory.events.on('context_fitted', seen), memory.events.on('compacted', seen)];
    await this.#step(
      'fit',
      () =>
        memory.fit({ inputBudgetTokens }).catch((thrown: unknown) => {
          if (!isRekindleError(thrown, 'CONTEXT_TOO_LARGE')) throw thrown; // what became smaller stays so
        }),
      between,
    );
    for (const stop of off) stop();
  }

  async #step(kind: string, run: () => Promise<unknown>, between: string[] = []): Promise<void> {
    const before = textOf(this.#running);
    const ack = this.#process.history.begin({ kind, between });
    await run();
    // Where nothing was written, nothing is acknowledged: what a killed process left may still be volatile.
    const context = textOf(this.#running);
    if (context !== before) ack({ context });
  }

  dispose(): Promise<void> {
    return closeAgent(this.#running);
  }
}

function checkContext(found: string, facts: readonly Fact[]): void {
  const at = facts.findLastIndex(({ acked }) => acked !== null);
  const known = String(facts[at]?.acked?.['context'] ?? '');
  const open = facts.slice(at + 1).map(({ fact }) => fact);
  if (known === '' || found === known) return;
  if (open.some(({ kind }) => kind !== 'fit')) {
    // Something was said, too: what was known goes on in it, or rungs have changed it since.
    if (found.startsWith(known) || open.some(({ kind }) => kind === 'fit')) return;
  }
  const between = open.flatMap((fact) => fact['between'] as string[]);
  const isKilled = open.some(({ kind, between }) => kind === 'fit' && (between as string[]).length === 0);
  demand(isKilled || between.includes(found), () => `no rung made this context:\n${found}`);
}

/** What the context names is there, whole. */
async function checkArtifacts(found: string, storage: StorageBackend): Promise<void> {
  const { execute } = readResultTool({ backend: storage, agentId: AGENT });
  const signal = new AbortController().signal;
  for (const ref of new Set(
    [...found.matchAll(/ref\W+(?:sha256:)?([0-9a-f]{16,64})/g)].map(([, ref]) => ref!),
  )) {
    const context = { callId: 'c', turnId: 't', idempotencyKey: 'k', signal };
    const read = (await execute({ ref, chars: 20_000 }, context)) as { text: string };
    const isWhole =
      [LARGE, RESULT].some((text) => read.text.includes(text)) || read.text.includes('read_result');
    demand(isWhole, () => `the artifact ${ref} is not what was left out: ${read.text.slice(0, 80)}`);
  }
}

async function check(process: RebootedProcess): Promise<void> {
  const restored = await open(process);
  const { memory } = restored.opened;
  const found = textOf(restored);
  const isInterrupted = found.includes('"synthetic":true');
  if (!isInterrupted) checkContext(found, process.facts);
  await checkArtifacts(found, restored.storage);
  const [violation] = checkHistory(memory.getWorkingContextMessages());
  demand(violation === undefined, () => `the restored list breaks ${violation?.rule}`);
  await memory.fit({ inputBudgetTokens: SMALL_BUDGET }).catch((thrown: unknown) => {
    if (!isRekindleError(thrown, 'CONTEXT_TOO_LARGE')) throw thrown;
  });
  const later = textOf(restored);
  await closeAgent(restored);
  for (const ignoreCache of process.thorough ? [false, true] : [false]) {
    const again = await open(process.next(), ignoreCache);
    const same = textOf(again) === later;
    await checkArtifacts(later, again.storage);
    await closeAgent(again);
    demand(
      same,
      () => `the second restore (${ignoreCache ? 'without' : 'with'} the cache) gives another context`,
    );
  }
}

export const ladder: Workload = {
  name: 'ladder',
  alphabet: ['result', 'large result', 'fit', 'fit a small model', 'restart'],
  start: async (process) => new LadderSession(process, await open(process)),
  check,
};
