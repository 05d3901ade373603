import { describe, expect, it } from 'vitest';
import { claudeCodeImporter as importer } from '../../../../src/messages/importers/claude-code/claude-code.js';
import { textOf } from '../../../../src/messages/message.js';
import { hasShared, isRecognised, lines, orphansOf, readAll, sharedFiles } from '../read-all.js';
import {
  answer,
  call,
  droppedIn,
  HI,
  ORIGIN,
  outline,
  prompt,
  record,
  result,
  text,
  use,
} from './claude-code-records.js';

describe('the messages of a Claude Code session', () => {
  it('reads the lines of one answer as one message, also when results stand between them', async () => {
    const { messages } = await readAll(
      importer,
      lines(
        HI,
        answer('a1', 'u', 'm', { type: 'thinking', thinking: 'hm', signature: 'sig==' }),
        answer('a2', 'a1', 'm', text('I look.')),
        answer('a3', 'a2', 'm', use('c1')),
        result('r1', 'a3', 'c1'),
        answer('a4', 'r1', 'm', use('c2')),
        result('r2', 'a4', 'c2'),
      ),
    );
    expect(messages.slice(1)).toStrictEqual([
      {
        role: 'assistant',
        content: 'I look.',
        reasoning: [{ text: 'hm', signature: 'sig==', origin: ORIGIN }],
        toolPayload: { toolCalls: [call('c1'), call('c2')] },
        origin: ORIGIN,
        messageId: 'm',
      },
      expect.objectContaining({ role: 'tool' }),
      expect.objectContaining({ role: 'tool' }),
    ]);
  });

  it('gives the results of a user record before its text, with the names of their calls', async () => {
    const blocks = [
      { type: 'tool_result', tool_use_id: 'c1', content: 'no', is_error: true },
      text('stop that'),
    ];
    const { messages } = await readAll(
      importer,
      lines(HI, answer('a', 'u', 'm', use('c1')), prompt('r', 'a', blocks)),
    );
    expect(messages.slice(2)).toStrictEqual([
      {
        role: 'tool',
        content: null,
        toolPayload: { toolCallId: 'c1', toolName: 'Bash', toolResult: null, toolError: 'no' },
      },
      { role: 'user', content: 'stop that' },
    ]);
  });

  it('keeps images of results as parts of the result', async () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' };
    const content = [text('seen'), { type: 'image', source }];
    const { messages } = await readAll(
      importer,
      lines(HI, answer('a', 'u', 'm', use('c1')), result('r', 'a', 'c1', content)),
    );
    const media = { kind: 'image', mime: 'image/png', ref: 'data:image/png;base64,AAAA' };
    expect(messages[2]).toMatchObject({
      parts: [{ type: 'media', media }],
      toolPayload: { toolResult: 'seen' },
    });
  });

  it('keeps redacted thinking byte for byte', async () => {
    const { messages } = await readAll(
      importer,
      lines(HI, answer('a', 'u', 'm', { type: 'redacted_thinking', data: 'xx==' })),
    );
    expect(messages[1]?.reasoning).toStrictEqual([
      { text: null, redacted: true, encrypted: 'xx==', origin: ORIGIN },
    ]);
  });

  it('gives a compaction its summary in place of what came before', async () => {
    const { items } = await readAll(
      importer,
      lines(
        HI,
        answer('a', 'u', 'm', text('yes')),
        record('system', 'b', null, { subtype: 'compact_boundary', logicalParentUuid: 'a' }),
        prompt('s', 'b', 'the story so far', { isCompactSummary: true }),
        prompt('u2', 's', 'go on'),
      ),
    );
    expect(items.slice(2)).toStrictEqual([
      { kind: 'compaction', messages: [{ role: 'user', content: 'the story so far', kind: 'memory' }] },
      { kind: 'message', message: { role: 'user', content: 'go on' } },
    ]);
  });

  it('keeps after a compaction the messages that it preserved', async () => {
    const compactMetadata = {
      preservedSegment: { headUuid: 'u1', anchorUuid: 's', tailUuid: 'a1' },
      preservedMessages: { anchorUuid: 's', uuids: ['u1', 'a1'] },
    };
    const { items } = await readAll(
      importer,
      lines(
        HI,
        prompt('u1', 'u', 'recent'),
        answer('a1', 'u1', 'm', text('recent answer')),
        record('system', 'b', null, { subtype: 'compact_boundary', compactMetadata }),
        prompt('s', 'b', 'summary', { isCompactSummary: true }),
        prompt('u2', 'a1', 'go on'),
      ),
    );
    const [compaction, last] = items.slice(3);
    expect(compaction?.kind === 'compaction' && compaction.messages.map(textOf)).toEqual([
      'summary',
      'recent',
      'recent answer',
    ]);
    expect(last).toMatchObject({ message: { content: 'go on' } });
  });

  it('keeps everything before a compaction whose summary is missing', async () => {
    const records = [
      HI,
      record('system', 'b', null, { subtype: 'compact_boundary', logicalParentUuid: 'u' }),
      prompt('u2', 'b', 'go on'),
    ];
    const { items, report } = await readAll(importer, lines(...records));
    expect(items.map(({ kind }) => kind)).toEqual(['message', 'message']);
    expect(report.approximated).toMatchObject([{ count: 1, places: ['line 2'] }]);
  });

  it('drops the placeholder of an answer that failed', async () => {
    const failed = answer('a', 'u', 'm', text('API Error: 500'), { isApiErrorMessage: true });
    const records = [HI, failed, prompt('u2', 'a', 'again')];
    expect(await outline(...records)).toEqual(['user: hi', 'user: again']);
    expect(await droppedIn(...records)).toEqual({ 'failed answer (API error)': 1 });
  });

  it('marks the answer that the user stopped', async () => {
    const stop = prompt('i', 'a', [text('[Request interrupted by user]')]);
    const { messages } = await readAll(importer, lines(HI, answer('a', 'u', 'm', text('I beg')), stop));
    expect(messages[1]).toMatchObject({ content: 'I beg', status: 'aborted' });
    expect(messages[2]).toStrictEqual({ role: 'user', content: '[Request interrupted by user]' });
  });

  it('keeps what the tool said in the name of the user', async () => {
    const records = [
      prompt('u', null, '<command-name>/init</command-name>'),
      prompt('v', 'u', 'x', { isMeta: true }),
    ];
    expect(await outline(...records)).toEqual(['user: <command-name>/init</command-name>', 'user: x']);
  });

  it('gives times in seconds', async () => {
    const { items } = await readAll(
      importer,
      lines(prompt('u', null, 'hi', { timestamp: '2026-01-01T00:00:00.500Z' })),
    );
    expect(items[0]?.ts).toBe(1767225600.5);
  });

  it('drops titles and counts them', async () => {
    const title = { type: 'summary', summary: 'About', leafUuid: 'x' };
    expect(await outline(title)).toEqual([]);
    expect(await droppedIn(title)).toEqual({ 'title of a session': 1 });
  });
});

