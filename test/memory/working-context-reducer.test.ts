import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.js';
import type { CompactionTrace, Trace } from '../../src/memory/models/trace.js';
import { traceFromJson } from '../../src/memory/models/trace-serializer.js';
import {
  applyTrace,
  emptyMemoryState,
  frontierOf,
  type MemoryState,
} from '../../src/memory/working-context-reducer.js';
import { checkHistory } from '../../src/messages/legality/history.js';
import { toolCallsOf } from '../../src/messages/message.js';
import { assistant, calls, result, user } from '../messages/arbitraries.js';
import { sketch } from './memory-kit.js';

/** Rows as they stand in a journal, and what the reducer makes of them. */
class Rows {
  readonly state: MemoryState = emptyMemoryState();
  #seq = 0;

  row(turn: number, type: string, fields: object = {}): this {
    const turnId = turn === 0 ? '' : `turn_${String(turn).padStart(4, '0')}`;
    const envelope = { id: `rt_${++this.#seq}`, ts: 1, turn_id: turnId, seq: this.#seq, trace_type: type };
    this.apply(traceFromJson({ ...envelope, source_event: 'test', ...fields }));
    return this;
  }

  user(turn: number, content: string): this {
    return this.row(turn, 'user', { content });
  }

  answer(turn: number, content: string, messageId?: string): this {
    return this.row(turn, 'assistant', { content, ...(messageId ? { message_id: messageId } : {}) });
  }

  call(turn: number, id: string, messageId?: string, args: JsonObject = {}): this {
    const fields = { content: '', tool_call_id: id, tool_name: `tool_${id}`, tool_args: args };
    return this.row(turn, 'tool_call', { ...fields, ...(messageId ? { message_id: messageId } : {}) });
  }

  result(turn: number, id: string, value: unknown = `result of ${id}`): this {
    return this.row(turn, 'tool_result', { tool_call_id: id, tool_name: `tool_${id}`, tool_result: value });
  }

  apply(trace: Trace): void {
    applyTrace(this.state, trace);
  }

  get sketch(): string[] {
    return sketch(this.state.snapshot.messages);
  }
}

describe('calls of one response', () => {
  it('that are sent again are one call', () => {
    const rows = new Rows().user(1, 'Go').call(1, 'a', 'm1').call(1, 'a', 'm1');
    expect(rows.sketch).toStrictEqual(['user: Go', 'assistant calls a']);
  });

  it('are all kept, also where another one has taken the id', () => {
    const rows = new Rows().user(1, 'Go').call(1, 'a', 'm1').call(1, 'a', 'm1', { other: true });
    expect(
      rows.state.snapshot.messages.slice(1).map((message) => toolCallsOf(message)[0]!.arguments),
    ).toEqual([{}, { other: true }]);
  });

  it('are one message, together with its text', () => {
    const rows = new Rows()
      .user(1, 'Go')
      .answer(1, 'Two at once.', 'm1')
      .call(1, 'a', 'm1')
      .call(1, 'b', 'm1');
    expect(rows.sketch).toStrictEqual(['user: Go', 'assistant calls a b: Two at once.']);
  });

  it('are one message also when a result came between them', () => {
    const rows = new Rows().user(1, 'Go').call(1, 'a', 'm1').result(1, 'a').call(1, 'b', 'm1').result(1, 'b');
    expect(rows.sketch).toStrictEqual([
      'user: Go',
      'assistant calls a b',
      'tool a = "result of a"',
      'tool b = "result of b"',
    ]);
  });

  it('are one message also when the user spoke between them', () => {
    const rows = new Rows().user(1, 'Go').call(1, 'a', 'm1').user(1, 'Hurry.').call(1, 'b', 'm1');
    expect(rows.sketch).toStrictEqual(['user: Go', 'assistant calls a b', 'user: Hurry.']);
  });

  it('get a text that came after them', () => {
    const rows = new Rows().user(1, 'Go').call(1, 'a', 'm1').result(1, 'a').answer(1, 'Said late.', 'm1');
    expect(rows.sketch).toStrictEqual([
      'user: Go',
      'assistant calls a: Said late.',
      'tool a = "result of a"',
    ]);
  });

  it('are not mixed with those of the next response of the turn', () => {
    const rows = new Rows().user(1, 'Go').call(1, 'a', 'm1').result(1, 'a').call(1, 'b', 'm2').result(1, 'b');
    expect(rows.sketch).toStrictEqual([
      'user: Go',
      'assistant calls a',
      'tool a = "result of a"',
      'assistant calls b',
      'tool b = "result of b"',
    ]);
  });
});

describe('a result', () => {
  it('of parallel calls stands in call order, whatever the order of arrival', () => {
    const rows = new Rows().user(1, 'Go').call(1, 'a', 'm1').call(1, 'b', 'm1').result(1, 'b').result(1, 'a');
    expect(rows.sketch.slice(2)).toStrictEqual(['tool a = "result of a"', 'tool b = "result of b"']);
  });

  it('that comes after the next turn stands with its call', () => {
    const rows = new Rows()
      .user(1, 'Go')
      .call(1, 'a', 'm1')
      .user(2, 'status?')
      .answer(2, 'It runs.', 'm2')
      .result(1, 'a')
      .user(3, 'and now?');
    expect(rows.sketch).toStrictEqual([
      'user: Go',
      'assistant calls a',
      'tool a = "result of a"',
      'user: status?',
      'assistant: It runs.',
      'user: and now?',
    ]);
    expect(checkHistory(rows.state.snapshot.messages)).toStrictEqual([]);
  });

  it('answers the call of its turn when ids are used again', () => {
    const rows = new Rows()
      .user(1, '1')
      .call(1, 'call_0', 'm1')
      .result(1, 'call_0', 1)
      .user(2, '2')
      .call(2, 'call_0', 'm2')
      .result(2, 'call_0', 2);
    expect(rows.sketch).toStrictEqual([
      'user: 1',
      'assistant calls call_0',
      'tool call_0 = 1',
      'user: 2',
      'assistant calls call_0',
      'tool call_0 = 2',
    ]);
  });

  it('without a call, or a second one, has no effect', () => {
    const rows = new Rows()
      .user(1, 'Go')
      .call(1, 'a', 'm1')
      .result(1, 'a')
      .result(1, 'a', 'again')
      .result(1, 'z');
    expect(rows.sketch).toHaveLength(3);
  });
});

describe('rows of the original project, which name no response', () => {
  it('give the calls the text that follows them', () => {
    const rows = new Rows()
      .user(1, 'Go')
      .call(1, 'a')
      .answer(1, 'Looking.')
      .result(1, 'a')
      .answer(1, 'Done.');
    expect(rows.sketch).toStrictEqual([
      'user: Go',
      'assistant calls a: Looking.',
      'tool a = "result of a"',
      'assistant: Done.',
    ]);
  });

  it('make one message of calls in a row', () => {
    const rows = new Rows()
      .user(1, 'Go')
      .call(1, 'a')
      .call(1, 'b')
      .answer(1, '')
      .result(1, 'b')
      .result(1, 'a');
    expect(rows.sketch).toStrictEqual([
      'user: Go',
      'assistant calls a b',
      'tool a = "result of a"',
      'tool b = "result of b"',
    ]);
  });

  it('make no message of a blank answer', () => {
    expect(new Rows().user(1, 'Go').answer(1, '').answer(1, '  ').sketch).toStrictEqual(['user: Go']);
  });

  it('of types that are not known have no effect', () => {
    const rows = new Rows()
      .user(1, 'Go')
      .row(1, 'tool_continuation', { content: 'x' })
      .row(1, 'provider_compaction_boundary')
      .row(0, 'boundary', { boundary: 'something new' });
    expect(rows.sketch).toStrictEqual(['user: Go']);
  });

  it('bring media and the turn of each message', () => {
    const rows = new Rows().row(1, 'user', {
      content: 'See',
      media: { images: ['https://example.com/a.png'], audio: [], video: ['https://example.com/v.mp4'] },
      tags: ['processed'],
    });
    expect(rows.state.snapshot.messages).toStrictEqual([
      {
        role: 'user',
        content: 'See',
        imageUrls: ['https://example.com/a.png'],
        videoUrls: ['https://example.com/v.mp4'],
        turnId: 'turn_0001',
      },
    ]);
  });
});

describe('an answer', () => {
  it('that holds only reasoning makes no message', () => {
    const rows = new Rows().user(1, 'Go').row(1, 'assistant', {
      content: '',
      message_id: 'm1',
      reasoning: [{ text: 'Hm.', signature: 'c2ln' }],
    });
    expect(rows.sketch).toStrictEqual(['user: Go']);
  });

  it('that holds only reasoning joins the calls of its response', () => {
    const rows = new Rows().user(1, 'Go');
    rows.row(1, 'tool_call', { tool_call_id: 'a', tool_name: 'ls', tool_args: {}, message_id: 'm1' });
    rows.row(1, 'assistant', {
      content: '',
      message_id: 'm1',
      reasoning: [{ text: 'Hm.', signature: 'c2ln' }],
    });
    expect(rows.state.snapshot.messages[1]).toMatchObject({
      reasoning: [{ text: 'Hm.', signature: 'c2ln' }],
      toolPayload: { toolCalls: [{ id: 'a' }] },
    });
  });

  it('that opens the conversation gets a user message before it', () => {
    const rows = new Rows().answer(1, 'Welcome!', 'm1');
    expect(rows.state.snapshot.messages[0]).toMatchObject({ role: 'user', synthetic: true });
  });

  it('is amended when it is written again under its id', () => {
    const rows = new Rows().user(1, 'Go').answer(1, 'Half', 'm1').answer(1, 'Half and half.', 'm1');
    expect(rows.sketch).toStrictEqual(['user: Go', 'assistant: Half and half.']);
  });
});

describe('boundaries', () => {
  it('set, change and take away the one system message at the head', () => {
    const rows = new Rows().user(1, 'Hi');
    rows.row(0, 'boundary', { boundary: 'system', system_prompt: 'A' });
    expect(rows.sketch).toStrictEqual(['system: A', 'user: Hi']);
    rows.row(0, 'boundary', { boundary: 'system', system_prompt: 'B' });
    expect(rows.sketch).toStrictEqual(['system: B', 'user: Hi']);
    rows.row(0, 'boundary', { boundary: 'system', system_prompt: '' });
    expect(rows.sketch).toStrictEqual(['user: Hi']);
  });

  it('set the whole context, with its epoch and its turns', () => {
    const rows = new Rows().user(1, 'Hi').row(0, 'boundary', {
      boundary: 'base',
      reason: 'host',
      epoch_id: 4,
      last_compaction_ts: 9.5,
      last_turn: 12,
      messages: [{ role: 'user', content: 'New' }],
    });
    expect(rows.sketch).toStrictEqual(['user: New']);
    expect(rows.state).toMatchObject({ lastTurn: 12, snapshot: { epochId: 4, lastCompactionTs: 9.5 } });
  });

  it('repair the list in place', () => {
    const rows = new Rows()
      .user(1, '1')
      .answer(1, '2', 'm')
      .user(2, '3')
      .row(0, 'boundary', {
        boundary: 'repair',
        at: 1,
        delete_count: 1,
        insert: [{ role: 'assistant', content: 'two' }],
        codes: ['hoist-result'],
      });
    expect(rows.sketch).toStrictEqual(['user: 1', 'assistant: two', 'user: 3']);
  });

  it('count refused compactions until one succeeds or the context is set as a whole', () => {
    const rows = new Rows().user(1, '1');
    const refuse = () => rows.row(0, 'boundary', { boundary: 'compaction_failed', reason: 'blank-summary' });
    refuse();
    refuse();
    expect(rows.state.compactionFailures).toBe(2);
    rows.apply(compaction(2));
    expect(rows.state.compactionFailures).toBe(0);
    refuse();
    rows.row(0, 'boundary', { boundary: 'base', reason: 'host', epoch_id: 3, last_turn: 1, messages: [] });
    expect(rows.state.compactionFailures).toBe(0);
  });
});

function compaction(epochId: number): CompactionTrace {
  return {
    id: 'rt',
    ts: 1,
    turnId: '',
    seq: 1,
    sourceEvent: 'Compaction',
    type: 'compaction',
    epochId,
    lastCompactionTs: 77.25,
    lastTurn: 9,
    messages: [user('kept')],
    episodic: [],
    semantic: [],
  };
}

describe('a compaction', () => {
  it('starts the epoch that it names, with the messages that it holds', () => {
    const rows = new Rows().user(1, '1').answer(1, '2', 'm');
    rows.apply(compaction(5));
    expect(rows.sketch).toStrictEqual(['user: kept']);
    expect(rows.state).toMatchObject({ lastTurn: 9, snapshot: { epochId: 5, lastCompactionTs: 77.25 } });
  });
});

describe('turns', () => {
  it('are counted to the highest, also when a late trace of an older one comes', () => {
    const rows = new Rows().user(1, '1').call(1, 'a', 'm').user(7, '7').result(1, 'a');
    expect(rows.state.lastTurn).toBe(7);
  });
});

describe('the frontier', () => {
  const frontier = (...messages: Parameters<typeof sketch>[0][number][]) => {
    const { snapshot } = emptyMemoryState();
    snapshot.replaceAll(messages);
    return frontierOf(snapshot);
  };

  it.each([
    ['nothing was said', [], 'idle', []],
    ['an answer came', [user('1'), assistant('2')], 'idle', []],
    ['only memory is there', [{ ...user('m'), kind: 'memory' as const }], 'idle', []],
    ['the user waits', [user('1')], 'awaiting_assistant', []],
    ['the results wait', [user('1'), calls('a'), result('a')], 'awaiting_assistant', []],
    ['calls are open', [user('1'), calls('a', 'b'), result('a')], 'interrupted_tools', ['b']],
    ['a call is open further back', [calls('a'), user('1'), assistant('2')], 'interrupted_tools', ['a']],
  ] as const)('says where it stopped when %s', (_, messages, kind, callIds) => {
    expect(frontier(...messages)).toMatchObject({ kind, callIds });
  });
});
