import { describe, expect, it } from 'vitest';
import { claudeCodeImporter as importer } from '../../../src/messages/importers/claude-code.js';
import { textOf, toolCallsOf, toolResultOf } from '../../../src/messages/message.js';
import { hasShared, isRecognised, lines, orphansOf, readAll, sharedFiles } from './read-all.js';

type Fields = Record<string, unknown>;
type Parent = string | null;

const MODEL = 'claude-test-1';
const ORIGIN = { provider: 'anthropic', model: MODEL };

function record(type: string, uuid: string, parentUuid: Parent, rest: Fields): Fields {
  return { type, uuid, parentUuid, isSidechain: false, sessionId: 's', ...rest };
}

function prompt(uuid: string, parent: Parent, content: unknown, rest: Fields = {}): Fields {
  return record('user', uuid, parent, { message: { role: 'user', content }, ...rest });
}

function answer(uuid: string, parent: Parent, id: string, block: Fields, rest: Fields = {}): Fields {
  const message = { id, role: 'assistant', model: MODEL, content: [block] };
  return record('assistant', uuid, parent, { message, ...rest });
}

function result(uuid: string, parent: Parent, id: string, content: unknown = 'done'): Fields {
  return prompt(uuid, parent, [{ type: 'tool_result', tool_use_id: id, content }]);
}

function progress(uuid: string, parent: Parent): Fields {
  return record('progress', uuid, parent, { data: { type: 'hook_progress' } });
}

function text(said: string): Fields {
  return { type: 'text', text: said };
}

function use(id: string, name = 'Bash'): Fields {
  return { type: 'tool_use', id, name, input: { n: id } };
}

function call(id: string): Fields {
  return { id, name: 'Bash', arguments: { n: id } };
}

/** `user: text`, `call a b`, `result a`: what matters in most tests. */
async function outline(...records: Fields[]): Promise<string[]> {
  const { messages } = await readAll(importer, lines(...records));
  return messages.map((message) => {
    const answered = toolResultOf(message);
    const calls = toolCallsOf(message).map(({ id }) => id);
    if (answered) return `result ${answered.toolCallId}`;
    return calls.length > 0 ? `call ${calls.join(' ')}` : `${message.role}: ${textOf(message)}`;
  });
}

async function droppedIn(...records: Fields[]): Promise<Record<string, number>> {
  const { report } = await readAll(importer, lines(...records));
  return Object.fromEntries(report.dropped.map(({ what, count }) => [what, count]));
}

const HI = prompt('u', null, 'hi');

