/** What a transcript's items become as rows of the trace journal. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/json.js';
import { TranscriptTraces } from '../../../src/memory/importing/transcript-traces.js';
import { traceFromJson } from '../../../src/memory/models/trace-serializer.js';
import type { TranscriptItem } from '../../../src/messages/importers/transcript.js';
import { runParameters } from '../../property/seed.js';
import { calls, compaction, item, result, said } from './transcript-items.js';

const NOW_MS = 1_800_000_000_000;

function tracesOf(...items: readonly TranscriptItem[]): { rows: JsonObject[]; traces: TranscriptTraces } {
  const traces = new TranscriptTraces(() => NOW_MS);
  return { rows: [...items.flatMap((each) => traces.rowsOf(each)), ...traces.end()], traces };
}

/** `turn seq type: what`, one a row. */
function sketch(...items: readonly TranscriptItem[]): string[] {
  return tracesOf(...items).rows.map((row) => {
    const what = row['tool_call_id'] ?? row['system_prompt'] ?? row['content'] ?? '';
    return `${row['turn_id'] || '-'} ${row['seq']} ${row['trace_type']}: ${what}`;
  });
}

describe('turns', () => {
  it('begin with the user, and number their rows from 1', () => {
    expect(
      sketch(
        said('system', 'Be brief.'),
        said('user', 'One?'),
        calls(['a', 'b']),
        result('a'),
        result('b'),
        said('assistant', 'Yes.'),
        said('user', 'Two?'),
      ),
    ).toStrictEqual([
      '- 1 boundary: Be brief.',
      'turn_0001 1 user: One?',
      'turn_0001 2 tool_call: a',
      'turn_0001 3 tool_call: b',
      'turn_0001 4 tool_result: a',
      'turn_0001 5 tool_result: b',
      'turn_0001 6 assistant: Yes.',
      'turn_0002 1 user: Two?',
    ]);
  });

  it('begin with the model where it speaks first', () => {
    expect(sketch(said('system', 'Greet.'), said('assistant', 'Hello.'), said('user', 'Hi.'))).toStrictEqual([
      '- 1 boundary: Greet.',
      'turn_0001 1 assistant: Hello.',
      'turn_0002 1 user: Hi.',
    ]);
  });

  it('do not begin with a summary', () => {
    const memory = said('user', 'What was before.', { kind: 'memory' });
    expect(sketch(said('user', 'One?'), memory)).toStrictEqual([
      'turn_0001 1 user: One?',
      'turn_0001 2 user: What was before.',
    ]);
  });

  it('are counted', () => {
    expect(tracesOf(said('user', 'One?'), said('user', 'Two?')).traces.turns).toBe(2);
  });
});

describe('a result', () => {
  it('stands in the turn of its call, after what that turn has, when it comes late', () => {
    expect(
      sketch(said('user', 'One?'), calls(['a']), said('user', 'Two?'), result('a'), said('assistant', 'So.')),
    ).toStrictEqual([
      'turn_0001 1 user: One?',
      'turn_0001 2 tool_call: a',
      'turn_0002 1 user: Two?',
      'turn_0001 3 tool_result: a',
      'turn_0002 2 assistant: So.',
    ]);
  });

  it('answers the newest call of an id that was used again', () => {
    const { rows, traces } = tracesOf(
      said('user', 'One?'),
      calls(['a']),
      said('user', 'Two?'),
      calls(['a']),
      result('a'),
    );
    expect(rows.at(-1)).toMatchObject({ trace_type: 'tool_result', turn_id: 'turn_0002' });
    expect(traces.openCalls()).toStrictEqual([{ callId: 'a', turnId: 'turn_0001', toolName: 'look' }]);
  });

  it('without a call stands where it came', () => {
    expect(sketch(said('user', 'One?'), result('a'))).toStrictEqual([
      'turn_0001 1 user: One?',
      'turn_0001 2 tool_result: a',
    ]);
  });

  it('keeps its parts and that it was made up', () => {
    const parts = [{ type: 'text' as const, text: 'seen' }];
    const message = { role: 'tool', content: null, parts, synthetic: true } as const;
    const toolPayload = { toolCallId: 'a', toolName: 'look', toolResult: null, toolError: 'cut' };
    const { rows } = tracesOf(calls(['a']), item({ ...message, toolPayload }));
    expect(rows.at(-1)).toMatchObject({ parts, synthetic: true, tool_error: 'cut' });
  });
});

