/** The SDK's own runner, with requests that have to fit. */
import {
  Agent,
  type AgentInputItem,
  type AgentOutputType,
  type CallModelInputFilter,
  Runner,
  tool,
} from '@openai/agents-core';
import { assistantMessage, functionCall, modelResponder, ScriptedModel } from '@openai/agents-core/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { fitInput, RekindleSession } from '../../../src/adapters/openai-agents/index.js';
import type { CountTokens } from '../../../src/core/text-tokens.js';
import { BUDGET, CALLS as CALLS_MAX, commonStart, fileText, REQUEST, tokenCounter } from '../fit-kit.js';
import { type OpenedTarget, TARGETS } from '../targets.js';

/** The SDK compares all items of a run at each of its steps, so that 300 take long. */
const CALLS = process.env['REKINDLE_TEST_TARGETS'] === 'all' ? CALLS_MAX : 100;
const runner = new Runner({ tracingDisabled: true });
const budget = { inputBudgetTokens: BUDGET };
const NEXT = 'And the smallest?';
type Input = readonly AgentInputItem[];

function readerOf(model: ScriptedModel): Agent {
  const readFile = tool({
    name: 'read_file',
    description: 'Reads a file',
    parameters: z.object({ index: z.number() }),
    execute: ({ index }) => fileText(index),
  });
  return new Agent({ name: 'reader', instructions: 'Be exact.', model, tools: [readFile] });
}

/** One call in each step, after a thought. */
function steps(from: number, to: number, see: (input: Input) => void) {
  return Array.from({ length: to - from }, (_, at) =>
    modelResponder(({ request }) => {
      see(request.input as Input);
      const index = from + at;
      const thought = { type: 'reasoning' as const, id: `rs_${index}`, content: [] };
      return [thought, functionCall('read_file', { index }, { callId: `call_${index}` })];
    }),
  );
}

/** The items that the model would get. */
async function sent(filter: CallModelInputFilter, input: AgentInputItem[]): Promise<AgentInputItem[]> {
  const agent = readerOf(new ScriptedModel([])) as Agent<unknown, AgentOutputType>;
  return (await filter({ modelData: { input, instructions: 'Be exact.' }, agent, context: undefined })).input;
}

/** The items after this many calls. */
function historyOf(calls: number): AgentInputItem[] {
  const steps = Array.from({ length: calls }, (_, index): AgentInputItem[] => {
    const callId = `call_${index}`;
    const call = { name: 'read_file', callId, status: 'completed' } as const;
    return [
      { type: 'reasoning', id: `rs_${index}`, content: [] },
      functionCall('read_file', { index }, { callId }),
      { type: 'function_call_result', ...call, output: { type: 'text', text: fileText(index) } },
    ];
  });
  return [{ type: 'message', role: 'user', content: REQUEST }, ...steps.flat()];
}

/** Each request that one process makes on the way to these items, and with what follows them. */
async function requestsOf(items: AgentInputItem[], rest: AgentInputItem[]): Promise<AgentInputItem[][]> {
  const filter = fitInput({ budget });
  const requests: AgentInputItem[][] = [];
  for (const end of items.keys())
    if (items[end]?.type === 'reasoning') requests.push(await sent(filter, items.slice(0, end)));
  return [...requests, await sent(filter, [...items, ...rest])];
}

function textOf(item: AgentInputItem): string {
  if (item.type === 'function_call') return `${item.name}${item.arguments}`;
  if (item.type === 'function_call_result') {
    const { output } = item;
    return typeof output === 'string' ? output : ((output as { text?: string }).text ?? '');
  }
  const { content } = item as { content?: string | { text?: string }[] };
  return typeof content === 'string' ? content : (content ?? []).map(({ text }) => text ?? '').join('');
}

/** Calls without a result, results without a call, and thoughts without what they led to. */
function problemsOf(input: Input): string[] {
  const problems: string[] = [];
  const open = new Set<string>();
  for (const [at, item] of input.entries()) {
    if (item.type === 'function_call') open.add(item.callId);
    if (item.type === 'function_call_result' && !open.delete(item.callId))
      problems.push(`a result without its call: ${item.callId}`);
    const next = input[at + 1];
    if (item.type === 'reasoning' && item.id !== (next as { callId?: string })?.callId?.replace('call', 'rs'))
      problems.push(`a thought alone: ${item.id}`);
  }
  return [...problems, ...[...open].map((id) => `a call without a result: ${id}`)];
}

const isRequest = (item: AgentInputItem) =>
  'role' in item && item.role === 'user' && textOf(item) === REQUEST;