describe('odd Claude Code sessions', () => {
  it('are read without an error whatever the fields hold', async () => {
    const odd = [null, 7, 'x', [], [null, [1]], { a: 1 }, true];
    const records = odd.flatMap((value) => [
      { type: 'user', uuid: value, parentUuid: value, message: value },
      {
        type: 'user',
        uuid: `u${String(value)}`,
        parentUuid: value,
        message: { role: value, content: value },
      },
      {
        type: 'assistant',
        uuid: value,
        isSidechain: value,
        message: { id: value, model: value, content: value },
      },
      { type: 'assistant', message: { content: [value, { type: 'tool_use', id: value, input: value }] } },
      { type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: value, content: value }] } },
      { type: 'user', message: { content: [{ type: 'image', source: value }] }, timestamp: value },
      { type: 'system', uuid: 'b', subtype: 'compact_boundary', compactMetadata: value },
      { type: 'attachment', attachment: value },
      { type: 'queue-operation', operation: value, content: value },
      { type: value },
    ]);
    const { report } = await readAll(importer, lines(...records));
    expect(report.records).toBe(records.length);
  });

  it('are not recognised by lines of another shape', async () => {
    const qwen = record('user', 'u', null, { message: { role: 'user', parts: [{ text: 'hi' }] } });
    expect(await isRecognised(importer, lines(qwen, qwen))).toBe(false);
    expect(await isRecognised(importer, lines(HI, HI))).toBe(true);
  });

  it('are recognised by titles alone', async () => {
    expect(await isRecognised(importer, lines({ type: 'summary', summary: 'About', leafUuid: 'x' }))).toBe(
      true,
    );
  });
});

/** The slice begins after the call. */
const WITH_AN_ORPHAN = 'entire-1755-orphan-result.jsonl';
/** All its ids are the same text. */
const WITH_A_BRANCH = 'agentsess-claude-small.jsonl';

describe.skipIf(!hasShared('corpus/claude-code'))('real Claude Code sessions', () => {
  it.each(sharedFiles('corpus/claude-code').map((source) => [source.name, source] as const))(
    '%s is recognised and read in pairs, with nothing on another branch',
    async (name, source) => {
      expect(await isRecognised(importer, source)).toBe(true);
      const { messages, report } = await readAll(importer, source);
      expect(messages.length).toBeGreaterThan(0);
      expect(orphansOf(messages)).toHaveLength(name === WITH_AN_ORPHAN ? 1 : 0);
      const lost = report.dropped.filter(({ what }) => what.includes('another branch'));
      expect(lost).toHaveLength(name === WITH_A_BRANCH ? 1 : 0);
    },
  );
});
