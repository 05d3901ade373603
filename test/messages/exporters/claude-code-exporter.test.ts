import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/json.js';
import {
  claudeCodeExporter,
  claudeCodeSessionId,
} from '../../../src/messages/exporters/claude-code-exporter.js';
import type { Message, ToolCallSpec } from '../../../src/messages/message.js';

const DIGEST = `sha256:${'0'.repeat(64)}`;
const options = {
  agentId: 'coder',
  startedAtMs: Date.UTC(2026, 0, 2),
  artifacts: new Map([[DIGEST, Buffer.from('png')]]),
};
const anthropic = { provider: 'anthropic', model: 'claude-x' };

function textOf(messages: readonly Message[]): string {
  return [...claudeCodeExporter.write(messages, options)].join('');
}

function write(...messages: readonly Message[]): JsonObject[] {
  const lines = textOf(messages).split('\n');
  expect(lines.pop()).toBe('');
  return lines.map((line) => JSON.parse(line) as JsonObject);
}

/** The content of each record's message. */
function contents(...messages: readonly Message[]): unknown[] {
  return write(...messages).map((record) => (record['message'] as JsonObject)['content']);
}

function callOf(call: Partial<ToolCallSpec>): Message {
  const toolCalls = [{ id: 'toolu_1', name: 'Read', arguments: { path: 'a' }, ...call }];
  return { role: 'assistant', content: null, toolPayload: { toolCalls } };
}

function resultOf(toolResult: string | JsonObject, toolError: string | null = null): Message {
  return {
    role: 'tool',
    content: null,
    toolPayload: { toolCallId: 'toolu_1', toolName: 'Read', toolResult, toolError },
  };
}

function imagePart(ref: string, mime = 'image/png'): NonNullable<Message['parts']> {
  return [{ type: 'media', media: { kind: 'image', mime, ref } }];
}