describe.each(TARGETS)('fitInput over a session in $name', ({ open }) => {
  let target: OpenedTarget;
  let count: CountTokens;
  let session: RekindleSession;
  beforeEach(async () => {
    target = await open();
    count = await tokenCounter();
    session = new RekindleSession({ sessionId: 'report', storage: target.storage });
  });
  afterEach(async () => {
    await session.close();
    await target.destroy();
  });

  const tokensOf = (input: Input) => input.reduce((sum, item) => sum + count(textOf(item)), 0);

  async function nextProcess(): Promise<void> {
    await session.close();
    session = new RekindleSession({ sessionId: 'report', storage: await target.reopen() });
  }

  /** A run of this many calls. Returns each input that the model got. */
  async function longRun(calls: number): Promise<Input[]> {
    const seen: Input[] = [];
    const done = modelResponder(({ request }) => {
      seen.push(request.input as Input);
      return [assistantMessage('file-299.csv has the largest total.')];
    });
    const model = new ScriptedModel([...steps(0, calls, (input) => seen.push(input)), done]);
    const options = { session, maxTurns: calls + 1, callModelInputFilter: fitInput({ budget }) };
    await runner.run(readerOf(model), REQUEST, options);
    return seen;
  }

  it('keeps each request of a long run within the budget, legal and with the last request; the session keeps everything', async () => {
    const seen = await longRun(CALLS);

    expect(seen).toHaveLength(CALLS + 1);
    expect(seen.filter((input) => tokensOf(input) > BUDGET)).toEqual([]);
    expect(seen.flatMap(problemsOf)).toEqual([]);
    expect(seen.filter((input) => !input.some(isRequest))).toEqual([]);
    await nextProcess();
    const items = await session.getItems();
    const results = items.filter((item) => item.type === 'function_call_result');
    expect(items.filter(isRequest)).toHaveLength(1);
    expect(items).toHaveLength(1 + 3 * CALLS + 1);
    expect(results.map(textOf)).toEqual(Array.from({ length: CALLS }, (_, index) => fileText(index)));
  }, 120_000);

  it('stores the next request as it is, and no summary, if the session no longer fits', async () => {
    const earlier = historyOf(200);
    await session.addItems(earlier);
    const model = new ScriptedModel([[assistantMessage('file-0.csv.')]]);
    await runner.run(readerOf(model), NEXT, { session, callModelInputFilter: fitInput({ budget }) });
    const request = model.firstCall?.request.input as AgentInputItem[];
    expect(textOf(request[0]!)).toContain('[MEMORY:EPISODIC]');
    await nextProcess();
    const items = await session.getItems();
    expect(items.slice(0, earlier.length)).toEqual(earlier);
    expect(items.slice(earlier.length).map(textOf)).toEqual([NEXT, 'file-0.csv.']);
  }, 60_000);

  it('makes the same request from a restored session as in the live process', async () => {
    const items = historyOf(200);
    await session.addItems(items);
    await nextProcess();
    const restored = await session.getItems();
    const next: AgentInputItem = { type: 'message', role: 'user', content: NEXT };
    const live = await requestsOf(items, [next]);
    const fresh = await sent(fitInput({ budget }), [...restored, next]);
    expect(fresh).toEqual(live.at(-1));
    expect(fresh.length).toBeLessThan(restored.length);
  }, 60_000);

  it('changes the beginning of the requests seldom', async () => {
    const seen = await requestsOf(historyOf(120), []);
    const changed = seen.slice(1).filter((input, at) => commonStart(seen[at]!, input) < seen[at]!.length);
    expect(changed.length).toBeGreaterThan(0);
    expect(changed.length).toBeLessThan(seen.length / 5);
  }, 60_000);

  it('sends the same items if all fit', async () => {
    const filter = fitInput({ budget: { inputBudgetTokens: 200_000 } });
    const input: AgentInputItem[] = [
      { type: 'message', role: 'system', content: 'In short.' },
      { type: 'message', role: 'user', content: REQUEST, providerData: { of: 'the host' } },
      functionCall('read_file', { index: 3 }, { callId: 'call_3' }),
      {
        type: 'function_call_result',
        name: 'read_file',
        callId: 'call_3',
        status: 'completed',
        output: fileText(3),
      },
    ];
    const filtered = await sent(filter, input);
    expect(filtered).toHaveLength(input.length);
    expect(filtered.every((item, at) => item === input[at])).toBe(true);
  });

  it('keeps system messages in the middle, and marks how much of a result is left out', async () => {
    const history: AgentInputItem[] = [
      { type: 'message', role: 'user', content: REQUEST },
      functionCall('read_file', { index: 7 }, { callId: 'call_7' }),
      {
        type: 'function_call_result',
        name: 'read_file',
        callId: 'call_7',
        status: 'completed',
        output: { type: 'text', text: fileText(7) },
      },
      { type: 'message', role: 'system', content: 'From now on in French.' },
    ];
    const input = await sent(fitInput({ budget }), history);
    expect(input[3]).toBe(history[3]);
    expect(textOf(input[2]!)).toContain(`of ${fileText(7).length} characters are left out here`);
    expect(textOf(input[2]!)).not.toContain('read_result');
  });

  it('keeps each result if only the end of a conversation is sent, because the provider has the rest', async () => {
    const results = historyOf(40).filter((item) => item.type === 'function_call_result');
    const input = await sent(fitInput({ budget }), results);
    expect(input.map((item) => (item as { callId?: string }).callId)).toEqual(
      results.map(({ callId }) => callId),
    );
    expect(tokensOf(input)).toBeLessThan(BUDGET);
  });

  it('rejects with CONTEXT_TOO_LARGE instead of removing results that the provider waits for', async () => {
    const results = historyOf(150).filter((item) => item.type === 'function_call_result');
    await expect(sent(fitInput({ budget }), results)).rejects.toMatchObject({ code: 'CONTEXT_TOO_LARGE' });
  });

  it('rejects with CONTEXT_TOO_LARGE before the model is called if the last request alone is too large', async () => {
    const model = new ScriptedModel([[assistantMessage('Never.')]]);
    const run = runner.run(readerOf(model), fileText(7), {
      session,
      callModelInputFilter: fitInput({ budget }),
    });
    await expect(run).rejects.toMatchObject({ code: 'CONTEXT_TOO_LARGE' });
    expect(model.calls).toEqual([]);
  });

  it.each([0, -1, 1.5, Number.NaN])('is refused for a budget of %s tokens', (inputBudgetTokens) => {
    expect(() => fitInput({ budget: { inputBudgetTokens } })).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
    );
  });
});
