/** Folders of the seed's original project: formats 1 and 3, which do not say which traces they cover. */
import { describe, expect, it } from 'vitest';
import { SNAPSHOT_FILE } from '../../../src/memory/store/working-context-snapshot-store.js';
import { contextText, type FilePlace, filePlace, openAgent, sketchOf, talk } from '../memory-kit.js';
import { LegacyRows, legacyCall, legacyMessage, legacyResult, legacySnapshot } from './legacy.js';

const SYSTEM = legacyMessage('system', 'Be kind.');

async function folderOf(snapshot: string, rows?: LegacyRows): Promise<FilePlace> {
  const place = await filePlace();
  await place.put(SNAPSHOT_FILE, snapshot);
  if (rows) await place.put('raw_traces.jsonl', String(rows));
  return place;
}

describe('a snapshot of the original project', () => {
  it('with an open call says that its outcome is unknown: no ledger of ours could have its start', async () => {
    const place = await folderOf(legacySnapshot([SYSTEM, legacyMessage('user', 'Pay.'), legacyCall('a')]));
    const { memory, report } = await openAgent(place);
    expect(report.interruptedCalls).toMatchObject([{ callId: 'a', verdict: 'outcome_unknown' }]);
    expect(report.unknown).toHaveLength(1);
    expect(contextText(memory)).not.toMatch(/had no effect/);
  });

  it('that was lost, with an open call in its rows, says the same', async () => {
    const place = await filePlace();
    await place.put('raw_traces.jsonl', String(new LegacyRows().user('Pay.').call('a')));
    const { memory, report } = await openAgent(place);
    expect(report).toMatchObject({ source: 'rebuilt', interruptedCalls: [{ verdict: 'outcome_unknown' }] });
    expect(contextText(memory)).not.toMatch(/had no effect/);
  });

  it.each([1, 3])('of format %d is imported, with its epoch and its time', async (schema_version) => {
    const messages = [
      SYSTEM,
      legacyMessage('user', 'Go'),
      legacyCall('a'),
      legacyResult('a'),
      legacyMessage('assistant', 'Done.'),
    ];
    const fields = { schema_version, epoch_id: 4, last_compaction_ts: 1738100000.5 };
    const rows = new LegacyRows().user('Go').call('a').answer('').result('a').answer('Done.');
    const place = await folderOf(legacySnapshot(messages, fields), rows);
    const { memory, report } = await openAgent(place);
    expect(report).toMatchObject({
      source: 'imported',
      cacheRefused: null,
      tracesReplayed: 0,
      repairs: [],
      unknown: [],
      epochId: 4,
      lastCompactionTs: 1738100000.5,
    });
    expect(sketchOf(memory)).toStrictEqual([
      'system: Be kind.',
      'user: Go',
      'assistant calls a',
      'tool a = "result of a"',
      'assistant: Done.',
    ]);
    expect(memory.lastTurn).toBe(1);
  });

  it('keeps what it notes for one provider', async () => {
    const noted = { id: 'a', name: 'ls', arguments: {}, nativeToolCallContext: { items: [{ id: 'fc_1' }] } };
    const place = await folderOf(
      legacySnapshot([legacyMessage('assistant', null, { tool_calls: [noted] }), legacyResult('a')], {
        schema_version: 3,
      }),
    );
    const { memory } = await openAgent(place);
    await talk(memory, '1', '2');
    expect(await place.text(SNAPSHOT_FILE)).toContain('"nativeToolCallContext":{"items":[{"id":"fc_1"}]}');
  });

  it('without traces is imported alone', async () => {
    const place = await folderOf(legacySnapshot([SYSTEM, legacyMessage('user', 'Hi')]));
    const { memory, report } = await openAgent(place);
    expect(report).toMatchObject({
      source: 'imported',
      unknown: [],
      frontier: { kind: 'awaiting_assistant' },
    });
    expect(sketchOf(memory)).toStrictEqual(['system: Be kind.', 'user: Hi']);
  });

  it('in the abbreviated form of the seed is imported', async () => {
    const messages = [
      { role: 'system', content: 'Be kind.' },
      { role: 'tool', tool_payload: { tool_call_id: 'a', tool_name: 'ls' } },
    ];
    const { report } = await openAgent(await folderOf(legacySnapshot(messages)));
    expect(report).toMatchObject({
      source: 'imported',
      repairs: [{ code: 'drop-orphan-result', messageIndex: 1 }],
    });
  });

  it('that an editor saved with a byte order mark and CRLF is imported, and its traces too', async () => {
    const pretty = JSON.stringify(JSON.parse(legacySnapshot([SYSTEM, legacyMessage('user', 'Hi')])), null, 2);
    const place = await folderOf(`\ufeff${pretty.replaceAll('\n', '\r\n')}\r\n`);
    await place.put(
      'raw_traces.jsonl',
      `\ufeff${String(new LegacyRows().user('Hi').answer('Hello')).replaceAll('\n', '\r\n')}`,
    );
    const { memory, report } = await openAgent(place);
    expect(report).toMatchObject({ source: 'imported', damage: [], tracesReplayed: 1 });
    expect(sketchOf(memory)).toStrictEqual(['system: Be kind.', 'user: Hi', 'assistant: Hello']);
  });
});

