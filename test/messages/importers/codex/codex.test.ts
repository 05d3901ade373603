import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/core/json.js';
import { codexImporter } from '../../../../src/messages/importers/codex/codex.js';
import type { LossReport } from '../../../../src/messages/importers/loss-account.js';
import { toolCallsOf, toolResultOf } from '../../../../src/messages/message.js';
import { isRecognised, lines, orphansOf, readAll } from '../read-all.js';

const importText = (text: string) => readAll(codexImporter, text);
const importRecords = (...records: readonly unknown[]) => importText(lines(...records));
const recognises = (...records: readonly unknown[]) => isRecognised(codexImporter, lines(...records));

const timestamp = '2025-11-02T10:00:00.500Z';
const record = (type: string, payload: unknown) => ({ timestamp, type, payload });
const item = (payload: JsonObject) => record('response_item', payload);
const event = (type: string, fields: JsonObject = {}) => record('event_msg', { type, ...fields });
const user = (text: string) =>
  item({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] });
const answer = (text: string) =>
  item({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] });
const call = (call_id: string, args = '{"path":"a"}') =>
  item({ type: 'function_call', name: 'read', arguments: args, call_id });
const output = (call_id: string, value: unknown) =>
  item({ type: 'function_call_output', call_id, output: value as string });
const thought = (encrypted_content: string, ...summary: string[]) =>
  item({
    type: 'reasoning',
    summary: summary.map((text) => ({ type: 'summary_text', text })),
    encrypted_content,
  });
const droppedOf = (report: LossReport) => report.dropped.map(({ what }) => what);

