/** A conversation over a backend of which each call fails in its turn; then the restore over the healthy one. */
import { describe, expect, it } from 'vitest';
import { isRekindleError } from '../../src/core/errors.js';
import { formatTurnId } from '../../src/core/ids.js';
import type { MemoryManager } from '../../src/memory/memory-manager.js';
import { tryTraceFromJson } from '../../src/memory/models/trace-serializer.js';
import { checkHistory } from '../../src/messages/legality/history.js';
import type { StorageBackend } from '../../src/storage/ports.js';
import {
  type FaultPlan,
  failAt,
  faultyStorage,
  loseAnswerAt,
  noFaults,
  type StorageCall,
} from '../../src/storage/testing/index.js';
import {
  AGENT,
  answer,
  call,
  contextText,
  memoryPlace,
  openAgent,
  type Place,
  sketchOf,
  talk,
} from './memory-kit.js';

interface Step {
  /** What is durable once it is acknowledged. */
  readonly traces: readonly string[];
  run(memory: MemoryManager): Promise<unknown>;
}

const turnOf = (memory: MemoryManager) => formatTurnId(memory.lastTurn);

const STEPS: readonly Step[] = [
  { traces: ['user Go'], run: (memory) => memory.ingestUserMessage('Go', memory.startTurn()) },
  {
    traces: ['assistant I look.', 'tool_call a', 'tool_call b'],
    run: (memory) =>
      memory.ingestAssistantResponse(
        { content: 'I look.', toolCalls: [call('a'), call('b')] },
        turnOf(memory),
      ),
  },
  { traces: ['tool_result b'], run: (memory) => memory.ingestToolResults([answer('b')], turnOf(memory)) },
  { traces: ['tool_result a'], run: (memory) => memory.ingestToolResults([answer('a')], turnOf(memory)) },
  {
    traces: ['assistant Done.'],
    run: (memory) => memory.ingestAssistantResponse({ content: 'Done.' }, turnOf(memory)),
  },
  { traces: [], run: (memory) => memory.endTurn() },
];

/** What a user says who goes on after a step that failed, with the same memory. */
const LATER: readonly Step[] = [
  { traces: ['user And now?'], run: (memory) => memory.ingestUserMessage('And now?', memory.startTurn()) },
  {
    traces: ['assistant Now this.'],
    run: (memory) => memory.ingestAssistantResponse({ content: 'Now this.' }, turnOf(memory)),
  },
];

interface FaultKind {
  readonly title: string;
  readonly codes: readonly string[];
  readonly answerLost: boolean;
  readonly plan: (number: number) => FaultPlan;
}

const KINDS: readonly FaultKind[] = [
  { title: 'fails', codes: ['STORAGE_FAILED'], answerLost: false, plan: (number) => failAt(number) },
  {
    title: 'finds the store full',
    codes: ['STORAGE_FULL'],
    answerLost: false,
    plan: (number) => failAt(number, 'STORAGE_FULL'),
  },
  {
    title: 'is carried out, but loses its answer',
    codes: ['JOURNAL_OUTCOME_UNKNOWN', 'STORAGE_UNAVAILABLE'],
    answerLost: true,
    plan: loseAnswerAt,
  },
];

export function memoryUnderFaults(name: string, make: () => Promise<Place>): void {
  describe.each(KINDS)(`a memory over ${name} of which a call $title`, (kind) => {
    it.each([
      ['stops', []],
      ['goes on', LATER],
    ] as const)('keeps what it acknowledged when its user %s', async (_, later) => {
      let told = 0;
      for (let number = 1; ; number += 1) {
        const fault = await converseWithFault(await make(), kind, later, number);
        if (fault === null) break;
        if (fault.told) told += 1;
      }
      const writing = [...STEPS, ...later].filter(({ traces }) => traces.length > 0);
      expect(told).toBeGreaterThanOrEqual(writing.length);
    });
  });
}

/** Null when there is no call with this number. */
async function converseWithFault(
  place: Place,
  kind: FaultKind,
  later: readonly Step[],
  number: number,
): Promise<{ readonly told: boolean } | null> {
  const fault: { call: StorageCall | null } = { call: null };
  const planned = kind.plan(number);
  const plan: FaultPlan = (one) => {
    const fate = planned(one);
    if (fate) fault.call = one;
    return fate;
  };
  await begin(place);
  const storage = place.storage();
  const said = await converse(place, faultyStorage(storage, plan), kind.codes, [STEPS, later]);
  await storage.close();
  const found = await restored(place, `with the fault at call ${number} (${fault.call?.operation})`);
  const where = `call ${number} (${fault.call?.operation}), after ${said.counts.join(' and ')} steps`;
  const possible = [await remembered(said.counts)];
  if (said.inFlight && kind.answerLost) possible.push(await remembered(said.inFlight));
  expect(possible, where).toContainEqual(found);
  return fault.call && { told: said.inFlight !== null };
}

