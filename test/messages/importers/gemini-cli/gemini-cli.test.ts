import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/core/json.js';
import { geminiCliImporter } from '../../../../src/messages/importers/gemini-cli/gemini-cli.js';
import { type Message, textOf, toolCallsOf, toolResultOf } from '../../../../src/messages/message.js';
import { isRecognised, lines, orphansOf, readAll } from '../read-all.js';

const importText = (text: string) => readAll(geminiCliImporter, text);
const recognises = (text: string) => isRecognised(geminiCliImporter, text);

const timestamp = '2026-03-01T09:00:00.000Z';
const header = { sessionId: 's', projectHash: 'p', startTime: timestamp, lastUpdated: timestamp };
const record = (id: string, type: string, content: unknown, fields: JsonObject = {}) => ({
  id,
  timestamp,
  type,
  content,
  ...fields,
});
const document = (...messages: readonly unknown[]) => JSON.stringify({ ...header, messages }, null, 2);
const responded = (id: string, response: JsonObject) => [{ functionResponse: { id, name: 'ls', response } }];
const call = (id: string, fields: JsonObject = {}) => ({
  id,
  name: 'ls',
  args: { dir: '.' },
  timestamp,
  ...fields,
});
const said = (messages: readonly Message[]) => messages.map(textOf);

async function callRead(fields: JsonObject): Promise<readonly Message[]> {
  return (await importText(document(record('1', 'gemini', '', { toolCalls: [call('c1', fields)] }))))
    .messages;
}