describe('the export to a Claude Code session', () => {
  it('chains the records from the first to the last', () => {
    const records = write({ role: 'user', content: 'Look' }, callOf({}), resultOf('x'));
    expect(records.map((record) => record['type'])).toStrictEqual(['user', 'assistant', 'user']);
    expect(records.map((record) => record['parentUuid'])).toStrictEqual([
      null,
      records[0]?.['uuid'],
      records[1]?.['uuid'],
    ]);
  });

  it('writes what the tool wants of every record', () => {
    expect(write({ role: 'user', content: 'Look' })[0]).toMatchObject({
      isSidechain: false,
      cwd: '',
      sessionId: claudeCodeSessionId('coder'),
      timestamp: '2026-01-02T00:00:00.000Z',
      message: { role: 'user', content: 'Look' },
    });
  });

  it('gives ids of the shape of a UUID', () => {
    const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    expect(claudeCodeSessionId('coder')).toMatch(shape);
    expect(write({ role: 'user', content: 'Look' })[0]?.['uuid']).toMatch(shape);
  });

  it('gives the same bytes for the same messages', () => {
    const messages: Message[] = [{ role: 'user', content: 'Look' }, callOf({}), resultOf('x')];
    expect(textOf(messages)).toBe(textOf(structuredClone(messages)));
  });

  it('gives equal answers ids of their own', () => {
    const ok: Message = { role: 'assistant', content: 'OK' };
    const ids = write(ok, { role: 'user', content: 'Go' }, ok).flatMap((record) =>
      record['type'] === 'assistant' ? [(record['message'] as JsonObject)['id']] : [],
    );
    expect(new Set(ids).size).toBe(2);
  });

  it('keeps the id of a response', () => {
    const [record] = write({ role: 'assistant', content: 'OK', messageId: 'msg_9', origin: anthropic });
    expect(record?.['message']).toMatchObject({ id: 'msg_9', model: 'claude-x', stop_reason: 'end_turn' });
  });

  it('puts signed reasoning in its place between the texts', () => {
    const reasoning = { text: 'Hm.', signature: 'c2ln', origin: anthropic };
    const parts: Message['parts'] = [
      { type: 'text', text: 'One' },
      { type: 'reasoning', reasoning },
      { type: 'text', text: 'Two' },
    ];
    expect(contents({ role: 'assistant', content: null, parts })).toStrictEqual([
      [
        { type: 'text', text: 'One' },
        { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
        { type: 'text', text: 'Two' },
      ],
    ]);
  });

  it('writes redacted reasoning as it came', () => {
    const reasoning = [{ text: null, encrypted: 'eA==', redacted: true, origin: anthropic }];
    expect(contents({ role: 'assistant', content: 'A', reasoning })).toMatchObject([
      [{ type: 'redacted_thinking', data: 'eA==' }, {}],
    ]);
  });

  it('leaves out reasoning that no Claude signed', () => {
    const reasoning = [
      { text: 'Unsigned.', origin: anthropic },
      { text: 'Foreign.', signature: 'c2ln', origin: { provider: 'google' } },
    ];
    expect(contents({ role: 'assistant', content: 'A', reasoning })).toStrictEqual([
      [{ type: 'text', text: 'A' }],
    ]);
  });

  it('writes a result as a block of a user record', () => {
    expect(contents(resultOf({ lines: 3 }), resultOf('', 'No such file.'))).toStrictEqual([
      [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '{"lines":3}' }],
      [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'No such file.', is_error: true }],
    ]);
  });

  it('puts the images of a result into its block', () => {
    const result: Message = { ...resultOf('Taken.'), parts: imagePart(DIGEST) };
    const source = { type: 'base64', media_type: 'image/png', data: btoa('png') };
    expect(contents(result)).toMatchObject([
      [
        {
          content: [
            { type: 'text', text: 'Taken.' },
            { type: 'image', source },
          ],
        },
      ],
    ]);
  });

  it('says in words what the API would not take as an image', () => {
    const parts = imagePart('data:image/tiff;base64,AAAA', 'image/tiff');
    expect(contents({ role: 'user', content: null, parts })).toStrictEqual([
      '[image not available: image/tiff]',
    ]);
  });

  it('mends ids of other providers, in the call and in its result alike', () => {
    const id = 'call:1|fc_2';
    const result: Message = {
      role: 'tool',
      content: null,
      toolPayload: { toolCallId: id, toolName: 'Read', toolResult: 'x', toolError: null },
    };
    const [[use], [answer]] = contents(callOf({ id }), result) as JsonObject[][] as [
      JsonObject[],
      JsonObject[],
    ];
    expect(use?.['id']).toMatch(/^toolu_[0-9a-f]{24}$/);
    expect(answer?.['tool_use_id']).toBe(use?.['id']);
  });

  it('gives a call whose id was used before another one', () => {
    const blocks = contents(callOf({}), resultOf('x'), callOf({}), resultOf('y')).flat() as JsonObject[];
    expect(blocks[0]?.['id']).toBe('toolu_1');
    expect(blocks[1]?.['tool_use_id']).toBe('toolu_1');
    expect(blocks[2]?.['id']).not.toBe('toolu_1');
    expect(blocks[3]?.['tool_use_id']).toBe(blocks[2]?.['id']);
  });

  it('wraps arguments that are no object', () => {
    expect(contents(callOf({ arguments: '{"a', argumentsText: '{"a' }))).toMatchObject([
      [{ input: { _unparsed_arguments: '{"a' } }],
    ]);
  });

  it('leaves out what is blank, and the system prompt', () => {
    expect(
      write(
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: ' ' },
        {
          role: 'assistant',
          content: null,
        },
      ),
    ).toStrictEqual([]);
  });

  it('writes a summary as a compaction of the tool', () => {
    const records = write(
      { role: 'user', content: 'Old' },
      { role: 'user', content: 'Earlier: much.', kind: 'memory' },
      { role: 'user', content: 'New' },
    );
    expect(records[1]).toMatchObject({
      type: 'system',
      subtype: 'compact_boundary',
      parentUuid: null,
      logicalParentUuid: records[0]?.['uuid'],
    });
    expect(records[2]).toMatchObject({
      isCompactSummary: true,
      parentUuid: records[1]?.['uuid'],
      message: { content: 'Earlier: much.' },
    });
    expect(records[3]?.['parentUuid']).toBe(records[2]?.['uuid']);
  });

  it('puts pinned messages after the summary, which would cut them off', () => {
    const records = write(
      { role: 'user', content: 'Never push.', pinned: true },
      { role: 'user', content: 'Earlier: much.', kind: 'memory' },
      { role: 'user', content: 'New' },
    );
    expect(records.slice(1).map((record) => (record['message'] as JsonObject)['content'])).toStrictEqual([
      'Earlier: much.',
      'Never push.',
      'New',
    ]);
  });
});
