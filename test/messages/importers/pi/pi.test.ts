import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/core/json.js';
import { piImporter } from '../../../../src/messages/importers/pi/pi.js';
import { type Message, textOf, toolCallsOf, toolResultOf } from '../../../../src/messages/message.js';
import { isRecognised, lines, orphansOf, readAll } from '../read-all.js';

const importText = (text: string) => readAll(piImporter, text);
const importRecords = (...records: readonly unknown[]) => importText(lines(...records));
const recognises = (text: string) => isRecognised(piImporter, text);

const timestamp = '2026-02-01T08:00:00.000Z';
const header = { type: 'session', version: 3, id: 's', timestamp, cwd: '/tmp' };
const entry = (message: JsonObject, place: JsonObject = {}) => ({
  type: 'message',
  timestamp,
  ...place,
  message,
});
const user = (text: string, place?: JsonObject) =>
  entry({ role: 'user', content: [{ type: 'text', text }], timestamp: 1 }, place);
const answer = (content: JsonObject[], fields: JsonObject = {}, place?: JsonObject) =>
  entry(
    { role: 'assistant', content, provider: 'anthropic', model: 'claude-x', timestamp: 1, ...fields },
    place,
  );
const at = (id: string, parentId: string | null) => ({ id, parentId });
const said = (messages: readonly Message[]) => messages.map(textOf);