describe('the Codex importer', () => {
  it('recognises records in their envelope', async () => {
    expect(await recognises(user('hi'), answer('hello'))).toBe(true);
  });

  it('recognises items without an envelope by their state lines', async () => {
    const bare = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] };
    expect(await recognises({ id: 's', timestamp, instructions: null }, bare)).toBe(true);
    expect(await recognises(bare, { record_type: 'state' })).toBe(true);
  });

  it('recognises no events of another kind that have a time and a payload', async () => {
    const other = { timestamp, eventName: 'turn/started', payload: { type: 'message' } };
    expect(await recognises(other, { ...other, type: 'notice' })).toBe(false);
  });

  it('puts reasoning, text and calls up to the first output into one answer', async () => {
    const { messages } = await importRecords(
      record('turn_context', { model: 'gpt-5-codex' }),
      thought('enc', 'Look first'),
      answer('I look.'),
      call('c1'),
      call('c2'),
      output('c1', 'one'),
      output('c2', 'two'),
      answer('Done.'),
    );
    expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'tool', 'assistant']);
    expect(messages[0]).toMatchObject({
      content: 'I look.',
      origin: { provider: 'openai', model: 'gpt-5-codex' },
      toolPayload: { toolCalls: [{ id: 'c1', arguments: { path: 'a' } }, { id: 'c2' }] },
    });
    expect(messages[1]?.toolPayload).toMatchObject({ toolCallId: 'c1', toolName: 'read', toolResult: 'one' });
  });

  it('keeps encrypted reasoning byte for byte', async () => {
    const encrypted = 'gAAAA+/=\u00e9 \\n12345678901234567890';
    const { messages } = await importRecords(thought(encrypted, 'Why'), answer('So.'));
    expect(messages[0]?.reasoning).toEqual([{ text: 'Why', encrypted, origin: { provider: 'openai' } }]);
  });

  it('keeps the place of reasoning between texts', async () => {
    const { messages } = await importRecords(answer('First.'), thought('enc'), answer('Second.'));
    expect(messages[0]?.parts?.map(({ type }) => type)).toEqual(['text', 'reasoning', 'text']);
  });

  it('takes each message once, from the item or its event', async () => {
    const { messages, report } = await importRecords(
      event('user_message', { message: 'hi' }),
      user('hi'),
      event('agent_message', { message: 'hello' }),
      answer('hello'),
    );
    expect(messages.map(({ content }) => content)).toEqual(['hi', 'hello']);
    expect(report.dropped).toContainEqual({
      what: 'event that repeats an item',
      count: 2,
      places: ['line 1', 'line 3'],
    });
  });

  it('takes a user message from its event where no item has it', async () => {
    const { messages } = await importRecords(
      event('user_message', { message: 'ok' }),
      answer('Look.'),
      user('more'),
    );
    expect(messages.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'ok'],
      ['assistant', 'Look.'],
      ['user', 'more'],
    ]);
  });

  it('takes an answer from its event where the turn has none', async () => {
    const { messages } = await importRecords(
      user('hi'),
      event('agent_message', { message: 'hello' }),
      user('and?'),
    );
    expect(messages.map(({ content }) => content)).toEqual(['hi', 'hello', 'and?']);
  });

  it('marks an answer that gets no output in an aborted turn', async () => {
    const { messages } = await importRecords(
      user('go'),
      call('c1'),
      event('turn_aborted'),
      user('stop'),
      answer('Yes.'),
    );
    expect(messages.map(({ status }) => status)).toEqual([undefined, 'aborted', undefined, undefined]);
  });

  it('leaves an answer whole that got its output after the abort', async () => {
    const { messages } = await importRecords(
      event('turn_aborted'),
      call('c1'),
      output('c1', 'rejected'),
      user('no'),
    );
    expect(messages[0]?.status).toBeUndefined();
  });

  it('reads the instructions of the header as the system message, once', async () => {
    const meta = record('session_meta', { id: 's', base_instructions: { text: 'Be brief.' } });
    const { messages } = await importRecords(meta, meta, user('hi'));
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user']);
  });

  it('keeps arguments that do not parse as they are', async () => {
    const { messages } = await importRecords(call('c1', '{"path":'), output('c1', ''));
    expect(toolCallsOf(messages[0]!)[0]).toMatchObject({ arguments: '{"path":', argumentsText: '{"path":' });
  });

  it('reads images of a user and of an output as media', async () => {
    const image = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' };
    const { messages } = await importRecords(
      item({ type: 'message', role: 'user', content: [image] }),
      call('c1'),
      output('c1', [{ type: 'input_text', text: 'seen' }, image]),
    );
    const media = { kind: 'image', mime: 'image/png', ref: 'data:image/png;base64,AAAA' };
    expect(messages[0]?.parts).toEqual([{ type: 'media', media }]);
    expect(messages[2]?.parts).toEqual([{ type: 'media', media }]);
    expect(toolResultOf(messages[2]!)?.toolResult).toBe('seen');
  });

  it('reads an output that says it failed as an error', async () => {
    const { messages } = await importRecords(
      call('c1'),
      output('c1', { content: 'no such file', success: false }),
    );
    expect(toolResultOf(messages[1]!)).toMatchObject({ toolResult: null, toolError: 'no such file' });
  });

  it('reads a custom tool and the local shell as calls', async () => {
    const { messages } = await importRecords(
      item({ type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin', call_id: 'p' }),
      item({
        type: 'local_shell_call',
        call_id: 's',
        status: 'completed',
        action: { type: 'exec', command: ['ls'] },
      }),
      item({ type: 'custom_tool_call_output', call_id: 'p', output: 'ok' }),
      output('s', 'a.txt'),
    );
    expect(toolCallsOf(messages[0]!).map((one) => [one.id, one.name, one.arguments])).toEqual([
      ['p', 'apply_patch', { input: '*** Begin' }],
      ['s', 'local_shell', { type: 'exec', command: ['ls'] }],
    ]);
    expect(messages.slice(1).map((one) => toolResultOf(one)?.toolName)).toEqual([
      'apply_patch',
      'local_shell',
    ]);
  });

  it('keeps items that only the provider understands with the answer', async () => {
    const search = { type: 'web_search_call', status: 'completed', action: { query: 'x' } };
    const { messages } = await importRecords(item(search), answer('Found.'));
    expect(messages[0]?.providerItems).toEqual([{ origin: { provider: 'openai' }, item: search }]);
  });

  it('turns a compaction into its replacement history with the summary as memory', async () => {
    const summary = 'What happened so far.';
    const history = [user('first').payload, user(summary).payload];
    const { items } = await importRecords(
      user('first'),
      answer('one'),
      record('compacted', { message: summary, replacement_history: history }),
      user('next'),
    );
    expect(items[2]).toEqual({
      kind: 'compaction',
      ts: Date.parse(timestamp) / 1000,
      messages: [
        { role: 'user', content: 'first' },
        { role: 'user', content: summary, kind: 'memory' },
      ],
    });
  });

  it('turns a compaction without a history into its summary', async () => {
    const { items } = await importRecords(user('first'), record('compacted', { message: 'So far.' }));
    expect(items[1]).toMatchObject({
      kind: 'compaction',
      messages: [{ content: 'So far.', kind: 'memory' }],
    });
  });

  it('leaves a call without its output open', async () => {
    const { messages } = await importRecords(call('c1'), user('and?'));
    expect(messages.map(({ role }) => role)).toEqual(['assistant', 'user']);
  });

  it('reads items without an envelope', async () => {
    const { messages, report } = await importRecords(
      { id: 's', timestamp, instructions: 'Be kind.' },
      { record_type: 'state' },
      user('hi').payload,
      call('c1').payload,
      output('c1', 'one').payload,
    );
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool']);
    expect(droppedOf(report)).toContain('state of the tool');
  });

  it('counts records of wrong types instead of failing', async () => {
    const odd: unknown[] = [
      null,
      7,
      'x',
      [],
      {},
      [null, [], { type: 5, text: {} }],
      { text: 1, content: [null], success: false },
    ];
    const keys = [
      'content',
      'role',
      'type',
      'summary',
      'arguments',
      'call_id',
      'output',
      'message',
      'name',
      'action',
    ];
    const types = [
      'message',
      'reasoning',
      'function_call',
      'function_call_output',
      'custom_tool_call',
      'local_shell_call',
    ];
    const records = types.flatMap((type) =>
      keys.flatMap((key) =>
        odd.map((value) => ({
          timestamp: value,
          type: 'response_item',
          payload: { type, role: 'user', [key]: value },
        })),
      ),
    );
    const others = ['session_meta', 'turn_context', 'compacted', 'event_msg', 'x'].flatMap((type) =>
      odd.flatMap((value) => [
        record(type, value),
        record(type, { type: 'user_message', message: value, replacement_history: value }),
      ]),
    );
    const { report } = await importText(
      `${lines(...records, ...others)}{"__proto__":{"type":1},"type":"response_item"}\n`,
    );
    expect(report.records).toBe(records.length + others.length + 1);
  });

  it('refuses a rollout without a record', async () => {
    await expect(importText('\n')).rejects.toMatchObject({ code: 'TRANSCRIPT_INVALID' });
  });
});

