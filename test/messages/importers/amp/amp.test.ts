import { describe, expect, it } from 'vitest';
import { ampImporter } from '../../../../src/messages/importers/amp/amp.js';
import { toolResultOf } from '../../../../src/messages/message.js';
import { hasShared, isRecognised, orphansOf, readAll, sharedFiles } from '../read-all.js';

const thread = (...messages: object[]) => ({ v: 3, id: 'T-1', created: 1, messages });
const user = (...content: object[]) => ({ role: 'user', messageId: 0, content, meta: { sentAt: 1000 } });
const answer = (fields: object, ...content: object[]) => ({
  role: 'assistant',
  messageId: 1,
  content,
  ...fields,
});
const call = (id: string) => ({ type: 'tool_use', complete: true, id, name: 'Read', input: { path: id } });
const run = (toolUseID: string, given: object) => ({ type: 'tool_result', toolUseID, run: given });

describe('the importer of Amp threads', () => {
  it('recognises a thread by its version and its id', async () => {
    const messages = [user({ type: 'text', text: 'hi' })];
    expect(await isRecognised(ampImporter, thread(...messages))).toBe(true);
    expect(await isRecognised(ampImporter, { messages })).toBe(false);
  });

  it('reads answers with their model and time, and marks one that was stopped', async () => {
    const usage = { model: 'claude-opus-4-6', timestamp: '1970-01-01T00:00:02.000Z' };
    const { items, messages } = await readAll(
      ampImporter,
      thread(
        user({ type: 'text', text: 'hi' }),
        answer(
          { usage, state: { type: 'cancelled' } },
          { type: 'thinking', thinking: 'hm', signature: 'sig', provider: 'anthropic' },
          { type: 'text', text: 'Ye' },
        ),
      ),
    );
    const origin = { provider: 'anthropic', model: 'claude-opus-4-6' };
    expect(messages[1]).toEqual({
      ...{ role: 'assistant', content: 'Ye', origin, status: 'aborted' },
      reasoning: [{ text: 'hm', signature: 'sig', origin }],
    });
    expect(items.map(({ ts }) => ts)).toEqual([1, 2]);
  });

  it('reads what a tool returned, why it failed, and leaves a call open that has not ended', async () => {
    const { messages, report } = await readAll(
      ampImporter,
      thread(
        answer({}, call('a'), call('b'), call('c'), call('d')),
        user(
          run('a', { status: 'done', result: { content: 'text' } }),
          run('b', { status: 'done', result: ['x'] }),
          run('c', { status: 'error', error: { message: 'no file' } }),
          run('d', { status: 'in-progress' }),
        ),
      ),
    );
    expect(messages.slice(1).map((message) => toolResultOf(message))).toMatchObject([
      { toolCallId: 'a', toolName: 'Read', toolResult: { content: 'text' }, toolError: null },
      { toolCallId: 'b', toolResult: '["x"]' },
      { toolCallId: 'c', toolResult: null, toolError: 'no file' },
    ]);
    expect(report.dropped.map(({ what }) => what)).toContain('run of a tool that has not ended');
  });
});

describe.skipIf(!hasShared('corpus/misc/amp'))('real Amp threads', () => {
  it('are read with a result for each call', async () => {
    for (const file of sharedFiles('corpus/misc/amp')) {
      const { messages, report } = await readAll(ampImporter, file);
      expect(orphansOf(messages)).toEqual([]);
      expect(report.kept['tool call']).toBe(report.kept['tool result']);
    }
  });
});