describe('a call without a result', () => {
  it('is open', () => {
    const { traces } = tracesOf(said('user', 'One?'), calls(['a', 'b']), result('b'));
    expect(traces.openCalls()).toStrictEqual([{ callId: 'a', turnId: 'turn_0001', toolName: 'look' }]);
  });

  it('is open no more when a compaction took it away', () => {
    const { traces } = tracesOf(said('user', 'One?'), calls(['a']), compaction(said('user', 'Summary.')));
    expect(traces.openCalls()).toStrictEqual([]);
  });

  it('is open when a compaction kept it', () => {
    const kept = compaction(said('user', 'Summary.'), calls(['a', 'b']), result('a'));
    expect(tracesOf(said('user', 'One?'), kept).traces.openCalls()).toStrictEqual([
      { callId: 'b', turnId: '', toolName: 'look' },
    ]);
  });

  it('is listed by turn, whichever id came first', () => {
    const { traces } = tracesOf(
      ...[said('user', 'One?'), calls(['x']), said('user', 'Two?'), calls(['y'])],
      ...[said('user', 'Three?'), calls(['x'])],
    );
    expect(traces.openCalls().map(({ callId, turnId }) => `${turnId} ${callId}`)).toStrictEqual([
      'turn_0001 x',
      'turn_0002 y',
      'turn_0003 x',
    ]);
  });
});

describe('system messages', () => {
  it('are one prompt when several stand at the head', () => {
    const rows = sketch(said('system', 'Be brief.'), said('system', 'Be kind.'), said('user', 'Hi.'));
    expect(rows[1]).toBe('- 2 boundary: Be brief.\n\nBe kind.');
  });

  it('are notes in their place when they come later and say something else', () => {
    const { rows } = tracesOf(
      said('system', 'Be brief.'),
      said('user', 'Hi.'),
      said('system', 'Tools: none.'),
    );
    expect(rows.at(-1)).toMatchObject({
      trace_type: 'user',
      source_event: 'SystemNote',
      turn_id: 'turn_0001',
      content: 'Tools: none.',
    });
  });

  it('are written once when they are said again', () => {
    const prompt = said('system', 'Be brief.');
    expect(sketch(prompt, said('user', 'Hi.'), prompt)).toHaveLength(2);
  });

  it('are not written when they are blank', () => {
    expect(sketch(said('system', ' '), said('user', 'Hi.'))).toStrictEqual(['turn_0001 1 user: Hi.']);
  });
});

describe('an answer', () => {
  it('comes before its calls, under one id', () => {
    const { rows } = tracesOf(calls(['a'], { content: 'I look.', messageId: 'm1' }));
    expect(rows.map((row) => [row['trace_type'], row['message_id']])).toStrictEqual([
      ['assistant', 'm1'],
      ['tool_call', 'm1'],
    ]);
  });

  it('that is only reasoning comes after its calls, which it joins', () => {
    const { rows } = tracesOf(calls(['a'], { reasoning: [{ text: 'Hm.', signature: 'c2ln' }] }));
    expect(rows.map((row) => row['trace_type'])).toStrictEqual(['tool_call', 'assistant']);
    expect(rows[1]).toMatchObject({ reasoning: [{ text: 'Hm.', signature: 'c2ln' }] });
    expect(rows[1]?.['message_id']).toBe(rows[0]?.['message_id']);
  });

  it('keeps who signed its calls', () => {
    const origin = { provider: 'google', model: 'm' };
    const call = { id: 'a', name: 'look', arguments: {}, signature: 'c2ln' };
    const { rows } = tracesOf(
      item({ role: 'assistant', content: null, origin, toolPayload: { toolCalls: [call] } }),
    );
    expect(rows).toMatchObject([{ signature: 'c2ln' }, { trace_type: 'assistant', origin }]);
  });

  it('keeps that it was cut off, also when it is only calls', () => {
    expect(tracesOf(calls(['a'], { status: 'aborted' })).rows.at(-1)).toMatchObject({ status: 'aborted' });
  });

  it('that is nothing but calls has no row of its own', () => {
    expect(sketch(said('user', 'One?'), calls(['a']))).toStrictEqual([
      'turn_0001 1 user: One?',
      'turn_0001 2 tool_call: a',
    ]);
  });

  it('that is calls of a known origin has a row with it, without content', () => {
    const { rows } = tracesOf(said('user', 'One?'), calls(['a'], { origin: { provider: 'p' } }));
    expect(rows.at(-1)).toMatchObject({ trace_type: 'assistant', origin: { provider: 'p' } });
    expect(rows.at(-1)).not.toHaveProperty('content');
  });
});