describe('the Gemini CLI importer', () => {
  it('recognises a session document, a log, and one answer', async () => {
    expect(await recognises(document())).toBe(true);
    expect(await recognises(lines(header, record('1', 'user', 'hi')))).toBe(true);
    expect(await recognises(JSON.stringify(record('1', 'gemini', 'hi'), null, 2))).toBe(true);
    expect(await recognises(JSON.stringify(record('1', 'gemini', 'hi')))).toBe(true);
  });

  it('recognises no other document that has messages', async () => {
    expect(
      await recognises(JSON.stringify({ sessionId: 's', messages: [{ role: 'user', content: 'hi' }] })),
    ).toBe(false);
  });

  it('puts the results of an answer behind it', async () => {
    const { items, messages } = await importText(
      document(
        record('1', 'user', 'list'),
        record('2', 'gemini', 'I look.', {
          model: 'gemini-x',
          thoughts: [{ subject: 'Plan', description: 'Look at the folder.', timestamp }],
          toolCalls: [
            call('c1', { status: 'success', result: responded('c1', { output: 'a.txt' }) }),
            call('c2', { status: 'error', result: responded('c2', { error: 'denied' }) }),
          ],
        }),
      ),
    );
    const origin = { provider: 'google', model: 'gemini-x' };
    expect(messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: 'I look.',
        reasoning: [{ text: '**Plan**\nLook at the folder.', origin }],
        toolPayload: {
          toolCalls: [
            { id: 'c1', name: 'ls', arguments: { dir: '.' } },
            { id: 'c2', name: 'ls', arguments: { dir: '.' } },
          ],
        },
        origin,
        messageId: '2',
      },
      {
        role: 'tool',
        content: null,
        toolPayload: { toolCallId: 'c1', toolName: 'ls', toolResult: 'a.txt', toolError: null },
      },
      {
        role: 'tool',
        content: null,
        toolPayload: { toolCallId: 'c2', toolName: 'ls', toolResult: null, toolError: 'denied' },
      },
    ]);
    expect(items[0]?.ts).toBe(Date.parse(timestamp) / 1000);
  });

  it('reads a cancelled call with its reason as an error', async () => {
    const [, result] = await callRead({
      status: 'cancelled',
      result: responded('c1', { error: 'The user said no.' }),
    });
    expect(toolResultOf(result!)?.toolError).toBe('The user said no.');
  });

  it('leaves a call without a result open', async () => {
    expect(await callRead({ status: 'cancelled', result: null })).toHaveLength(1);
    expect(await callRead({ status: 'executing' })).toHaveLength(1);
  });

  it('keeps a response that has more than an output whole', async () => {
    const [, result] = await callRead({
      status: 'success',
      result: responded('c1', { output: 'a', code: 1 }),
    });
    expect(toolResultOf(result!)?.toolResult).toEqual({ output: 'a', code: 1 });
  });

  it('keeps media of a result beside its text', async () => {
    const media = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
    const [, result] = await callRead({
      status: 'success',
      result: [...responded('c1', { output: 'seen' }), media],
    });
    expect(result?.parts).toMatchObject([{ media: { kind: 'image', ref: 'data:image/png;base64,AAAA' } }]);
  });

  it('takes of the results that stand together the one of the call', async () => {
    const together = [...responded('c1', { output: 'one' }), ...responded('c2', { output: 'two' })];
    const { messages } = await importText(
      document(
        record('1', 'gemini', '', {
          toolCalls: [call('c1', { result: together }), call('c2', { result: together })],
        }),
      ),
    );
    expect(messages.slice(1).map((message) => toolResultOf(message)?.toolResult)).toEqual(['one', 'two']);
  });

  it('keeps signatures on the text and on the call that they belong to', async () => {
    const content = [
      { text: 'I look.', thoughtSignature: 'ts' },
      { functionCall: { id: 'c1', name: 'ls', args: {} }, thoughtSignature: 'cs' },
    ];
    const { messages } = await importText(
      document(record('1', 'gemini', content, { toolCalls: [call('c1')] })),
    );
    expect(messages[0]?.parts).toEqual([{ type: 'text', text: 'I look.', signature: 'ts' }]);
    expect(toolCallsOf(messages[0]!)).toEqual([
      { id: 'c1', name: 'ls', arguments: { dir: '.' }, signature: 'cs' },
    ]);
  });

  it('tells a result once that the turn of the user repeats', async () => {
    const result = responded('c1', { output: 'a' });
    const { messages } = await importText(
      document(
        record('1', 'gemini', '', { toolCalls: [call('c1', { status: 'success', result })] }),
        record('2', 'user', result),
      ),
    );
    expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool']);
  });

  it('puts results in the turn of the user before its text', async () => {
    const { messages } = await importText(
      document(
        record('1', 'gemini', [{ functionCall: { id: 'c1', name: 'ls', args: {} } }]),
        record('2', 'user', [{ text: 'and?' }, ...responded('c1', { output: 'a' })]),
      ),
    );
    expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'user']);
    expect(toolResultOf(messages[1]!)).toMatchObject({ toolCallId: 'c1', toolName: 'ls', toolResult: 'a' });
  });

  it('reads an answer of the type model with parts', async () => {
    const { messages } = await importText(
      document({ id: '1', timestamp, type: 'model', parts: [{ text: 'Ok' }] }),
    );
    expect(said(messages)).toEqual(['Ok']);
  });

  it('drops notices into the account', async () => {
    const { messages, report } = await importText(
      document(record('1', 'info', 'Update!'), record('2', 'error', 'x')),
    );
    expect(messages).toEqual([]);
    expect(report.dropped).toContainEqual({
      what: 'notice of the tool',
      count: 2,
      places: ['messages/0', 'messages/1'],
    });
  });

  it('takes the last version of a message in a log, at its first place', async () => {
    const { messages, report } = await importText(
      lines(
        ...[
          header,
          record('1', 'user', 'list'),
          record('2', 'gemini', ''),
          record('3', 'user', 'more'),
          record('2', 'gemini', 'Done.'),
          { $set: { lastUpdated: timestamp } },
        ],
      ),
    );
    expect(said(messages)).toEqual(['list', 'Done.', 'more']);
    expect(report.records).toBe(6);
  });

  it('leaves out what a rewind took back', async () => {
    const { messages } = await importText(
      lines(
        ...[
          header,
          record('1', 'user', 'a'),
          record('2', 'user', 'b'),
          { $rewindTo: '2' },
          record('3', 'user', 'c'),
        ],
      ),
    );
    expect(said(messages)).toEqual(['a', 'c']);
  });

  it('turns a history that was replaced into a compaction', async () => {
    const summary = record('9', 'user', [{ text: '<state_snapshot>So far.</state_snapshot>' }]);
    const { items } = await importText(
      lines(
        ...[
          header,
          record('1', 'user', 'a'),
          record('2', 'gemini', 'b'),
          { $set: { messages: [summary, record('2', 'gemini', 'b')] } },
          record('3', 'user', 'c'),
        ],
      ),
    );
    expect(items.map(({ kind }) => kind)).toEqual(['message', 'message', 'compaction', 'message']);
    expect(items[2]).toMatchObject({
      messages: [
        { role: 'user', kind: 'memory' },
        { role: 'assistant', content: 'b' },
      ],
    });
  });

  it('takes a history in which texts were masked for the messages themselves', async () => {
    const { items } = await importText(
      lines(
        ...[
          header,
          record('1', 'user', 'a'),
          record('2', 'gemini', 'long'),
          { $set: { messages: [record('1', 'user', 'a'), record('2', 'gemini', 'masked')] } },
          record('3', 'user', 'c'),
        ],
      ),
    );
    expect(items.map((item) => (item.kind === 'message' ? textOf(item.message) : item.kind))).toEqual([
      'a',
      'masked',
      'c',
    ]);
  });

  it('counts records of wrong types instead of failing', async () => {
    const odd: unknown[] = [
      null,
      7,
      'x',
      [],
      {},
      [null, 3, 'x', [], { text: 1 }, { functionCall: 1 }, { functionResponse: {} }],
    ];
    const keys = ['content', 'toolCalls', 'thoughts', 'model', 'timestamp', 'tokens'];
    const records = ['user', 'gemini', 'info', 'x'].flatMap((type) =>
      keys.flatMap((key) =>
        odd.map((value, index) => ({ ...record(`${type}${key}${index}`, type, ''), [key]: value })),
      ),
    );
    const calls = odd.flatMap((value) =>
      ['id', 'name', 'args', 'result', 'status', 'resultDisplay'].map((key) =>
        record(`${key}${JSON.stringify(value)}`, 'gemini', '', {
          toolCalls: [{ ...call('c'), status: 'error', [key]: value as string }],
        }),
      ),
    );
    const sets = odd.map((value) => ({ $set: { messages: value } }));
    const all = [...records, ...calls];
    expect((await importText(document(...all, null, 3))).report.records).toBe(all.length + 2);
    const log = `${lines(header, ...all, ...sets)}{"__proto__":{"id":1},"id":"__proto__","type":"user"}\n`;
    expect((await importText(log)).report.records).toBe(all.length + sets.length + 2);
  });

  it('refuses what is neither a document nor a log', async () => {
    await expect(importText('[1]')).rejects.toMatchObject({ code: 'TRANSCRIPT_INVALID' });
  });
});

const corpus = new URL('../../../../../shared/corpus/gemini-cli/', import.meta.url);
/** Its only record is a warning. */
const EMPTY = 'entire-gemini-empty.jsonl';

describe.skipIf(!existsSync(corpus))('Gemini CLI sessions of the corpus', () => {
  it('are recognised and read, each result after its call', async () => {
    const names = readdirSync(corpus);
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) {
      const text = readFileSync(new URL(name, corpus), 'utf8');
      expect(await recognises(text), name).toBe(true);
      const { messages } = await importText(text);
      expect(messages.length > 0, name).toBe(name !== EMPTY);
      expect(orphansOf(messages), name).toEqual([]);
    }
  });
});
