/** Damage in the journals: told with its place, never rewritten, never passed over in silence. */
import fs from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { SNAPSHOT_FILE } from '../../../src/memory/store/working-context-snapshot-store.js';
import { systemIdentity } from '../../../src/storage/process-identity.js';
import { AGENT, contextText, type FilePlace, filePlace, openAgent, sketchOf, talk } from '../memory-kit.js';

const TRACES = 'raw_traces.jsonl';

/** Four turns; the cache is current. */
async function fourTurns(): Promise<{ place: FilePlace; text: string; bytes: Buffer }> {
  const place = await filePlace();
  const { memory, close } = await openAgent(place, { system: 'Be kind.' });
  for (const turn of [1, 2, 3, 4]) await talk(memory, `question ${turn}`, `answer ${turn}`);
  await close();
  return { place, text: contextText(memory), bytes: await fs.readFile(place.file(TRACES)) };
}

/** Where a line of the journal starts and how long it is, without its newline. */
function lineAt(bytes: Buffer, number: number): { start: number; length: number } {
  const lines = bytes.toString('utf8').split('\n');
  const start = Buffer.byteLength(
    lines
      .slice(0, number)
      .map((line) => `${line}\n`)
      .join(''),
  );
  return { start, length: Buffer.byteLength(lines[number]!) };
}

function withZeros(bytes: Buffer, start: number, length: number): Buffer {
  const damaged = Buffer.from(bytes);
  damaged.fill(0, start, start + length);
  return damaged;
}

describe('a damaged line in the middle', () => {
  it('is told with its byte range by a rebuild, which takes everything else', async () => {
    const { place, bytes } = await fourTurns();
    const { start, length } = lineAt(bytes, 4); // question 2
    const damaged = withZeros(bytes, start, length);
    await place.put(TRACES, damaged);
    await fs.rm(place.file(SNAPSHOT_FILE));
    const { memory, report } = await openAgent(place);
    expect(report).toMatchObject({
      source: 'rebuilt',
      damage: [{ file: TRACES, startByte: start, bytes: length, setAside: null }],
    });
    expect(sketchOf(memory)).not.toContain('user: question 2');
    expect(sketchOf(memory)).toHaveLength(8);
    await talk(memory, '5', '5');
    expect((await fs.readFile(place.file(TRACES))).subarray(0, damaged.length).equals(damaged)).toBe(true);
  });

  it('is no loss while the cache covers it', async () => {
    const { place, bytes, text } = await fourTurns();
    const { start, length } = lineAt(bytes, 4);
    await place.put(TRACES, withZeros(bytes, start, length));
    const { memory, report } = await openAgent(place);
    expect(report).toMatchObject({ source: 'cache', damage: [] });
    expect(contextText(memory)).toBe(text);
  });

  it('is told when it lies behind what the cache covers', async () => {
    const place = await filePlace();
    const { memory } = await openAgent(place);
    await talk(memory, '1', '1');
    const turnId = memory.startTurn();
    for (const text of ['2', '3', '4']) await memory.ingestUserMessage(text, turnId);
    const bytes = await fs.readFile(place.file(TRACES));
    const { start, length } = lineAt(bytes, 4);
    await place.put(TRACES, withZeros(bytes, start, length));
    const next = await openAgent(place);
    expect(next.report).toMatchObject({
      source: 'cache+tail',
      tracesReplayed: 2,
      damage: [{ startByte: start }],
    });
    expect(sketchOf(next.memory)).toStrictEqual(['user: 1', 'assistant: 1', 'user: 2', 'user: 4']);
  });

  it('is no loss when it is the very record on which the cache ends', async () => {
    const { place, bytes, text } = await fourTurns();
    const { start, length } = lineAt(bytes, 9);
    await place.put(TRACES, withZeros(bytes, start, length));
    const { memory, report } = await openAgent(place);
    expect(report).toMatchObject({ source: 'cache', damage: [{ startByte: start, bytes: length }] });
    expect(contextText(memory)).toBe(text);
    await talk(memory, '5', '5');
    const next = await openAgent(place);
    expect(contextText(next.memory)).toBe(contextText(memory));
    expect(next.report).toMatchObject({ source: 'cache', damage: [] });
  });

  it('of the wrong shape is told as no trace', async () => {
    const place = await filePlace();
    await place.put(
      TRACES,
      '{"id":"x","ts":1,"turn_id":"turn_0001","seq":1,"trace_type":"user","content":"Hi"}\n{"hello":"world"}\n',
    );
    const { memory, report } = await openAgent(place);
    expect(report.damage).toMatchObject([{ file: TRACES, reason: 'not-a-trace', startByte: 83 }]);
    expect(sketchOf(memory)).toStrictEqual(['user: Hi']);
  });
});