/** How many of the steps, and of the later ones. */
type Counts = readonly [number, number];

interface Remembered {
  readonly traces: readonly string[];
  readonly list: readonly string[];
}

const known = new Map<string, Promise<Remembered>>();

/** What is remembered of so many steps when there is no fault. */
function remembered(counts: Counts): Promise<Remembered> {
  const key = counts.join(' ');
  const found = known.get(key) ?? withoutFault(counts);
  known.set(key, found);
  return found;
}

async function withoutFault(counts: Counts): Promise<Remembered> {
  const place = memoryPlace();
  await begin(place);
  const parts = [STEPS.slice(0, counts[0]), LATER.slice(0, counts[1])] as const;
  await converse(place, faultyStorage(place.storage(), noFaults), [], parts);
  const found = await restored(place, `without a fault, after ${counts.join(' and ')} steps`);
  expect(found.traces).toStrictEqual(parts.flat().flatMap(({ traces }) => traces));
  return found;
}

async function begin(place: Place): Promise<void> {
  const { memory, close, storage } = await openAgent(place);
  await memory.begin('Be kind.');
  await close();
  await storage.close();
}

/** Opens again when that failed; a part ends at the step that failed. How much was acknowledged, and what it is with the step that failed. */
async function converse(
  place: Place,
  storage: StorageBackend,
  codes: readonly string[],
  parts: readonly [readonly Step[], readonly Step[]],
): Promise<{ readonly counts: Counts; readonly inFlight: Counts | null }> {
  let failures = 0;
  const attempt = async <T>(work: () => Promise<T>): Promise<{ readonly value: T } | null> => {
    try {
      return { value: await work() };
    } catch (thrown) {
      failures += 1;
      expect(failures, `failed after the fault was gone: ${String(thrown)}`).toBe(1);
      expect(isRekindleError(thrown), `failed without a code: ${String(thrown)}`).toBe(true);
      expect(codes).toContain((thrown as { code: string }).code);
      return null;
    }
  };
  const open = () => attempt(() => openAgent(place, { storage }));
  const { memory, close } = ((await open()) ?? (await open()))!.value;
  const counts: [number, number] = [0, 0];
  let inFlight: Counts | null = null;
  for (const [part, steps] of parts.entries()) {
    for (const step of steps) {
      const done = await attempt(() => step.run(memory));
      if (!done) inFlight = part === 0 ? [counts[0] + 1, 0] : [counts[0], counts[1] + 1];
      if (!done) break;
      counts[part]! += 1;
    }
  }
  if (inFlight && inFlight[0] > counts[0]) inFlight = [inFlight[0], counts[1]];
  await attempt(close);
  return { counts, inFlight };
}

/** What the next process finds, over the healthy store: the same from its cache as from its traces, and legal. */
async function restored(place: Place, where: string): Promise<Remembered> {
  const storage = place.storage();
  const traces: string[] = [];
  const journal = await storage.openJournal(['agents', AGENT, 'raw_traces'], { readOnly: true });
  for await (const entry of journal.read()) {
    expect(entry.kind, where).toBe('record');
    const trace = entry.kind === 'record' ? tryTraceFromJson(entry.record) : null;
    const text = trace && textOf(trace);
    if (text) traces.push(text);
  }
  const rebuilt = await openAgent(place, { storage, readOnly: true, restore: { ignoreCache: true } });
  const fromTraces = contextText(rebuilt.memory);
  await rebuilt.close();
  const { memory, close } = await openAgent(place, { storage });
  expect(JSON.parse(contextText(memory)), where).toStrictEqual(JSON.parse(fromTraces));
  expect(checkHistory(memory.getWorkingContextMessages()), where).toStrictEqual([]);
  const list = sketchOf(memory);
  await talk(memory, 'Still here?', 'Yes.');
  expect(sketchOf(memory), where).toStrictEqual([...list, 'user: Still here?', 'assistant: Yes.']);
  await close();
  await storage.close();
  return { traces, list };
}

function textOf(trace: NonNullable<ReturnType<typeof tryTraceFromJson>>): string | null {
  switch (trace.type) {
    case 'user':
    case 'assistant':
      return `${trace.type} ${trace.message.content}`;
    case 'tool_call':
      return `tool_call ${trace.call.id}`;
    case 'tool_result':
      return `tool_result ${trace.result.toolCallId}`;
    default:
      return null;
  }
}
