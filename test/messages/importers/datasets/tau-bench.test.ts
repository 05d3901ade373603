import { describe, expect, it } from 'vitest';
import { tauBenchImporter as importer } from '../../../../src/messages/importers/datasets/tau-bench.js';
import { isRecognised, readAll } from '../read-all.js';

const asked = { role: 'user', content: 'Cancel my flight.', turn_idx: 0, cost: 0.1 };
const call = { id: 'c1', name: 'cancel', arguments: { id: 7 }, requestor: 'assistant' };
const calling = { role: 'assistant', content: null, tool_calls: [call], raw_data: { model: 'gpt-4o' } };
const result = { id: 'c1', role: 'tool', content: 'done', requestor: 'assistant', error: false };
const simulationOf = (messages: unknown, rest: object = {}) => ({ id: 's', task_id: '0', messages, ...rest });
const tau2 = (...simulations: unknown[]) => ({ timestamp: 't', info: {}, tasks: [], simulations });
const messagesOf = async (given: unknown) => (await readAll(importer, given)).messages;
const whatsOf = (items: readonly { readonly what: string }[]) => items.map(({ what }) => what);

describe('the import of tau-bench results', () => {
  it('reads the first run of tau-bench and counts the others', async () => {
    const chatCall = { id: 'c1', type: 'function', function: { name: 'cancel', arguments: '{"id":7}' } };
    const traj = [
      { role: 'system', content: 'Follow the policy.' },
      { role: 'user', content: 'Cancel my flight.' },
      { role: 'assistant', content: null, tool_calls: [chatCall] },
      { role: 'tool', tool_call_id: 'c1', name: 'cancel', content: 'done' },
    ];
    const document = [
      { task_id: 0, traj: [], reward: 0 },
      { task_id: 1, traj, reward: 1 },
      { task_id: 2, traj, reward: 1 },
    ];
    expect(await isRecognised(importer, document)).toBe(true);
    const { messages, report } = await readAll(importer, document);
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool']);
    expect(messages[3]).toMatchObject({
      toolPayload: { toolCallId: 'c1', toolName: 'cancel', toolResult: 'done' },
    });
    expect(report.records).toBe(5);
    expect(report.dropped).toContainEqual({
      what: 'another conversation',
      count: 1,
      places: ['conversations/2'],
    });
  });

  it('reads simulations of tau2-bench, whose results name their call in `id`', async () => {
    const document = tau2(simulationOf([asked, calling, result]), simulationOf([asked]));
    expect(await isRecognised(importer, document)).toBe(true);
    const { messages, report } = await readAll(importer, document);
    expect(messages).toStrictEqual([
      { role: 'user', content: 'Cancel my flight.' },
      {
        role: 'assistant',
        content: null,
        toolPayload: { toolCalls: [{ id: 'c1', name: 'cancel', arguments: { id: 7 } }] },
        origin: { provider: 'openai', model: 'gpt-4o' },
      },
      {
        role: 'tool',
        content: null,
        toolPayload: { toolCallId: 'c1', toolName: 'cancel', toolResult: 'done', toolError: null },
      },
    ]);
    expect(whatsOf(report.dropped)).toEqual([
      'a field next to the messages',
      'another conversation',
      'what the run recorded about a message',
    ]);
  });

  it('reads a simulation that is a file of its own, but not one of voice without messages', async () => {
    const alone = simulationOf([asked], { termination_reason: 'user_stop' });
    expect(await isRecognised(importer, alone)).toBe(true);
    expect(await messagesOf(alone)).toHaveLength(1);
    const { messages: _, ...voice } = alone;
    expect(await isRecognised(importer, { ...voice, ticks: [] })).toBe(false);
  });

  it('leaves out what the simulated user did with tools, and keeps what they said', async () => {
    const own = { id: 'u1', name: 'restart', arguments: {}, requestor: 'user' };
    const list = [
      { role: 'user', content: 'I restarted it.', tool_calls: [own] },
      { role: 'user', content: null, tool_calls: [own] },
      { id: 'u1', role: 'tool', content: 'ok', requestor: 'user' },
    ];
    const { messages, report } = await readAll(importer, tau2(simulationOf(list)));
    expect(messages).toEqual([{ role: 'user', content: 'I restarted it.' }]);
    expect(report.dropped).toContainEqual({
      what: 'a tool call of the simulated user',
      count: 2,
      places: ['messages/0', 'messages/1'],
    });
    expect(whatsOf(report.dropped)).toContain('a result for the simulated user');
  });

  it('reads failures as errors, and several results in one message', async () => {
    const second = { ...call, id: 'c2' };
    const both = { ...calling, tool_calls: [call, second] };
    const results = {
      role: 'tool',
      tool_messages: [
        { ...result, error: true, content: 'no such flight' },
        { ...result, id: 'c2', error: true, content: '' },
      ],
    };
    expect((await messagesOf(tau2(simulationOf([both, results])))).slice(1)).toMatchObject([
      { toolPayload: { toolCallId: 'c1', toolResult: null, toolError: 'no such flight' } },
      { toolPayload: { toolCallId: 'c2', toolResult: null, toolError: 'The tool failed.' } },
    ]);
  });

  it('refuses results without messages', async () => {
    await expect(readAll(importer, tau2(simulationOf([])))).rejects.toMatchObject({
      code: 'TRANSCRIPT_INVALID',
    });
  });
});