describe('lines that stand there twice', () => {
  it('are told and taken once by a rebuild', async () => {
    const { place, bytes, text } = await fourTurns();
    await place.put(TRACES, Buffer.concat([bytes, bytes]));
    await fs.rm(place.file(SNAPSHOT_FILE));
    const { memory, report } = await openAgent(place);
    expect(contextText(memory)).toBe(text);
    expect(report.damage.length).toBe(10);
    expect(new Set(report.damage.map(({ reason }) => reason))).toStrictEqual(new Set(['sequence-repeated']));
    expect(memory.startTurn()).toBe('turn_0005');
  });

  it('have no effect while the cache covers them', async () => {
    const { place, bytes, text } = await fourTurns();
    await place.put(TRACES, Buffer.concat([bytes, bytes]));
    const { memory } = await openAgent(place);
    expect(contextText(memory)).toBe(text);
    await talk(memory, '5', '5');
    expect(contextText((await openAgent(place)).memory)).toBe(contextText(memory));
    expect(contextText((await openAgent(place, { restore: { ignoreCache: true } })).memory)).toBe(
      contextText(memory),
    );
  });

  it('are taken once also behind a whole context', async () => {
    const { place } = await fourTurns();
    const { memory } = await openAgent(place);
    await memory.resetWorkingContextSnapshot([{ role: 'user', content: 'Only this.' }]);
    await talk(memory, '5', '5');
    await memory.close();
    const lines = await place.lines(TRACES);
    await place.put(TRACES, `${[...lines, ...lines.slice(-2)].join('\n')}\n`);
    const next = await openAgent(place, { restore: { ignoreCache: true } });
    expect(sketchOf(next.memory)).toStrictEqual(['user: Only this.', 'user: 5', 'assistant: 5']);
    expect(next.report.damage).toMatchObject([
      { reason: 'sequence-repeated' },
      { reason: 'sequence-repeated' },
    ]);
  });
});

describe('a line that is gone', () => {
  it.each([1, 4, 6])('is told as a gap by a rebuild: line %d', async (number) => {
    const { place } = await fourTurns();
    const lines = await place.lines(TRACES);
    await place.put(TRACES, `${lines.toSpliced(number, 1).join('\n')}\n`);
    await fs.rm(place.file(SNAPSHOT_FILE));
    const { report } = await openAgent(place);
    expect(report).toMatchObject({ messages: 8, damage: [{ reason: 'sequence-gap' }] });
  });
});

/** A process was killed while it wrote its second turn. */
async function killedInARecord() {
  const place = await filePlace();
  const killed = await openAgent(place);
  await talk(killed.memory, '1', '1');
  const bytes = await fs.readFile(place.file(TRACES));
  const torn = '{"id":"rt_1","trace_type":"user","content":"half of a mes';
  await place.put(TRACES, Buffer.concat([bytes, Buffer.from(torn)]));
  return { place, bytes, torn };
}

