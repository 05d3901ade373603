import { describe, expect, it } from 'vitest';
import { adkImporter } from '../../../../src/messages/importers/adk/adk.js';
import { textOf, toolCallsOf, toolResultOf } from '../../../../src/messages/message.js';
import { isRecognised, lines, readAll } from '../read-all.js';

const event = (author: string, role: string | undefined, parts: object[], fields: object = {}) => ({
  ...{ id: 'e', invocationId: 'i', author, timestamp: 1_759_154_590.5, actions: { stateDelta: {} } },
  content: { ...(role ? { role } : {}), parts },
  ...fields,
});
const hi = event('user', 'user', [{ text: 'hi' }]);
const call = event('agent', 'model', [{ functionCall: { id: 'adk-1', name: 'look', args: { path: 'a' } } }]);
const done = event('agent', 'user', [
  { functionResponse: { id: 'adk-1', name: 'look', response: { result: 'short' } } },
]);
const session = (...events: object[]) => ({ id: 's', appName: 'app', userId: 'u', state: {}, events });
const read = (given: unknown) => readAll(adkImporter, given);

describe('the importer of ADK sessions', () => {
  it('recognises sessions, lists and lines of events', async () => {
    const recognises = (given: unknown) => isRecognised(adkImporter, given);
    expect(await recognises(session(hi, call))).toBe(true);
    expect(await recognises([hi, call])).toBe(true);
    expect(await recognises(lines(hi, call))).toBe(true);
    expect(await recognises({ events: [{ author: 'me', title: 'a concert' }] })).toBe(false);
    expect(await recognises([{ author: 'me', content: 'hello' }])).toBe(false);
  });

  it('reads texts, calls and results with their times, in each form', async () => {
    const all = [hi, call, done, event('agent', 'model', [{ text: 'Yes.' }])];
    for (const given of [session(...all), all, lines(...all)]) {
      const { items, messages } = await read(given);
      expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
      expect(toolCallsOf(messages[1]!)).toEqual([{ id: 'adk-1', name: 'look', arguments: { path: 'a' } }]);
      expect(toolResultOf(messages[2]!)).toMatchObject({ toolCallId: 'adk-1', toolName: 'look' });
      expect(items[0]?.ts).toBe(1_759_154_590.5);
    }
  });

  it('reads a session of one event', async () => {
    const { messages } = await read(lines(hi));
    expect(messages).toEqual([{ role: 'user', content: 'hi' }]);
  });

  it('reads names with underscores, and tells the role by author and content if it is missing', async () => {
    const { messages } = await read(
      session(
        event('user', undefined, [{ text: 'hi' }]),
        event('agent', undefined, [{ function_call: { id: '1', name: 'look', args: {} }, text: null }]),
        event('agent', undefined, [{ function_response: { id: '1', name: 'look', response: { a: 1 } } }]),
      ),
    );
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  });

  it('leaves out parts of an answer that a later event holds whole', async () => {
    const { messages, report } = await read(
      session(
        hi,
        event('agent', 'model', [{ text: 'Ye' }], { partial: true }),
        event('agent', 'model', [{ text: 'Yes.' }]),
        { ...hi, content: null },
      ),
    );
    expect(messages.map(textOf)).toEqual(['hi', 'Yes.']);
    expect(report.dropped.map(({ what }) => what)).toEqual([
      'part of an answer that a later event holds whole',
      'event without content',
    ]);
  });

  it('counts changes of the state and answers of other agents', async () => {
    const { report } = await read(
      session(
        event('planner', 'model', [{ text: 'a' }], { actions: { stateDelta: { x: 1 } } }),
        event('writer', 'model', [{ text: 'b' }]),
      ),
    );
    expect(report.dropped.map(({ what }) => what)).toEqual(['change of the state']);
    expect(report.approximated.map(({ what }) => what)).toEqual([
      'answer of another agent, as one of the same assistant',
    ]);
  });

  it('refuses a document without a list of events', async () => {
    await expect(read({ id: 's' })).rejects.toMatchObject({ code: 'TRANSCRIPT_INVALID' });
  });
});
