import { describe, expect, it } from 'vitest';
import { droidImporter } from '../../../../src/messages/importers/droid/droid.js';
import { hasShared, isRecognised, lines, orphansOf, readAll, sharedFiles } from '../read-all.js';

const timestamp = '2026-02-01T08:00:00.000Z';
const header = { type: 'session_start', id: 's', title: 't', cwd: '/w' };
const entry = (role: string, ...content: object[]) => ({
  ...{ type: 'message', id: 'm', timestamp },
  message: { role, content },
});

describe('the importer of Droid sessions', () => {
  it('recognises a session by its header, if its messages are messages', async () => {
    const hi = entry('user', { type: 'text', text: 'hi' });
    expect(await isRecognised(droidImporter, lines(header, hi))).toBe(true);
    expect(await isRecognised(droidImporter, lines(header, { type: 'message', message: 'hi' }))).toBe(false);
    expect(await isRecognised(droidImporter, lines(hi, hi))).toBe(false);
  });

  it('reads calls and results with their times', async () => {
    const { items, messages, report } = await readAll(
      droidImporter,
      lines(
        header,
        entry('assistant', { type: 'tool_use', id: 'c1', name: 'Read', input: { path: 'a' } }),
        { type: 'todo_state', id: 'x', timestamp, todos: {} },
        entry('user', { type: 'tool_result', tool_use_id: 'c1', content: 'no', is_error: true }),
      ),
    );
    expect(messages).toEqual([
      {
        role: 'assistant',
        content: null,
        toolPayload: { toolCalls: [{ id: 'c1', name: 'Read', arguments: { path: 'a' } }] },
      },
      {
        role: 'tool',
        content: null,
        toolPayload: { toolCallId: 'c1', toolName: 'Read', toolResult: null, toolError: 'no' },
      },
    ]);
    expect(items.map(({ ts }) => ts)).toEqual([Date.parse(timestamp) / 1000, Date.parse(timestamp) / 1000]);
    expect(report.dropped.map(({ what }) => what)).toEqual(['session header', 'list of tasks, for display']);
  });
});

describe.skipIf(!hasShared('corpus/misc/droid'))('real Droid sessions', () => {
  it('are read with a result for each call', async () => {
    for (const file of sharedFiles('corpus/misc/droid')) {
      const { messages, report } = await readAll(droidImporter, file);
      expect(orphansOf(messages)).toEqual([]);
      expect(report.kept['tool call']).toBe(report.kept['tool result']);
      expect(report.dropped.map(({ what }) => what)).not.toContain('record of an unknown type');
    }
  });
});