describe('traces that an imported snapshot lacks', () => {
  it('are replayed: a result after the call on which it ends', async () => {
    const rows = new LegacyRows().user('Go').call('a').answer('').result('a').other('tool_continuation');
    const place = await folderOf(
      legacySnapshot([SYSTEM, legacyMessage('user', 'Go'), legacyCall('a')]),
      rows,
    );
    const { memory, report } = await openAgent(place);
    expect(sketchOf(memory).slice(-2)).toStrictEqual(['assistant calls a', 'tool a = "result of a"']);
    expect(report).toMatchObject({ interruptedCalls: [], repairs: [] });
  });

  it('are replayed: whole turns', async () => {
    const rows = new LegacyRows().user('1').answer('one').user('2').answer('two').user('3');
    const messages = [SYSTEM, legacyMessage('user', '1'), legacyMessage('assistant', 'one')];
    const { memory, report } = await openAgent(await folderOf(legacySnapshot(messages), rows));
    expect(sketchOf(memory).slice(1)).toStrictEqual([
      'user: 1',
      'assistant: one',
      'user: 2',
      'assistant: two',
      'user: 3',
    ]);
    expect(report.tracesReplayed).toBe(3);
    expect(memory.lastTurn).toBe(3);
  });

  it('are replayed also when the same was said before', async () => {
    const rows = new LegacyRows();
    for (let turn = 0; turn < 5; turn += 1) rows.user('go on').answer('Done.');
    const once = [legacyMessage('user', 'go on'), legacyMessage('assistant', 'Done.')];
    for (let known = 1; known <= 5; known += 1) {
      const messages = [SYSTEM, ...Array.from({ length: known }, () => once).flat()];
      const { memory, report } = await openAgent(await folderOf(legacySnapshot(messages), rows));
      expect(memory.getWorkingContextMessages()).toHaveLength(11);
      expect(report.tracesReplayed).toBe(10 - 2 * known);
    }
  });

  it('are replayed also when the call ids start anew in each turn', async () => {
    const rows = new LegacyRows().user('1').call('call_0').result('call_0', 1).answer('one');
    rows.user('2').call('call_0').result('call_0', 2).answer('two');
    const known = [SYSTEM, legacyMessage('user', '1'), legacyCall('call_0'), legacyResult('call_0', 1)];
    const { memory, report } = await openAgent(await folderOf(legacySnapshot(known), rows));
    expect(sketchOf(memory).slice(1)).toStrictEqual([
      'user: 1',
      'assistant calls call_0',
      'tool call_0 = 1',
      'assistant: one',
      'user: 2',
      'assistant calls call_0',
      'tool call_0 = 2',
      'assistant: two',
    ]);
    expect(report).toMatchObject({ tracesReplayed: 5, tracesIgnored: 0 });
  });

  it('are found behind what a compaction of the original took away', async () => {
    const rows = new LegacyRows().user('old').answer('older').user('2').answer('two').user('3');
    const summary = legacyMessage('user', '[MEMORY:EPISODIC]\n1) They talked.');
    const known = [SYSTEM, summary, legacyMessage('user', '2'), legacyMessage('assistant', 'two')];
    const { memory, report } = await openAgent(await folderOf(legacySnapshot(known, { epoch_id: 2 }), rows));
    expect(sketchOf(memory).at(-1)).toBe('user: 3');
    expect(report).toMatchObject({ tracesReplayed: 1, messages: 5 });
  });

  it('are found also when parallel results stand in another order', async () => {
    const rows = new LegacyRows()
      .user('Go')
      .call('a')
      .call('b')
      .answer('')
      .result('b')
      .result('a')
      .answer('Done.');
    const both = legacyMessage('assistant', null, {
      tool_calls: ['a', 'b'].map((id) => ({ id, name: `tool_${id}`, arguments: {} })),
    });
    const known = [SYSTEM, legacyMessage('user', 'Go'), both, legacyResult('a'), legacyResult('b')];
    const { memory, report } = await openAgent(await folderOf(legacySnapshot(known), rows));
    expect(report).toMatchObject({ tracesReplayed: 1, tracesIgnored: 0 });
    expect(sketchOf(memory).at(-1)).toBe('assistant: Done.');
  });

  it('are found also when the call was written a second time as text', async () => {
    const xml = '<tool name="tool_a"></tool>';
    const rows = new LegacyRows().user('Go').call('a').answer(xml).result('a').answer('Done.');
    const known = [
      SYSTEM,
      legacyMessage('user', 'Go'),
      legacyCall('a'),
      legacyMessage('assistant', xml),
      legacyResult('a'),
    ];
    const { memory, report } = await openAgent(await folderOf(legacySnapshot(known), rows));
    expect(report).toMatchObject({ tracesReplayed: 1, repairs: [{ code: 'hoist-result' }] });
    expect(sketchOf(memory).slice(2)).toStrictEqual([
      'assistant calls a',
      'tool a = "result of a"',
      `assistant: ${xml}`,
      'assistant: Done.',
    ]);
  });

  it('are all replayed when the snapshot was saved before anything was said', async () => {
    const rows = new LegacyRows().user('Hi').answer('Hello');
    const { memory, report } = await openAgent(await folderOf(legacySnapshot([SYSTEM]), rows));
    expect(report).toMatchObject({ source: 'imported', tracesReplayed: 2, unknown: [] });
    expect(sketchOf(memory)).toStrictEqual(['system: Be kind.', 'user: Hi', 'assistant: Hello']);
  });

  it('are not guessed when nothing in them stands in the snapshot: it is said', async () => {
    const rows = new LegacyRows().user('another talk').answer('indeed');
    const { memory, report } = await openAgent(
      await folderOf(legacySnapshot([SYSTEM, legacyMessage('user', 'Hi')]), rows),
    );
    expect(report).toMatchObject({
      tracesReplayed: 0,
      unknown: [expect.stringMatching(/nothing in common/)],
    });
    expect(sketchOf(memory)).toStrictEqual(['system: Be kind.', 'user: Hi']);
  });
});

