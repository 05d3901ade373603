/**
 * An agent that looks back: turns, compactions, requests before which something is recalled, facts of the agent and of its scope, and the
 * files of the index, written beside turns. After a crash the journal has every acknowledged trace and no other, the context is the one that
 * the process had, the index finds what the journal has and nothing else, and the facts are those that were acknowledged.
 */
import { canonicalJson } from '../../../src/core/canonical-json.js';
import { isJsonObject, type JsonObject } from '../../../src/core/json.js';
import type { TokenCounter } from '../../../src/memory/compaction/token-counter.js';
import type { Fact as KnownFact } from '../../../src/memory/facts/fact.js';
import type { MemoryManager } from '../../../src/memory/memory-manager.js';
import { RecallIndex } from '../../../src/memory/recall/recall-index.js';
import { RECALL_FOLDER } from '../../../src/memory/recall/shard-store.js';
import type { MemoryStore } from '../../../src/memory/store/memory-store.js';
import { checkHistory } from '../../../src/messages/legality/history.js';
import { textOf } from '../../../src/messages/message.js';
import type { SimulatedDisk } from '../../../src/storage/simulated/simulated-disk.js';
import type { Fact } from '../history.js';
import { runningProcess } from '../simulated-process.js';
import {
  demand,
  type Process,
  type RebootedProcess,
  type RunningProcess,
  type Session,
  type Workload,
} from '../workload.js';
import { checkContext } from './memory.js';
import { AGENT, closeAgent, contextOf, type OpenedAgent, openAgent } from './opened-agent.js';

const SCOPE = 'scope';
/** So few that each turn makes a file of the index, and some turns a larger one of many. */
const SHARD_PASSAGES = 2;
/** Before the first process: what is recalled has left the context, and the next files are merged. */
const TURNS_BEFORE = 6;
/** Of one key, so that each replaces the one before. */
const KEY = 'place';
const ANSWER = 'It is where it was, and it stays there for the rest of this long day.';
/** Traces that may be there where an action was begun and not acknowledged. */
const TRACES: Readonly<Record<string, readonly string[]>> = {
  request: ['journal', 'recall', 'user'],
  answer: ['assistant'],
  compact: ['compaction'],
};

/** One token a character. */
const counter: TokenCounter = {
  countMessages: async (messages) => messages.reduce((sum, message) => sum + textOf(message).length, 0),
};

const open = (process: Process, ignoreCache = false): Promise<OpenedAgent> =>
  openAgent(
    process,
    {
      compaction: { rawTailTurns: 1, inputBudgetTokens: 1e9 },
      tokenCounter: counter,
      summarizer: { summarize: async () => ({ episodicSummary: 's', semanticFacts: [] }) },
      recall: { tokens: 2_000 },
      scope: SCOPE,
    },
    ignoreCache,
  );

/** A word of letters that no stemmer changes. */
function wordOf(count: number): string {
  return `zq${[...String(count)].map((digit) => 'bcdfghkmnp'[Number(digit)]).join('')}`;
}

class RecallSession implements Session {
  readonly #process: RunningProcess;
  #running: OpenedAgent;
  #index: RecallIndex;
  #count: number;

  constructor(process: RunningProcess, running: OpenedAgent) {
    this.#process = process;
    this.#running = running;
    this.#index = indexOf(running);
    this.#count = process.history.at(Number.POSITIVE_INFINITY).length;
  }

