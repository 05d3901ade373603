/** Trace rows of other programs whose calls have no id of their own: a rebuild gives the list that `repairHistory` gives. */
import { describe, expect, it } from 'vitest';
import { verifyAgent } from '../../../src/memory/maintenance/verify-agent.js';
import { SNAPSHOT_FILE } from '../../../src/memory/store/working-context-snapshot-store.js';
import { repairHistory } from '../../../src/messages/legality/history.js';
import { type Message, toolCallsOf, toolResultOf } from '../../../src/messages/message.js';
import { AGENT, filePlace, openAgent, talk } from '../memory-kit.js';
import { legacyMessage, legacySnapshot } from './legacy.js';

type Id = string | null | number | undefined;
type Step = { readonly call: Id; readonly n: number } | { readonly result: Id; readonly value: string };

const call = (id: Id, n: number): Step => ({ call: id, n });
const result = (id: Id, value: string): Step => ({ result: id, value });

/** One turn: what the user asks, and the steps. */
function rowsOf(steps: readonly Step[]): string {
  const head = (seq: number, trace_type: string) => ({
    ...{ id: 'rt_1770900509509', ts: 1770900509.5, turn_id: 'turn_0001', seq, trace_type, source_event: 'E' },
  });
  const rows = steps.map((step, index) =>
    'call' in step
      ? {
          ...head(index + 2, 'tool_call'),
          tool_name: 'read',
          tool_call_id: step.call,
          tool_args: { n: step.n },
        }
      : {
          ...head(index + 2, 'tool_result'),
          tool_name: 'read',
          tool_call_id: step.result,
          tool_result: step.value,
        },
  );
  return [{ ...head(1, 'user'), content: 'go' }, ...rows].map((row) => `${JSON.stringify(row)}\n`).join('');
}

/** The same conversation as a list: calls in a row are one message. */
function listOf(steps: readonly Step[]): Message[] {
  const list: Message[] = [{ role: 'user', content: 'go' }];
  for (const step of steps) {
    const last = list.at(-1)!;
    if ('result' in step) {
      const payload = { toolCallId: String(step.result ?? ''), toolName: 'read', toolResult: step.value };
      list.push({ role: 'tool', content: null, toolPayload: { ...payload, toolError: null } });
      continue;
    }
    const spec = { id: String(step.call ?? ''), name: 'read', arguments: { n: step.n } };
    const toolCalls = [...toolCallsOf(last), spec];
    if (last.role === 'assistant') list[list.length - 1] = { ...last, toolPayload: { toolCalls } };
    else list.push({ role: 'assistant', content: null, toolPayload: { toolCalls } });
  }
  return list;
}

/** Calls and what each was told; the words for interrupted calls differ on purpose. */
function told(messages: readonly Message[]): unknown[] {
  return messages.flatMap((message) => {
    const { toolCallId, toolResult, toolError } = toolResultOf(message) ?? {};
    if (toolCallId !== undefined) return [[toolCallId, toolError === null ? toolResult : 'interrupted']];
    return [toolCallsOf(message).map(({ id, arguments: args }) => [id, args])];
  });
}

const CASES: readonly (readonly [string, readonly Step[]])[] = [
  ['two calls under one id', [call('x', 0), call('x', 1), result('x', 'of 0'), result('x', 'of 1')]],
  ['the same call twice', [call('x', 0), call('x', 0), result('x', 'first'), result('x', 'second')]],
  ['two calls under an empty id', [call('', 0), call('', 1), result('', 'of 0'), result('', 'of 1')]],
  ['two calls under null', [call(null, 0), call(null, 1), result(null, 'of 0'), result(null, 'of 1')]],
  ['calls without the field', [call(undefined, 0), result(undefined, 'of 0'), call(undefined, 1)]],
  ['numbers as ids', [call(7, 0), call(8, 1), result(8, 'of 1'), result(7, 'of 0')]],
  ['one of two calls answered', [call('x', 0), call('x', 1), result('x', 'of 0')]],
  [
    'an id that looks like a new one',
    [call('x', 0), call('x', 1), call('x_2', 2), result('x_2', 'of 2'), result('x', 'of 0')],
  ],
  [
    'two responses',
    [call('x', 0), call('x', 1), result('x', 'a'), result('x', 'b'), call('x', 2), result('x', 'c')],
  ],
  [
    'three calls in one response',
    [call(null, 0), call('a', 1), call(null, 2), result('a', 'of 1'), result(null, 'of 0')],
  ],
];

describe.each(CASES)('rows with %s', (_, steps) => {
  it('are rebuilt to the list of repairHistory', async () => {
    const place = await filePlace();
    await place.put('raw_traces.jsonl', rowsOf(steps));
    const { memory, report } = await openAgent(place);
    const { messages, repairs } = repairHistory(listOf(steps));
    expect(told(memory.getWorkingContextMessages())).toStrictEqual(told(messages));
    const renames = (list: typeof repairs) => list.filter(({ code }) => code === 'rename-call-id');
    expect(renames(report.repairs).map(({ callId, reason }) => [callId, reason])).toStrictEqual(
      renames(repairs).map(({ callId, reason }) => [callId, reason]),
    );
    expect(report).toMatchObject({ damage: [], tracesIgnored: 0 });
  });

  it('give the same list again from the cache, and from a rebuild without it', async () => {
    const place = await filePlace();
    await place.put('raw_traces.jsonl', rowsOf(steps));
    const first = await openAgent(place);
    await talk(first.memory, 'q', 'a');
    const list = told(first.memory.getWorkingContextMessages());
    const again = await openAgent(place);
    expect(again.report.source).toBe('cache');
    expect(told(again.memory.getWorkingContextMessages())).toStrictEqual(list);
    expect(await verifyAgent(place.storage(), AGENT)).toMatchObject({
      problems: [],
      cacheEqualsRebuild: true,
    });
  });

  it('are the tail of a snapshot that has the question only', async () => {
    const place = await filePlace();
    await place.put('raw_traces.jsonl', rowsOf(steps));
    await place.put(SNAPSHOT_FILE, legacySnapshot([legacyMessage('user', 'go')]));
    const { memory, report } = await openAgent(place);
    expect(report.source).toBe('imported');
    expect(told(memory.getWorkingContextMessages())).toStrictEqual(
      told(repairHistory(listOf(steps)).messages),
    );
  });
});

it('a snapshot whose response has two calls under one id gets the results that only the rows have, in order', async () => {
  const steps = [call('x', 0), call('x', 1), result('x', 'of 0'), result('x', 'of 1')];
  const calls = [0, 1].map((n) => ({ id: 'x', name: 'read', arguments: { n } }));
  const place = await filePlace();
  await place.put('raw_traces.jsonl', rowsOf(steps));
  const list = [legacyMessage('user', 'go'), legacyMessage('assistant', null, { tool_calls: calls })];
  await place.put(SNAPSHOT_FILE, legacySnapshot(list));
  const { memory, report } = await openAgent(place);
  expect(told(memory.getWorkingContextMessages())).toStrictEqual(told(repairHistory(listOf(steps)).messages));
  expect(report.repairs.map(({ code, callId }) => [code, callId])).toStrictEqual([['rename-call-id', 'x']]);
});

it('a result under null that no call waits for is counted', async () => {
  const place = await filePlace();
  await place.put(
    'raw_traces.jsonl',
    rowsOf([call('a', 0), result('a', 'of 0'), result(null, 'of nothing')]),
  );
  const { report } = await openAgent(place);
  expect(report).toMatchObject({ tracesIgnored: 1, damage: [] });
});