describe('an import', () => {
  it('writes nothing before the first turn, and then keeps the old file beside the new one', async () => {
    const snapshot = legacySnapshot([
      SYSTEM,
      legacyMessage('user', 'Hi'),
      legacyMessage('assistant', 'Hello'),
    ]);
    const rows = new LegacyRows().user('Hi').answer('Hello');
    const place = await folderOf(snapshot, rows);
    const { memory } = await openAgent(place);
    expect(await place.text('raw_traces.jsonl')).toBe(String(rows));
    expect(await place.names()).toStrictEqual(['raw_traces.jsonl', SNAPSHOT_FILE]);
    expect(await talk(memory, '1', '2')).toBe('turn_0002');
    expect(await place.text('raw_traces.jsonl')).toMatch(String(rows));
    const aside = (await place.names()).find((name) => name.includes('set-aside'))!;
    expect(await place.text(aside)).toBe(snapshot);
  });

  it.each([
    ['without traces', undefined],
    ['with traces', new LegacyRows().user('Hi')],
    ['with other traces', new LegacyRows().user('another talk')],
  ])('loses nothing when the process is killed in its first turn, %s', async (_, rows) => {
    const place = await folderOf(legacySnapshot([SYSTEM, legacyMessage('user', 'Hi')]), rows);
    const { memory } = await openAgent(place);
    await memory.ingestUserMessage('And?', memory.startTurn());
    const next = await openAgent(place);
    expect(contextText(next.memory)).toBe(contextText(memory));
    expect(next.report).toMatchObject({
      source: 'rebuilt',
      cacheRefused: { reason: 'diverged' },
      unknown: [],
    });
    await talk(next.memory, '1', '2');
    expect(contextText((await openAgent(place)).memory)).toBe(contextText(next.memory));
  });

  it('gives the same list the second time, from our own cache, and without it', async () => {
    const rows = new LegacyRows().user('Go').call('a').answer('').result('a');
    const place = await folderOf(
      legacySnapshot([SYSTEM, legacyMessage('user', 'Go'), legacyCall('a')]),
      rows,
    );
    const { memory } = await openAgent(place);
    await memory.ingestAssistantResponse({ content: 'Done.' }, 'turn_0001');
    const second = await openAgent(place);
    expect(second.report).toMatchObject({ source: 'cache', repairs: [] });
    expect(contextText(second.memory)).toBe(contextText(memory));
    const third = await openAgent(place, { restore: { ignoreCache: true } });
    expect(third.report).toMatchObject({ source: 'rebuilt', repairs: [] });
    expect(contextText(third.memory)).toBe(contextText(memory));
  });
});

describe('traces of the original project without a snapshot', () => {
  it('are rebuilt, the text that follows a call as its text', async () => {
    const place = await filePlace();
    const rows = new LegacyRows()
      .user('Go')
      .call('a')
      .answer('Looking.')
      .result('a')
      .answer('Done.')
      .other('operation_boundary');
    await place.put('raw_traces.jsonl', String(rows));
    const { memory, report } = await openAgent(place, { system: 'Be kind.' });
    expect(report).toMatchObject({
      source: 'rebuilt',
      cacheRefused: { reason: 'missing' },
      damage: [],
      repairs: [],
    });
    expect(sketchOf(memory)).toStrictEqual([
      'system: Be kind.',
      'user: Go',
      'assistant calls a: Looking.',
      'tool a = "result of a"',
      'assistant: Done.',
    ]);
    expect(memory.startTurn()).toBe('turn_0002');
  });
});