describe('the active path of a Claude Code session', () => {
  it('drops the branch that was rewound and counts it', async () => {
    const records = [
      HI,
      answer('a1', 'u', 'm1', text('old')),
      prompt('u2', 'a1', 'old prompt'),
      answer('a2', 'u', 'm2', text('new')),
    ];
    expect(await outline(...records)).toEqual(['user: hi', 'assistant: new']);
    expect(await droppedIn(...records)).toEqual({ 'record of another branch (rewound or retried)': 2 });
  });

  it('goes on through progress and system records', async () => {
    const records = [
      HI,
      progress('p', 'u'),
      record('system', 's1', 'p', { subtype: 'stop_hook_summary' }),
      answer('a', 's1', 'm', text('yes')),
    ];
    expect(await outline(...records)).toEqual(['user: hi', 'assistant: yes']);
    expect(await droppedIn(...records)).toEqual({ 'progress event': 1, 'system event': 1 });
  });

  it('keeps the results of parallel calls that fork the chain', async () => {
    const records = [
      HI,
      answer('a1', 'u', 'm', use('c1')),
      answer('a2', 'a1', 'm', use('c2')),
      result('r1', 'a1', 'c1'),
      result('r2', 'a2', 'c2'),
      answer('a3', 'r2', 'm2', text('both')),
    ];
    expect(await outline(...records)).toEqual([
      'user: hi',
      'call c1 c2',
      'result c1',
      'result c2',
      'assistant: both',
    ]);
  });

  it('keeps the calls whose lines lie beside the path', async () => {
    const records = [
      HI,
      answer('a1', 'u', 'm', use('c1')),
      answer('a2', 'a1', 'm', use('c2')),
      result('r2', 'a2', 'c2'),
      result('r1', 'a1', 'c1'),
      answer('a3', 'r1', 'm2', text('both')),
    ];
    expect(await outline(...records)).toEqual([
      'user: hi',
      'call c1 c2',
      'result c2',
      'result c1',
      'assistant: both',
    ]);
  });

  it('keeps a result beside the progress record that the chain goes on from', async () => {
    const records = [
      HI,
      answer('a1', 'u', 'm1', use('c1')),
      progress('p', 'a1'),
      result('r1', 'a1', 'c1'),
      answer('a2', 'p', 'm2', text('yes')),
    ];
    expect(await outline(...records)).toEqual(['user: hi', 'call c1', 'result c1', 'assistant: yes']);
  });

  it('leaves the second result of a call to the branch that it is on', async () => {
    const records = [
      HI,
      answer('a1', 'u', 'm1', use('c1')),
      result('r0', 'a1', 'c1', 'first run'),
      result('r1', 'a1', 'c1', 'second run'),
      answer('a2', 'r1', 'm2', text('yes')),
    ];
    expect(await outline(...records)).toEqual(['user: hi', 'call c1', 'result c1', 'assistant: yes']);
  });

  it('does not end at a late result when the conversation went on elsewhere', async () => {
    const records = [
      HI,
      answer('a1', 'u', 'm1', use('c1')),
      answer('a2', 'a1', 'm1', use('c2')),
      result('r1', 'a1', 'c1'),
      prompt('u2', 'r1', 'go on'),
      answer('a3', 'u2', 'm2', text('went on')),
      result('r2', 'a2', 'c2'),
    ];
    expect(await outline(...records)).toEqual([
      'user: hi',
      'call c1 c2',
      'result c1',
      'user: go on',
      'assistant: went on',
      'result c2',
    ]);
  });

  it('goes by the order of the file where times contradict it', async () => {
    const records = [
      prompt('u', null, 'hi', { timestamp: '2026-01-01T00:00:02.000Z' }),
      prompt('u2', 'u', 'there', { timestamp: '2026-01-01T00:00:01.000Z' }),
    ];
    expect(await outline(...records)).toEqual(['user: hi', 'user: there']);
  });

  it('continues with what came before where the parent is missing', async () => {
    const records = [HI, answer('a', 'u', 'm', text('yes')), prompt('u2', 'gone', 'next')];
    expect(await outline(...records)).toEqual(['user: hi', 'assistant: yes', 'user: next']);
  });

  it('continues with what came before at a second root', async () => {
    const records = [HI, answer('a', null, 'm', text('yes')), prompt('u2', null, 'next')];
    expect(await outline(...records)).toEqual(['user: hi', 'assistant: yes', 'user: next']);
  });

  it('drops sub-agents inside the file and counts them', async () => {
    const records = [
      HI,
      answer('a', 'u', 'm', use('c1')),
      prompt('x', null, 'sub task', { isSidechain: true }),
      answer('y', 'x', 'mx', text('sub answer'), { isSidechain: true }),
      result('r', 'a', 'c1'),
    ];
    expect(await outline(...records)).toEqual(['user: hi', 'call c1', 'result c1']);
    expect(await droppedIn(...records)).toEqual({ 'record of a sub-agent (sidechain)': 2 });
  });

  it('reads the file of a sub-agent as a conversation of its own', async () => {
    const side = { isSidechain: true };
    const records = [prompt('x', null, 'task', side), answer('y', 'x', 'm', text('done'), side)];
    expect(await outline(...records)).toEqual(['user: task', 'assistant: done']);
  });

  it('ends where parents form a circle', async () => {
    const records = [prompt('u', 'u2', 'one'), prompt('u2', 'u', 'two')];
    expect((await outline(...records)).sort()).toEqual(['user: one', 'user: two']);
  });

  it('reads a record that was written twice once', async () => {
    const records = [HI, answer('a', 'u', 'm', text('yes'))];
    expect(await outline(...records, ...records)).toEqual(['user: hi', 'assistant: yes']);
    expect(await droppedIn(...records, ...records)).toEqual({ 'record written twice': 2 });
  });
});

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

describe('prompts queued during a turn', () => {
  const enqueue = { type: 'queue-operation', operation: 'enqueue', sessionId: 's', content: 'and tests?' };
  const remove = { type: 'queue-operation', operation: 'remove', sessionId: 's' };
  const before = [HI, answer('a1', 'u', 'm1', use('c1')), enqueue, remove, result('r1', 'a1', 'c1')];

  it('come out after the results when only the queue has them', async () => {
    expect(await outline(...before, answer('a2', 'r1', 'm2', text('yes')))).toEqual([
      'user: hi',
      'call c1',
      'result c1',
      'user: and tests?',
      'assistant: yes',
    ]);
  });

  it('come out once when an attachment has them', async () => {
    const attachment = { type: 'queued_command', prompt: 'and tests?' };
    const records = [...before, record('attachment', 'q', 'r1', { attachment })];
    expect(await outline(...records, answer('a2', 'q', 'm2', text('yes')))).toEqual([
      'user: hi',
      'call c1',
      'result c1',
      'user: and tests?',
      'assistant: yes',
    ]);
  });

  it('do not come out from the queue when they became prompts of their own', async () => {
    const dequeue = { ...remove, operation: 'dequeue' };
    expect(await outline(HI, enqueue, dequeue, prompt('u2', 'u', 'and tests?'))).toEqual([
      'user: hi',
      'user: and tests?',
    ]);
  });

  it('do not come out when they are commands of the tool', async () => {
    expect(await outline(HI, { ...enqueue, content: '/model' }, remove)).toEqual(['user: hi']);
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

describe.skipIf(!hasShared('corpus/claude-code'))('real Claude Code sessions', () => {
  it.each(sharedFiles('corpus/claude-code').map((source) => [source.name, source] as const))(
    '%s is recognised and read in pairs',
    async (name, source) => {
      expect(await isRecognised(importer, source)).toBe(true);
      const { messages } = await readAll(importer, source);
      expect(messages.length).toBeGreaterThan(0);
      const allowed = name.includes('orphan-result') || name.includes('agentsess') ? 1 : 0;
      expect(orphansOf(messages).length).toBe(allowed === 1 ? orphansOf(messages).slice(0, 1).length : 0);
    },
  );
});