  get #memory(): MemoryManager {
    return this.#running.opened.memory;
  }

  async apply(operation: string): Promise<void> {
    this.#count += 1;
    if (operation === 'turn') await this.#turn(`Always keep the ${wordOf(this.#count)} near the door.`);
    else if (operation === 'ask') await this.#turn(`Where is the ${wordOf(1)}?`);
    else if (operation === 'compact') await this.#step('compact', () => this.#memory.compact());
    else if (operation === 'remember') await this.#remember();
    else if (operation === 'forget' || operation === 'pin') await this.#mark(operation);
    else if (operation === 'index') await this.#index.catchUp();
    else if (operation === 'ask beside the index') {
      const indexing = this.#index.catchUp();
      await this.apply('ask');
      await indexing;
    } else {
      await closeAgent(this.#running);
      this.#running = await open(this.#process);
      this.#index = indexOf(this.#running);
    }
  }

  async #turn(text: string): Promise<void> {
    const turnId = this.#memory.startTurn();
    await this.#step('request', () => this.#memory.ingestUserMessage(text, turnId));
    await this.#step('answer', () => this.#memory.ingestAssistantResponse({ content: ANSWER }, turnId));
  }

  async #remember(): Promise<void> {
    const text = `It has the number ${this.#count}.`;
    const ack = this.#process.history.begin({ kind: 'remember', text, place: SCOPE });
    await this.#memory.facts.remember(text, this.#count % 2 === 0 ? { key: KEY } : {});
    ack({ facts: await factsOf(this.#memory, SCOPE) });
  }

  /** The oldest fact that is not pinned, which is the agent's; or the newest, which is often the scope's. */
  async #mark(kind: 'forget' | 'pin'): Promise<void> {
    const standing = await this.#memory.facts.list();
    const fact = kind === 'pin' ? standing.find(({ pinned }) => !pinned) : standing.at(-1);
    if (!fact) return;
    const place = fact.scope ?? AGENT;
    const ack = this.#process.history.begin({ kind, id: fact.id, place });
    await this.#memory.facts[kind](fact.id);
    ack({ facts: await factsOf(this.#memory, place) });
  }

  async #step(kind: string, run: () => Promise<unknown>): Promise<void> {
    const ack = this.#process.history.begin({ kind, place: AGENT });
    // Nothing to compact: nothing was written, so nothing is acknowledged (what a killed process left may still be volatile).
    if ((await run()) === null) return;
    const { epochId, store } = this.#memory;
    const facts = kind === 'compact' ? { facts: await factsOf(this.#memory, AGENT) } : {};
    ack({ epochId, context: contextOf(this.#memory), traces: await tracesOf(store), ...facts });
  }

  dispose(): Promise<void> {
    return closeAgent(this.#running);
  }
}

function indexOf({ opened }: OpenedAgent): RecallIndex {
  return new RecallIndex(opened.memory.store, { shardPassages: SHARD_PASSAGES });
}

/** The facts of the agent or of its scope, by their ids: also those that are gone. */
async function factsOf(memory: MemoryManager, place: string): Promise<JsonObject> {
  const all = await memory.facts.list({ all: true });
  const here = all.filter(({ scope }) => (scope ?? AGENT) === place);
  return Object.fromEntries(here.map((fact) => [fact.id, canonicalJson(shown(fact))]));
}

function shown({ text, key, source, pinned, replacedBy, gone }: KnownFact): JsonObject {
  return { text, key, source, pinned, replacedBy, gone };
}

interface Row {
  readonly seq: number;
  readonly type: string;
  readonly record: JsonObject;
}

/** What a torn write left whole is there, with its numbers. */
async function rowsOf(store: MemoryStore): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const entry of (await store.journal('raw_traces')).read())
    if (entry.kind === 'record')
      rows.push({ seq: entry.seq, type: String(entry.record['trace_type']), record: entry.record });
  return rows;
}

async function tracesOf(store: MemoryStore): Promise<string[]> {
  return (await rowsOf(store)).map(({ record }) => canonicalJson(record));
}

/** What was acknowledged last, and what was begun after it, among the actions that `matches` selects. */
function known(facts: readonly Fact[], field: string, matches: (fact: JsonObject) => boolean) {
  const mine = facts.filter(({ fact }) => matches(fact));
  const at = mine.findLastIndex(({ acked }) => acked !== null && field in acked);
  return {
    value: mine[at]?.acked?.[field],
    begun: mine.slice(at + 1).map(({ fact }) => fact),
  };
}

function checkTraces(rows: readonly Row[], facts: readonly Fact[]): void {
  const { value, begun } = known(facts, 'traces', ({ kind }) => String(kind) in TRACES);
  const acknowledged = (value ?? []) as string[];
  for (const [at, trace] of acknowledged.entries()) {
    const row = rows[at];
    demand(row !== undefined && canonicalJson(row.record) === trace, () => `a trace is lost: ${trace}`);
  }
  const may = new Set(begun.flatMap(({ kind }) => TRACES[String(kind)]!));
  for (const { type } of rows.slice(acknowledged.length))
    demand(may.has(type), () => `a trace that nobody wrote: ${type}`);
  // Only a torn write leaves a recall without the request that was in the same commit.
  const alone = rows.filter(({ type }, at) => type === 'recall' && rows[at + 1]?.type !== 'user');
  const torn = facts.filter(({ fact, acked }) => fact['kind'] === 'request' && acked === null);
  demand(alone.length <= torn.length, () => `${alone.length} recalls have no request after them`);
}

async function checkFacts(memory: MemoryManager, place: string, facts: readonly Fact[]): Promise<void> {
  const { value, begun } = known(
    facts,
    'facts',
    (fact) =>
      fact['place'] === place && ['remember', 'forget', 'pin', 'compact'].includes(String(fact['kind'])),
  );
  const acknowledged = (value ?? {}) as JsonObject;
  const found = await factsOf(memory, place);
  const isBegun = (kinds: readonly string[], matches: (fact: JsonObject) => boolean = () => true) =>
    begun.some((fact) => kinds.includes(String(fact['kind'])) && matches(fact));
  for (const [id, was] of Object.entries(acknowledged)) {
    const mayChange =
      isBegun(['forget', 'pin'], (fact) => fact['id'] === id) ||
      (isBegun(['remember']) && String(was).includes(`"key":"${KEY}"`));
    const is = found[id];
    demand(is === was || (is !== undefined && mayChange), () => `the fact ${was} is now ${is}`);
  }
  for (const [id, is] of Object.entries(found)) {
    const isNew =
      isBegun(['remember'], ({ text }) => String(is).includes(String(text))) ||
      (isBegun(['compact']) && String(is).includes('Always keep'));
    demand(id in acknowledged || isNew, () => `a fact that nobody stated: ${is}`);
  }
}

/** The index as it was left, and one without any file of it: both have what the journal has. */
async function checkIndex(store: MemoryStore, rows: readonly Row[], thorough: boolean): Promise<void> {
  const said = rows.flatMap(({ seq, type, record }) =>
    type === 'user' || type === 'assistant' ? [`${seq} ${record['content']}`] : [],
  );
  const all = [...new Set(said.join(' ').match(/zq[a-z]+/g))];
  const words = thorough ? all : all.slice(-1);
  const left = await lookUp(new RecallIndex(store, { shardPassages: SHARD_PASSAGES }), words);
  demand(
    canonicalJson(left.passages) === canonicalJson(said),
    () => `the index has ${left.passages.join('; ')}; the journal has ${said.join('; ')}`,
  );
  for (const [word, hits] of Object.entries(left.hits))
    for (const line of said.filter((text) => text.includes(word)))
      demand(
        hits.some((hit) => hit.startsWith(`${line.split(' ')[0]} `)),
        () => `${word} is not found in record ${line}`,
      );
  const { documents } = store.backend;
  const folder = ['agents', AGENT, RECALL_FOLDER];
  for (const name of await documents.list(folder)) await documents.delete([...folder, name]);
  const rebuilt = await lookUp(new RecallIndex(store), words);
  demand(
    canonicalJson(rebuilt.hits) === canonicalJson(left.hits),
    () =>
      `the index ranks ${canonicalJson(left.hits)}; one that is made again ${canonicalJson(rebuilt.hits)}`,
  );
}

async function lookUp(index: RecallIndex, words: readonly string[]) {
  const passages = await index.passagesBetween(1, Number.MAX_SAFE_INTEGER);
  const hits: Record<string, string[]> = {};
  for (const text of words) {
    hits[text] = [];
    for await (const { passage, score } of index.hits({ text, limit: 20 }))
      hits[text].push(`${passage.seq} ${score.toFixed(3)}`);
  }
  return { passages: passages.map(({ seq, text }) => `${seq} ${text}`), hits };
}

/** The next request gets what it asks for, where that is not in the context any more. */
async function checkRecall(memory: MemoryManager): Promise<void> {
  const turnId = memory.startTurn();
  const word = wordOf(1);
  const before = memory.getWorkingContextMessages().filter(({ kind }) => kind !== 'memory');
  const isThere = before.some((message) => textOf(message).includes(`keep the ${word}`));
  await memory.ingestUserMessage(`Where is the ${word}?`, turnId);
  const recalled = memory.getWorkingContextMessages().at(-2)!;
  const isRecalled = recalled.kind === 'recall' && textOf(recalled).includes(`keep the ${word}`);
  demand(isThere || isRecalled, () => `${word} is not recalled:\n${contextOf(memory).join('\n')}`);
  await memory.ingestAssistantResponse({ content: ANSWER }, turnId);
}

async function check(process: RebootedProcess): Promise<void> {
  const restored = await open(process);
  const { memory } = restored.opened;
  checkContext(contextOf(memory), restored.report.epochId, process.facts.filter(isAboutContext));
  const [violation] = checkHistory(memory.getWorkingContextMessages());
  demand(violation === undefined, () => `the restored list breaks ${violation?.rule}`);
  const rows = await rowsOf(memory.store);
  checkTraces(rows, process.facts);
  for (const place of [AGENT, SCOPE]) await checkFacts(memory, place, process.facts);
  await checkIndex(memory.store, rows, process.thorough);
  await checkRecall(memory);
  const later = contextOf(memory).join('\n');
  await closeAgent(restored);
  for (const ignoreCache of process.thorough ? [false, true] : [false]) {
    const again = await open(process.next(), ignoreCache);
    const same = contextOf(again.opened.memory).join('\n') === later;
    await closeAgent(again);
    demand(
      same,
      () => `the second restore (${ignoreCache ? 'without' : 'with'} the cache) gives another context`,
    );
  }
}

function isAboutContext({ fact }: Fact): boolean {
  return isJsonObject(fact) && String(fact['kind']) in TRACES;
}

async function prepare(disk: SimulatedDisk): Promise<readonly Fact[]> {
  const process = runningProcess(disk, 0, [], {});
  const session = new RecallSession(process, await open(process));
  for (let turn = 0; turn < TURNS_BEFORE; turn += 1) await session.apply('turn');
  for (const operation of ['compact', 'remember', 'index']) await session.apply(operation);
  await session.dispose();
  return process.history.at(Number.POSITIVE_INFINITY);
}

export const recall: Workload = {
  name: 'recall',
  alphabet: [
    'turn',
    'ask',
    'compact',
    'remember',
    'forget',
    'pin',
    'index',
    'ask beside the index',
    'restart',
  ],
  prepare,
  start: async (process) => new RecallSession(process, await open(process)),
  check,
};
