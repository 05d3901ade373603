import { describe, expect, it } from 'vitest';
import { gooseImporter } from '../../../../src/messages/importers/goose/goose.js';
import { textOf, toolCallsOf, toolResultOf } from '../../../../src/messages/message.js';
import { isRecognised, lines, readAll } from '../read-all.js';

const header = { working_dir: '/w', description: 'd', message_count: 2, total_tokens: null };
const message = (role: string, content: object[], metadata?: object) => ({
  ...{ id: 'm', role, created: 1_759_154_590, content },
  ...(metadata ? { metadata } : {}),
});
const text = (value: string) => ({ type: 'text', text: value });
const call = (id: string, toolCall: object) => ({ type: 'toolRequest', id, toolCall });
const ls = call('c1', {
  status: 'success',
  value: { name: 'developer__shell', arguments: { command: 'ls' } },
});
const response = (toolResult: object) => ({ type: 'toolResponse', id: 'c1', toolResult });
const hidden = { userVisible: true, agentVisible: false };

describe('the importer of Goose sessions', () => {
  it('recognises lines with a header or with its blocks, lists and documents', async () => {
    const recognises = (given: unknown) => isRecognised(gooseImporter, given);
    const hi = message('user', [text('hi')]);
    expect(await recognises(lines(header, hi))).toBe(true);
    expect(await recognises(lines(hi, message('assistant', [ls])))).toBe(true);
    expect(await recognises([hi, message('assistant', [ls])])).toBe(true);
    expect(await recognises({ id: 's', working_dir: '/w', conversation: [hi] })).toBe(true);
    expect(await recognises(lines(hi, hi))).toBe(false);
    expect(await recognises({ messages: [{ role: 'user', content: [text('hi')] }] })).toBe(false);
  });

  it('reads the same messages from lines, a list and a document', async () => {
    const all = [message('user', [text('hi')]), message('assistant', [text('yes'), ls])];
    const read = await Promise.all(
      [lines(header, ...all), all, { working_dir: '/w', conversation: all }].map((given) =>
        readAll(gooseImporter, given),
      ),
    );
    for (const { messages, items } of read) {
      expect(messages).toEqual(read[0]!.messages);
      expect(items.map(({ ts }) => ts)).toEqual([1_759_154_590, 1_759_154_590]);
    }
    expect(read[0]!.messages[1]).toEqual({
      role: 'assistant',
      content: 'yes',
      toolPayload: {
        toolCalls: [{ id: 'c1', name: 'developer__shell', arguments: { command: 'ls' } }],
      },
    });
  });

  it('reads both forms of a result, and failures', async () => {
    const results = [
      { status: 'success', value: [text('a.txt')] },
      { status: 'success', value: { content: [text('b.txt')], isError: false } },
      { status: 'success', value: { content: [text('broken')], isError: true } },
      { status: 'error', error: 'denied' },
      { status: 'success', value: [] },
    ];
    const { messages } = await readAll(
      gooseImporter,
      lines(
        header,
        message('assistant', [ls]),
        ...results.map((value) => message('user', [response(value)])),
      ),
    );
    expect(messages.slice(1).map((read) => toolResultOf(read))).toMatchObject([
      { toolCallId: 'c1', toolName: 'developer__shell', toolResult: 'a.txt', toolError: null },
      { toolResult: 'b.txt', toolError: null },
      { toolResult: null, toolError: 'broken' },
      { toolResult: null, toolError: 'denied' },
      { toolResult: '', toolError: null },
    ]);
  });

  it('leaves out what a tool returned for the user alone', async () => {
    const value = [
      { ...text('for the model'), annotations: { audience: ['assistant'] } },
      { ...text('for people'), annotations: { audience: ['user'], priority: 0 } },
    ];
    const { messages, report } = await readAll(
      gooseImporter,
      lines(header, message('user', [response({ status: 'success', value })])),
    );
    expect(toolResultOf(messages[0]!)?.toolResult).toBe('for the model');
    expect(report.dropped.map(({ what }) => what)).toContain('part of a tool result for the user');
  });

  it('keeps thinking with its signature, images, and a call that could not be read', async () => {
    const { messages, report } = await readAll(
      gooseImporter,
      lines(
        header,
        message('user', [{ type: 'image', data: 'AAAA', mimeType: 'image/jpeg' }]),
        message('assistant', [
          { type: 'thinking', thinking: 'hm', signature: 'sig' },
          call('c1', { status: 'error', error: 'no such tool' }),
        ]),
      ),
    );
    expect(messages[0]?.parts).toMatchObject([{ media: { ref: 'data:image/jpeg;base64,AAAA' } }]);
    expect(messages[1]?.reasoning).toMatchObject([{ text: 'hm', signature: 'sig' }]);
    expect(toolCallsOf(messages[1]!)).toEqual([{ id: 'c1', name: '', arguments: {} }]);
    expect(report.approximated.map(({ what }) => what)).toEqual([
      'call that could not be read, without its name',
    ]);
  });

  it('begins the context again where the model was shown a summary instead of the messages before', async () => {
    const { items, report } = await readAll(
      gooseImporter,
      lines(
        header,
        message('user', [text('old')], hidden),
        message('assistant', [text('older')], hidden),
        message('user', [text('So far: much.')], { userVisible: false, agentVisible: true }),
        message('user', [text('go on')]),
        message('assistant', [text('note')], hidden),
      ),
    );
    expect(items.map(({ kind }) => kind)).toEqual(['message', 'message', 'compaction', 'message']);
    expect(items[2]).toMatchObject({ messages: [{ kind: 'memory', content: 'So far: much.' }] });
    expect(report.dropped.map(({ what }) => what)).toContain('message that the model is not shown');
  });

  it('reads nothing from notifications', async () => {
    const note = { type: 'systemNotification', notificationType: 'inlineMessage', msg: 'hm' };
    const { messages, report } = await readAll(
      gooseImporter,
      lines(header, message('assistant', [note]), message('user', [text('hi')])),
    );
    expect(messages.map(textOf)).toEqual(['hi']);
    expect(report.dropped.map(({ what }) => what)).toContain('notification');
  });
});