describe('the pi importer', () => {
  it('recognises a session by its header and by its messages', async () => {
    expect(await recognises(lines(header))).toBe(true);
    expect(await recognises(lines(user('hi'), user('there')))).toBe(true);
  });

  it('recognises one answer as a document', async () => {
    const message = { role: 'assistant', content: [], api: 'x', provider: 'y', stopReason: 'stop' };
    expect(await recognises(JSON.stringify(message, null, 2))).toBe(true);
  });

  it('recognises no messages whose entries only look alike', async () => {
    const other = { type: 'message', id: 'a', parentId: 's', message: { role: 'user', content: 'hi' } };
    expect(await recognises(lines({ type: 'session_start', id: 's' }, other))).toBe(false);
  });

  it('reads texts, thinking and calls of an answer with their origin', async () => {
    const { items, messages } = await importRecords(
      header,
      answer(
        [
          { type: 'thinking', thinking: 'hm', thinkingSignature: 'sig+/=' },
          { type: 'text', text: 'I look.' },
          { type: 'toolCall', id: 'c1', name: 'read', arguments: { path: 'a' } },
        ],
        { responseId: 'r1' },
      ),
    );
    const origin = { provider: 'anthropic', model: 'claude-x' };
    expect(messages).toEqual([
      {
        role: 'assistant',
        content: 'I look.',
        reasoning: [{ text: 'hm', signature: 'sig+/=', origin }],
        toolPayload: { toolCalls: [{ id: 'c1', name: 'read', arguments: { path: 'a' } }] },
        origin,
        messageId: 'r1',
      },
    ]);
    expect(items[0]?.ts).toBe(Date.parse(timestamp) / 1000);
  });

  it('takes the encrypted reasoning out of the item that pi keeps as a signature', async () => {
    const thinkingSignature = JSON.stringify({
      type: 'reasoning',
      id: 'rs_1',
      encrypted_content: 'gAA=',
      summary: [],
    });
    const { messages } = await importRecords(
      header,
      answer([{ type: 'thinking', thinking: 'why', thinkingSignature }], {
        provider: 'openai-codex',
        model: 'gpt-x',
        api: 'openai-responses',
      }),
    );
    const origin = { provider: 'openai', model: 'gpt-x' };
    expect(messages[0]?.reasoning).toEqual([{ text: 'why', encrypted: 'gAA=', id: 'rs_1', origin }]);
  });

  it('keeps redacted thinking as the data of its provider', async () => {
    const block = { type: 'thinking', thinking: '[redacted]', thinkingSignature: 'data', redacted: true };
    const { messages } = await importRecords(header, answer([block]));
    expect(messages[0]?.reasoning?.[0]).toMatchObject({ text: null, encrypted: 'data', redacted: true });
  });

  it('reads a result with an image and a failed one', async () => {
    const result = (content: JsonObject[], isError: boolean) =>
      entry({ role: 'toolResult', toolCallId: 'c1', toolName: 'read', content, isError, timestamp: 1 });
    const { messages } = await importRecords(
      header,
      result(
        [
          { type: 'text', text: 'seen' },
          { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        ],
        false,
      ),
      result([{ type: 'text', text: 'no such file' }], true),
    );
    expect(messages[0]).toMatchObject({
      parts: [{ media: { kind: 'image', mime: 'image/png', ref: 'data:image/png;base64,AAAA' } }],
      toolPayload: { toolCallId: 'c1', toolName: 'read', toolResult: 'seen', toolError: null },
    });
    expect(messages[1]?.toolPayload).toMatchObject({ toolResult: null, toolError: 'no such file' });
  });

  it('marks answers that were aborted or failed', async () => {
    const { messages } = await importRecords(
      header,
      answer([], { stopReason: 'aborted' }),
      answer([{ type: 'text', text: 'half' }], { stopReason: 'error' }),
    );
    expect(messages.map(({ content, status }) => [content, status])).toEqual([
      [null, 'aborted'],
      ['half', 'failed'],
    ]);
  });

  it('keeps what had come of arguments that were cut off', async () => {
    const call = {
      type: 'toolCall',
      id: 'c1',
      name: 'edit',
      arguments: { path: 'a' },
      partialJson: '{"path":"a","old',
    };
    const { messages } = await importRecords(header, answer([call], { stopReason: 'aborted' }));
    expect(toolCallsOf(messages[0]!)[0]?.arguments).toBe('{"path":"a","old');
  });

  it('tells a shell command of the user in words, unless it was kept from the model', async () => {
    const bash = { role: 'bashExecution', command: 'ls', output: 'a.txt', exitCode: 0, timestamp: 1 };
    const { messages } = await importRecords(
      header,
      entry(bash),
      entry({ ...bash, excludeFromContext: true }),
    );
    expect(said(messages)).toEqual(['I ran a shell command (exit code 0):\n$ ls\na.txt']);
  });

  it('reads the branch of the newest entry and counts the others', async () => {
    const { messages, report } = await importRecords(
      header,
      user('a', at('1', null)),
      user('left', at('2', '1')),
      user('b', at('3', '1')),
    );
    expect(said(messages)).toEqual(['a', 'b']);
    expect(report.dropped).toContainEqual({
      what: 'entry on a branch that was left',
      count: 1,
      places: ['line 3'],
    });
  });

  it('goes on at the entry before when a parent is missing', async () => {
    const { messages, report } = await importRecords(
      header,
      user('a', at('1', null)),
      user('b', at('3', '2')),
    );
    expect(said(messages)).toEqual(['a', 'b']);
    expect(report.approximated.map(({ places }) => places)).toEqual([['line 3']]);
  });

  it('ends when entries name themselves or later ones as their parents', async () => {
    const { messages } = await importRecords(header, user('a', at('1', '2')), user('b', at('2', '2')));
    expect(said(messages)).toEqual(['a', 'b']);
  });

  it('turns a compaction into its summary and the messages that it kept', async () => {
    const { items } = await importRecords(
      header,
      user('a', at('1', null)),
      user('b', at('2', '1')),
      { type: 'compaction', timestamp, ...at('3', '2'), summary: 'So far.', firstKeptEntryId: '2' },
      user('c', at('4', '3')),
    );
    expect(items[2]).toEqual({
      kind: 'compaction',
      ts: Date.parse(timestamp) / 1000,
      messages: [
        { role: 'user', content: 'So far.', kind: 'memory' },
        { role: 'user', content: 'b' },
      ],
    });
    expect(items).toHaveLength(4);
  });

  it('counts records where an old compaction names no entry', async () => {
    const compaction = { type: 'compaction', timestamp, summary: 'So far.', firstKeptEntryIndex: 2 };
    const { items } = await importRecords(header, user('a'), user('b'), compaction);
    const [, , last] = items;
    expect(last?.kind === 'compaction' && said(last.messages)).toEqual(['So far.', 'b']);
  });

  it('says the summary of a left branch as a message', async () => {
    const summary = { type: 'branch_summary', timestamp, summary: 'Tried x.', ...at('2', '1') };
    const { messages } = await importRecords(header, user('a', at('1', null)), summary);
    expect(messages[1]).toEqual({ role: 'user', content: 'Tried x.' });
  });

  it('takes the model of an answer that does not say its own from the change before', async () => {
    const { messages } = await importRecords(
      header,
      { type: 'model_change', timestamp, provider: 'google', modelId: 'gemini-x' },
      entry({ role: 'assistant', content: [{ type: 'text', text: 'hi' }], timestamp: 1 }),
    );
    expect(messages[0]?.origin).toEqual({ provider: 'google', model: 'gemini-x' });
  });

  it('leaves calls of an aborted answer without results', async () => {
    const call = { type: 'toolCall', id: 'c1', name: 'read', arguments: {} };
    const { messages } = await importRecords(
      header,
      answer([call], { stopReason: 'aborted' }),
      user('go on'),
    );
    expect(messages.map(({ role }) => role)).toEqual(['assistant', 'user']);
  });

  it('reads one answer as a document', async () => {
    const message = {
      role: 'assistant',
      content: [{ type: 'text', text: 'hi' }],
      provider: 'xai',
      model: 'g',
      timestamp: 2000,
    };
    const { items } = await importText(JSON.stringify(message, null, 2));
    expect(items).toEqual([
      {
        kind: 'message',
        ts: 2,
        message: { role: 'assistant', content: 'hi', origin: { provider: 'xai', model: 'g' } },
      },
    ]);
  });

  it('counts records of wrong types instead of failing', async () => {
    const odd: unknown[] = [
      null,
      7,
      'x',
      [],
      {},
      [null, 3, [], { type: 'toolCall', id: {}, arguments: null }, { type: 'image' }],
    ];
    const roles = ['user', 'assistant', 'toolResult', 'bashExecution', 'custom', 'branchSummary', 'x'];
    const keys = [
      'content',
      'summary',
      'provider',
      'toolCallId',
      'exitCode',
      'command',
      'timestamp',
      'usage',
    ];
    const messages = roles.flatMap((role) =>
      keys.flatMap((key) =>
        odd.map((value) => entry({ role, [key]: value as string }, { id: value as string })),
      ),
    );
    const entries = [
      'session',
      'compaction',
      'branch_summary',
      'model_change',
      'custom_message',
      'message',
    ].flatMap((type) =>
      odd.map((value) => ({
        type,
        summary: value,
        content: value,
        message: value,
        firstKeptEntryIndex: value,
      })),
    );
    const { report } = await importText(
      `${lines(header, ...messages, ...entries)}{"__proto__":{"role":1},"type":"message"}\n`,
    );
    expect(report.records).toBe(messages.length + entries.length + 2);
  });

  it('refuses a session without an entry', async () => {
    await expect(importText('\n')).rejects.toMatchObject({ code: 'TRANSCRIPT_INVALID' });
  });
});

const corpus = new URL('../../../../../shared/corpus/pi/', import.meta.url);

describe.skipIf(!existsSync(corpus))('pi sessions of the corpus', () => {
  it('are recognised and read, each result after its call', async () => {
    const names = readdirSync(corpus);
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) {
      const text = readFileSync(new URL(name, corpus), 'utf8');
      expect(await recognises(text), name).toBe(true);
      const { messages } = await importText(text);
      expect(messages.length, name).toBeGreaterThan(0);
      expect(orphansOf(messages), name).toEqual([]);
    }
  });

  it('leave open the 18 calls of the large session that were never answered', async () => {
    const { messages } = await importText(readFileSync(new URL('large-session.jsonl', corpus), 'utf8'));
    const answered = new Set(messages.map((message) => toolResultOf(message)?.toolCallId));
    const open = messages.flatMap(toolCallsOf).filter(({ id }) => !answered.has(id));
    expect(open).toHaveLength(18);
    expect(messages).toHaveLength(914);
  });
});
