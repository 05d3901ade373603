import { describe, expect, it } from 'vitest';
import { kimiImporter } from '../../../../src/messages/importers/kimi/kimi.js';
import { textOf, toolCallsOf, toolResultOf } from '../../../../src/messages/message.js';
import { hasShared, isRecognised, lines, orphansOf, readAll, sharedFiles } from '../read-all.js';

const header = { type: 'metadata', protocol_version: '1.4', created_at: 1 };
const text = (value: string) => ({ type: 'text', text: value });
const prompt = (value: string) => ({ type: 'turn.prompt', input: [text(value)], time: 1000 });
const added = (value: string) => ({
  ...{ type: 'context.append_message', time: 2000 },
  message: { role: 'user', content: [text(value)], toolCalls: [] },
});
const event = (type: string, fields: object = {}) => ({
  ...{ type: 'context.append_loop_event', time: 3000 },
  event: { type, ...fields },
});
const part = (given: object) => event('content.part', { part: given });
const call = (toolCallId: string) => event('tool.call', { toolCallId, name: 'Read', args: { path: 'a' } });
const done = (toolCallId: string, result: object) => event('tool.result', { toolCallId, result });
const read = (...records: object[]) => readAll(kimiImporter, lines(header, ...records));

describe('the importer of Kimi Code sessions', () => {
  it('recognises a session by its header or its events', async () => {
    expect(await isRecognised(kimiImporter, lines(header, prompt('hi')))).toBe(true);
    expect(await isRecognised(kimiImporter, lines(prompt('hi'), event('step.begin')))).toBe(true);
    expect(await isRecognised(kimiImporter, lines({ type: 'metadata' }, { type: 'x' }))).toBe(false);
  });

  it('reads a prompt once, whether or not the context repeats it', async () => {
    const { messages } = await read(
      ...[prompt('a'), added('a'), event('step.begin'), part(text('A')), event('step.end')],
      ...[prompt('b'), event('step.begin'), part(text('B')), event('step.end')],
      ...[prompt('c'), added('<reminder/>'), added('c')],
    );
    expect(messages.map(textOf)).toEqual(['a', 'A', 'b', 'B', 'c', '<reminder/>', 'c']);
  });

  it('joins the parts and calls of a step, and reads results and failures', async () => {
    const { messages } = await read(
      { type: 'config.update', systemPrompt: 'Be brief.', modelAlias: 'moonshot-ai/kimi-k2' },
      ...[event('step.begin'), part({ type: 'think', think: 'hm' }), part(text('I look.'))],
      ...[call('c1'), call('c2'), done('c1', { output: 'short' }), done('c2', { output: '', isError: true })],
      event('step.end'),
    );
    const origin = { provider: 'moonshot', model: 'kimi-k2' };
    expect(messages[0]).toEqual({ role: 'system', content: 'Be brief.' });
    expect(messages[1]).toMatchObject({ content: 'I look.', reasoning: [{ text: 'hm', origin }], origin });
    expect(toolCallsOf(messages[1]!).map(({ id }) => id)).toEqual(['c1', 'c2']);
    expect(messages.slice(2).map((message) => toolResultOf(message))).toMatchObject([
      { toolCallId: 'c1', toolName: 'Read', toolResult: 'short', toolError: null },
      { toolCallId: 'c2', toolResult: null, toolError: 'The tool failed without a message.' },
    ]);
  });

  it('begins the context again with the summary of a compaction', async () => {
    const { items } = await read(prompt('a'), {
      ...{ type: 'context.apply_compaction', summary: 'short', contextSummary: 'So far: much.' },
    });
    expect(items.map(({ kind }) => kind)).toEqual(['message', 'compaction']);
    expect(items[1]).toMatchObject({ messages: [{ kind: 'memory', content: 'So far: much.' }] });
  });
});

describe.skipIf(!hasShared('corpus/misc/kimi'))('real Kimi Code sessions', () => {
  it('are read with a result for each call, and without an event of an unknown type', async () => {
    for (const file of sharedFiles('corpus/misc/kimi')) {
      const { messages, report } = await readAll(kimiImporter, file);
      expect(messages.length).toBeGreaterThan(2);
      expect(orphansOf(messages)).toEqual([]);
      expect(report.kept['tool call'] ?? 0).toBe(report.kept['tool result'] ?? 0);
      expect(report.dropped.map(({ what }) => what)).not.toContain('event of an unknown type');
    }
  });
});
