import { describe, expect, it } from 'vitest';
import { shareGptImporter as importer } from '../../../../src/messages/importers/datasets/sharegpt.js';
import { openTranscript } from '../../../../src/messages/importers/read-transcript.js';
import { hasShared, isRecognised, lines, orphansOf, readAll, sharedFiles } from '../read-all.js';

const said = (from: string, value: unknown) => ({ from, value });
const record = (...conversations: unknown[]) => ({ id: 'x', conversations });
const human = said('human', 'What is in a.txt?');
const calling = said('function_call', '{"name":"bash","arguments":{"cmd":"cat a.txt"}}');

describe('the import of ShareGPT conversations', () => {
  it('reads messages, calls and results, with the system prompt next to them', async () => {
    const document = {
      system: 'Be brief.',
      ...record(human, calling, said('observation', 'tea'), said('gpt', 'Tea.')),
    };
    expect(await isRecognised(importer, document)).toBe(true);
    const { messages } = await readAll(importer, document);
    expect(messages).toStrictEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'What is in a.txt?' },
      {
        role: 'assistant',
        content: null,
        toolPayload: { toolCalls: [{ id: 'call_1', name: 'bash', arguments: { cmd: 'cat a.txt' } }] },
      },
      {
        role: 'tool',
        content: null,
        toolPayload: { toolCallId: 'call_1', toolName: 'bash', toolResult: 'tea', toolError: null },
      },
      { role: 'assistant', content: 'Tea.' },
    ]);
  });

  it.each([
    ['a list', JSON.stringify([record(), record(human), record(human)]), 'conversations/2'],
    ['lines', lines(record(), record(human), record(human)), 'line 3'],
  ])('reads the first conversation with messages of %s, and counts the others', async (_, text, place) => {
    expect(await isRecognised(importer, text)).toBe(true);
    const { messages, report } = await readAll(importer, text);
    expect(messages).toEqual([{ role: 'user', content: 'What is in a.txt?' }]);
    expect(report.records).toBe(text.startsWith('[') ? 2 : 3);
    expect(report.dropped).toContainEqual({ what: 'another conversation', count: 1, places: [place] });
    expect(report.dropped).toContainEqual(
      expect.objectContaining({ what: 'a conversation without messages', count: 1 }),
    );
  });

  it('keeps every digit of a large integer in a call', async () => {
    const call = said('function_call', '{"name":"a","arguments":{"id":9007199254740993}}');
    const { messages } = await readAll(importer, record(human, call));
    expect(messages[1]).toMatchObject({
      toolPayload: { toolCalls: [{ arguments: { id: '9007199254740993' } }] },
    });
  });

  it('reads several calls of one message, and keeps one that is not JSON as text', async () => {
    const two = said(
      'function_call',
      '[{"name":"a","arguments":"{\\"n\\":1}"},{"name":"b","parameters":{}}]',
    );
    const { messages, report } = await readAll(
      importer,
      record(
        human,
        two,
        said('tool', '1'),
        said('tool', '2'),
        said('function_call', 'ls'),
        said('tool', '3'),
      ),
    );
    expect(messages.slice(1)).toMatchObject([
      {
        toolPayload: {
          toolCalls: [
            { name: 'a', arguments: { n: 1 } },
            { name: 'b', arguments: {} },
          ],
        },
      },
      { toolPayload: { toolCallId: 'call_1', toolName: 'a', toolResult: '1' } },
      { toolPayload: { toolCallId: 'call_2', toolName: 'b', toolResult: '2' } },
      { role: 'assistant', content: 'ls' },
      { toolPayload: { toolCallId: '', toolResult: '3' } },
    ]);
    expect(report.approximated).toMatchObject([{ what: 'a tool call that is not JSON, as text', count: 1 }]);
  });

  it('counts what it cannot carry over', async () => {
    const { messages, report } = await readAll(
      importer,
      record(human, said('critic', 'Hm.'), said('gpt', 7), { ...said('gpt', 'Yes.'), weight: 1 }),
    );
    expect(messages).toHaveLength(2);
    expect(report.dropped.map(({ what }) => what)).toEqual([
      'a field next to the messages',
      'a message of an unknown role',
      'a member that is not a message',
      'a field without a place here',
    ]);
  });

  it('does not recognise other records with conversations', async () => {
    for (const document of [
      { conversations: [] },
      { conversations: [{ role: 'user' }] },
      [{ conversations: 'x' }],
    ])
      expect(await isRecognised(importer, document)).toBe(false);
  });
});

describe.skipIf(!hasShared('corpus/misc/sharegpt'))('the import of a ShareGPT dataset', () => {
  it.each(sharedFiles('corpus/misc/sharegpt').map((file) => [file.name, file] as const))(
    'reads %s',
    async (_, file) => {
      expect((await openTranscript(file)).format).toBe('sharegpt');
      const { messages, report } = await readAll(importer, file);
      expect(messages).toHaveLength(4);
      expect(orphansOf(messages)).toEqual([]);
      expect(report.dropped).toContainEqual(
        expect.objectContaining({ what: 'another conversation', count: 499 }),
      );
    },
  );
});