const corpus = new URL('../../../../../shared/corpus/codex-rollout/', import.meta.url);

describe.skipIf(!existsSync(corpus))('rollouts of the corpus', () => {
  it('are recognised and read, each result after its call', async () => {
    const names = readdirSync(corpus);
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) {
      const text = readFileSync(new URL(name, corpus), 'utf8');
      expect(await isRecognised(codexImporter, text), name).toBe(true);
      const { messages, report } = await importText(text);
      expect(messages.length, name).toBeGreaterThan(1);
      expect(report.records, name).toBe(text.trim().split('\n').length);
      expect(orphansOf(messages), name).toEqual([]);
    }
  });

  it('give back every encrypted text that they hold', async () => {
    for (const name of readdirSync(corpus)) {
      const text = readFileSync(new URL(name, corpus), 'utf8');
      const written = [...text.matchAll(/"encrypted_content":"([^"]+)"/g)].map((match) => match[1]);
      const { messages } = await importText(text);
      const read = messages.flatMap((message) => [
        ...(message.reasoning ?? []),
        ...(message.parts ?? []).flatMap((part) => (part.type === 'reasoning' ? part.reasoning : [])),
      ]);
      expect(read.map(({ encrypted }) => encrypted).filter(Boolean), name).toEqual(written);
    }
  });
});