describe('a message that was replayed', () => {
  it('is written once and counted', () => {
    const { rows, traces } = tracesOf(
      said('user', 'One?', { messageId: 'u1' }),
      said('assistant', 'Yes.', { messageId: 'm1' }),
      said('user', 'One?', { messageId: 'u1' }),
      said('assistant', 'Yes.', { messageId: 'm1' }),
    );
    expect(rows).toHaveLength(2);
    expect({ messages: traces.messages, replayed: traces.replayed }).toStrictEqual({
      messages: 4,
      replayed: 2,
    });
  });

  it('leaves no call open a second time', () => {
    const call = calls(['a'], { messageId: 'm1' });
    expect(tracesOf(said('user', 'One?'), call, result('a'), call).traces.openCalls()).toStrictEqual([]);
  });

  it('is another message, without the id, when it says something else', () => {
    const { rows, traces } = tracesOf(
      said('user', 'One?', { messageId: 'u1' }),
      said('user', 'Two?', { messageId: 'u1' }),
    );
    expect(rows[1]).toMatchObject({ content: 'Two?' });
    expect(rows[1]).not.toHaveProperty('message_id');
    expect(traces.replayed).toBe(0);
  });
});

describe('a compaction', () => {
  it('begins an epoch with the prompt and what it kept', () => {
    const { rows } = tracesOf(
      said('system', 'Be brief.'),
      said('user', 'One?'),
      compaction(said('user', 'Summary.', { kind: 'memory' })),
      said('user', 'Two?'),
    );
    expect(rows[2]).toMatchObject({
      trace_type: 'compaction',
      turn_id: '',
      epoch_id: 2,
      last_turn: 1,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Summary.', kind: 'memory' },
      ],
    });
    expect(rows[3]).toMatchObject({ turn_id: 'turn_0002', seq: 1 });
  });

  it('has no prompt where the transcript had none', () => {
    const { rows } = tracesOf(said('user', 'One?'), compaction(said('user', 'Summary.')));
    expect(rows[1]?.['messages']).toStrictEqual([{ role: 'user', content: 'Summary.', imported: true }]);
  });
});

describe('times', () => {
  const ts = (...items: readonly TranscriptItem[]) => tracesOf(...items).rows.map((row) => row['ts']);
  const at = (seconds: number) => item({ role: 'user', content: 'Hi.' }, seconds);

  it("are the transcript's", () => {
    expect(ts(at(1000.25), at(2000))).toStrictEqual([1000.25, 2000]);
  });

  it('are those of the item before where an item has none', () => {
    expect(ts(at(1000), said('assistant', 'Yes.'))).toStrictEqual([1000, 1000]);
  });

  it('are now where the transcript has none', () => {
    expect(ts(said('user', 'Hi.'))).toStrictEqual([NOW_MS / 1000]);
  });

  it('are the given first one before the first item that has one', () => {
    const traces = new TranscriptTraces(() => NOW_MS, 1000);
    expect(traces.rowsOf(said('system', 'Be brief.'))[0]).toMatchObject({ ts: 1000 });
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY, 1e15])('are not %s', (odd) => {
    expect(ts(at(1000), at(odd))).toStrictEqual([1000, 1000]);
  });
});

describe('every row', () => {
  const ids = fc.constantFrom('a', 'b', '');
  const items = fc.oneof(
    fc.string().map((text) => said('user', text)),
    fc.tuple(fc.string(), ids).map(([text, messageId]) => said('assistant', text, { messageId })),
    fc.array(ids, { minLength: 1, maxLength: 3 }).map((list) => calls(list)),
    ids.map((id) => result(id)),
    fc.string().map((text) => said('system', text)),
    ids.map((id) => compaction(said('user', 'Summary.'), calls([id]))),
  );

  it('is a trace, with a place of its own in its turn', () => {
    fc.assert(
      fc.property(fc.array(items, { maxLength: 40 }), (list) => {
        const traces = tracesOf(...list).rows.map(traceFromJson);
        const places = traces.map(({ turnId, seq }) => `${turnId} ${seq}`);
        expect(new Set(places).size).toBe(places.length);
      }),
      runParameters('transcript traces', 300),
    );
  });

  it('leaves as many calls open as were made and not answered', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            ids.map((id) => calls([id])),
            ids.map((id) => result(id)),
          ),
        ),
        (list) => {
          const open = new Map<string, number>();
          const { traces } = tracesOf(...list);
          for (const each of list) {
            const payload = each.kind === 'message' ? each.message.toolPayload : undefined;
            if (!payload) continue;
            const id = 'toolCalls' in payload ? payload.toolCalls[0]!.id : payload.toolCallId;
            open.set(id, Math.max(0, (open.get(id) ?? 0) + ('toolCalls' in payload ? 1 : -1)));
          }
          const wanted = [...open.values()].reduce((sum, number) => sum + number, 0);
          expect(traces.openCalls()).toHaveLength(wanted);
        },
      ),
      runParameters('open calls of a transcript', 300),
    );
  });
});