describe('a torn tail', () => {
  it('is set aside, reported and cut off', async () => {
    const { place, bytes, text } = await fourTurns();
    const torn = '{"id":"rt_1","trace_type":"user","content":"half of a mes';
    await place.put(TRACES, Buffer.concat([bytes, Buffer.from(torn)]));
    const { memory, report } = await openAgent(place);
    expect(report.damage).toStrictEqual([
      {
        file: TRACES,
        reason: 'torn',
        startByte: bytes.length,
        bytes: torn.length,
        setAside: expect.any(String),
      },
    ]);
    expect(await place.text(report.damage[0]!.setAside!)).toBe(torn);
    expect(contextText(memory)).toBe(text);
    expect((await fs.readFile(place.file(TRACES))).equals(bytes)).toBe(true);
    await memory.close();
    expect((await openAgent(place)).report.damage).toStrictEqual([]);
  });

  it('of a process that was killed on this kernel is set aside, and its file goes on', async () => {
    const { place, bytes, torn } = await killedInARecord();
    const next = await openAgent(place);
    expect(next.report.damage).toMatchObject([
      { reason: 'torn', startByte: bytes.length, bytes: torn.length, setAside: expect.any(String) },
    ]);
    expect(await place.text(next.report.damage[0]!.setAside!)).toBe(torn);
    await talk(next.memory, '2', '2');
    const last = await openAgent(place, { restore: { ignoreCache: true } });
    expect(contextText(last.memory)).toBe(contextText(next.memory));
    expect((await place.text(TRACES)).startsWith(bytes.toString())).toBe(true);
  });

  it('of a process out of sight is sealed off by the next append, and reported as such', async () => {
    const { place, bytes, torn } = await killedInARecord();
    // It still runs: this process is its owner.
    const running = place.storage({ identity: systemIdentity });
    await (await running.leases.acquire(['agents', AGENT], { force: true })).release();
    const next = await openAgent(place);
    expect(next.report.damage).toMatchObject([
      { reason: 'torn', startByte: bytes.length, bytes: torn.length, setAside: null },
    ]);
    await talk(next.memory, '2', '2');
    const last = await openAgent(place, { restore: { ignoreCache: true } });
    expect(contextText(last.memory)).toBe(contextText(next.memory));
    expect(await place.text('raw_traces.000001-3.jsonl')).toBe(`${bytes}${torn}`);
  });

  it('at any byte of the last record loses that record and nothing else', async () => {
    const place = await filePlace();
    const { memory, close } = await openAgent(place);
    await talk(memory, '1', '1');
    const before = await fs.readFile(place.file(TRACES));
    const text = contextText(memory);
    await memory.ingestUserMessage('the last one', memory.startTurn());
    const whole = contextText(memory);
    await close();
    const bytes = await fs.readFile(place.file(TRACES));
    const cache = await fs.readFile(place.file(SNAPSHOT_FILE));
    for (let size = before.length; size <= bytes.length; size += 7) {
      for (const cached of [true, false]) {
        const copy = await filePlace();
        await copy.put(TRACES, bytes.subarray(0, size));
        if (cached) await copy.put(SNAPSHOT_FILE, cache);
        const opened = await openAgent(copy, { readOnly: true });
        const complete = size >= bytes.length - 1;
        expect(contextText(opened.memory)).toBe(complete ? whole : text);
        expect(opened.report.damage).toHaveLength(complete || size === before.length ? 0 : 1);
        await opened.close();
      }
    }
  });

  it('is no damage when only its newline is missing', async () => {
    const { place, bytes, text } = await fourTurns();
    await place.put(TRACES, bytes.subarray(0, -1));
    const { memory, report } = await openAgent(place);
    expect(report.damage).toStrictEqual([]);
    expect(contextText(memory)).toBe(text);
    await talk(memory, '5', '5');
    expect(contextText((await openAgent(place, { restore: { ignoreCache: true } })).memory)).toBe(
      contextText(memory),
    );
  });
});

describe('two records on one line', () => {
  it('are both read', async () => {
    const { place, bytes, text } = await fourTurns();
    const { start, length } = lineAt(bytes, 4);
    const joined = Buffer.concat([bytes.subarray(0, start + length), bytes.subarray(start + length + 1)]);
    await place.put(TRACES, joined);
    await fs.rm(place.file(SNAPSHOT_FILE));
    const { memory, report } = await openAgent(place);
    expect(contextText(memory)).toBe(text);
    expect(report.damage).toStrictEqual([]);
  });
});

describe('a torn cache write', () => {
  it('at any byte is seen, and the rebuild gives the same context', async () => {
    const place = await filePlace();
    const { memory, close } = await openAgent(place, { system: 'Be kind.' });
    await talk(memory, 'one', 'two');
    const before = await fs.readFile(place.file(SNAPSHOT_FILE));
    await talk(memory, 'three', 'four');
    const after = await fs.readFile(place.file(SNAPSHOT_FILE));
    const text = contextText(memory);
    await close();
    const firstDifference = before.findIndex((byte, index) => byte !== after[index]);
    const sources = new Set<string>();
    for (let written = firstDifference; written <= after.length; written += 5) {
      const torn = Buffer.concat([after.subarray(0, written), before.subarray(written)]);
      await place.put(SNAPSHOT_FILE, torn);
      const opened = await openAgent(place, { readOnly: true });
      expect(contextText(opened.memory)).toBe(text);
      sources.add(opened.report.source);
      await opened.close();
    }
    expect(sources).toContain('rebuilt');
  });
});
