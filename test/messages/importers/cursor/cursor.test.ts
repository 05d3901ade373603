import { describe, expect, it } from 'vitest';
import { cursorImporter } from '../../../../src/messages/importers/cursor/cursor.js';
import { toolCallsOf, toolResultOf } from '../../../../src/messages/message.js';
import { hasShared, isRecognised, lines, orphansOf, readAll, sharedFiles } from '../read-all.js';

const record = (role: string, ...content: object[]) => ({ role, message: { content } });
const call = (name: string, id?: string) => ({ type: 'tool_use', name, input: {}, ...(id ? { id } : {}) });
const result = (id: string, content: string) => ({ type: 'tool_result', tool_use_id: id, content });

describe('the importer of Cursor transcripts', () => {
  it('recognises messages inside a message, and none that have a type or the content beside the role', async () => {
    const recognises = (line: object) => isRecognised(cursorImporter, lines(line, line));
    expect(await recognises(record('user', { type: 'text', text: 'hi' }))).toBe(true);
    expect(await isRecognised(cursorImporter, lines(record('user')))).toBe(true);
    expect(await recognises({ ...record('user'), type: 'user' })).toBe(false);
    expect(await recognises({ role: 'user', content: [] })).toBe(false);
  });

  it('names calls without ids by their number, and gives results to the oldest of them', async () => {
    const { messages, report } = await readAll(
      cursorImporter,
      lines(
        record('assistant', { type: 'thinking', thinking: 'hm' }, call('A'), call('B'), call('C', 'own')),
        record('user', result('t1', 'a'), result('own', 'c'), result('t2', 'b')),
      ),
    );
    expect(toolCallsOf(messages[0]!).map(({ id }) => id)).toEqual(['cursor_call_1', 'cursor_call_2', 'own']);
    expect(messages.slice(1).map((message) => toolResultOf(message))).toMatchObject([
      { toolCallId: 'cursor_call_1', toolName: 'A', toolResult: 'a' },
      { toolCallId: 'own', toolName: 'C', toolResult: 'c' },
      { toolCallId: 'cursor_call_2', toolName: 'B', toolResult: 'b' },
    ]);
    expect(report.approximated.map(({ count }) => count)).toEqual([2, 2]);
  });

  it('counts lines that are no messages', async () => {
    const { messages, report } = await readAll(
      cursorImporter,
      lines(record('user', { type: 'text', text: 'hi' }), { type: 'turn_ended', status: 'success' }),
    );
    expect(messages).toEqual([{ role: 'user', content: 'hi' }]);
    expect(report.dropped).toMatchObject([{ what: 'record that is not a message', places: ['line 2'] }]);
  });
});

describe.skipIf(!hasShared('corpus/misc/cursor'))('real Cursor transcripts', () => {
  it('are read without a loss, and each result has its call', async () => {
    for (const file of sharedFiles('corpus/misc/cursor')) {
      const { messages, report } = await readAll(cursorImporter, file);
      expect(messages).toHaveLength(report.records);
      expect(orphansOf(messages)).toEqual([]);
      expect(report.dropped).toEqual([]);
    }
  });
});
