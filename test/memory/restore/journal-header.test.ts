/** The header of the trace journal: whose it is, and who may read it. */
import fs from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/json.js';
import { repairAgent } from '../../../src/memory/maintenance/repair-agent.js';
import { verifyAgent } from '../../../src/memory/maintenance/verify-agent.js';
import { JOURNAL_READER, readerNeededBy } from '../../../src/memory/models/journal-header.js';
import { SNAPSHOT_FILE } from '../../../src/memory/store/working-context-snapshot-store.js';
import {
  AGENT,
  contextText,
  type FilePlace,
  filePlace,
  filePlaceAt,
  folderState,
  openAgent,
  sketchOf,
  talk,
} from '../memory-kit.js';
import { LegacyRows } from './legacy.js';

const TRACES = 'raw_traces.jsonl';

async function rows(place: FilePlace): Promise<JsonObject[]> {
  return (await place.lines(TRACES)).map((line) => JSON.parse(line) as JsonObject);
}

function headers(all: readonly JsonObject[]): unknown[] {
  return all.flatMap((row, at) =>
    row['trace_type'] === 'journal' ? [[at, row['agent_id'], row['reader']]] : [],
  );
}

/** One turn; closed, so that the cache is current. */
async function conversed(): Promise<FilePlace> {
  const place = await filePlace();
  const { memory, close } = await openAgent(place);
  await talk(memory, 'Hi', 'Hello');
  await close();
  return place;
}

const unknownRow = (type: string, more: JsonObject = {}): string =>
  `${JSON.stringify({ id: 'x', ts: 1, turn_id: 'turn_0001', seq: 9, trace_type: type, ...more })}\n`;

describe('the header of the traces', () => {
  it('stands before the first trace, once, also after restores', async () => {
    const place = await conversed();
    for (let turn = 0; turn < 2; turn += 1) {
      const { memory, close } = await openAgent(place);
      await talk(memory, 'And?', 'So.');
      await close();
    }
    expect(headers(await rows(place))).toStrictEqual([[0, AGENT, 1]]);
    const { report } = await openAgent(place, { restore: { ignoreCache: true } });
    expect(report).toMatchObject({ tracesReplayed: 6, tracesUnknown: [] });
  });

  it('comes into a journal without one with the next append, and not before', async () => {
    const place = await filePlace();
    await place.put(TRACES, String(new LegacyRows().user('Hi').answer('Hello.')));
    const before = await folderState(place.root);
    const { memory } = await openAgent(place);
    expect(await folderState(place.root)).toStrictEqual(before);
    await talk(memory, 'And?', 'So.');
    expect(headers(await rows(place))).toStrictEqual([[2, AGENT, 1]]);
  });

  it('is repeated by a row that holds a whole context', async () => {
    const place = await conversed();
    const { memory } = await openAgent(place);
    await memory.resetWorkingContextSnapshot([{ role: 'user', content: 'Only this.' }]);
    expect((await rows(place)).at(-1)).toMatchObject({ boundary: 'base', agent_id: AGENT, reader: 1 });
  });

  it('is written by appends that overlap once, before each of them', async () => {
    const place = await filePlace();
    const { memory } = await openAgent(place);
    await Promise.all(['1', '2', '3'].map((text) => memory.ingestUserMessage(text, 'turn_0001')));
    expect(headers(await rows(place))).toStrictEqual([[0, AGENT, 1]]);
    expect(sketchOf(memory)).toStrictEqual(['user: 1', 'user: 2', 'user: 3']);
  });

  it('needs no newer reader for any kind than this release is', () => {
    for (const trace_type of ['journal', 'user', 'tool_result', 'compaction', 'boundary', 'what'])
      expect(readerNeededBy({ trace_type })).toBeLessThanOrEqual(JOURNAL_READER);
  });
});

describe('a journal that needs a newer reader', () => {
  const raised = (reader: number) => unknownRow('journal', { agent_id: AGENT, reader });
  const newer = { code: 'UNSUPPORTED_VERSION', details: { reader: 99, supported: JOURNAL_READER } };

  it.each([true, false])(
    'is refused by restore, verify, rebuild and repair, with a cache: %s',
    async (cached) => {
      const place = await conversed();
      await fs.appendFile(place.file(TRACES), raised(99) + unknownRow('clear'));
      if (!cached) await fs.rm(place.file(SNAPSHOT_FILE));
      const before = await folderState(place.root);
      await expect(openAgent(place)).rejects.toMatchObject(newer);
      await expect(openAgent(place, { restore: { ignoreCache: true } })).rejects.toMatchObject(newer);
      await expect(repairAgent(place.storage(), AGENT)).rejects.toMatchObject(newer);
      const verdict = await verifyAgent(place.storage(), AGENT);
      expect(verdict.problems.join()).toContain('UNSUPPORTED_VERSION');
      expect(await folderState(place.root)).toStrictEqual(before);
    },
  );

  it('is refused when a snapshot without a footer would be taken over', async () => {
    const place = await filePlace();
    const snapshot = { schema_version: 1, agent_id: AGENT, messages: [{ role: 'user', content: 'Hi' }] };
    await place.put(SNAPSHOT_FILE, JSON.stringify(snapshot));
    await place.put(TRACES, raised(99));
    await expect(openAgent(place)).rejects.toMatchObject(newer);
  });

  it('is refused when only the newest whole context says so', async () => {
    const place = await conversed();
    const base = { boundary: 'base', messages: [], epoch_id: 2, last_turn: 1, agent_id: AGENT, reader: 99 };
    await fs.appendFile(place.file(TRACES), unknownRow('boundary', base));
    await expect(openAgent(place, { restore: { ignoreCache: true } })).rejects.toMatchObject(newer);
  });

  it('is read when it needs this release', async () => {
    const place = await conversed();
    await fs.appendFile(place.file(TRACES), raised(JOURNAL_READER));
    const { memory, report } = await openAgent(place);
    expect(sketchOf(memory)).toStrictEqual(['user: Hi', 'assistant: Hello']);
    expect(report.tracesUnknown).toStrictEqual([]);
  });
});

describe('a trace of a kind that is unknown', () => {
  it('is reported by each restore and by verify, with its number, and stays', async () => {
    const place = await conversed();
    await fs.appendFile(
      place.file(TRACES),
      unknownRow('clear') + unknownRow('clear') + unknownRow('boundary', { boundary: 'later' }),
    );
    const tracesUnknown = [
      { type: 'clear', seq: 4, count: 2 },
      { type: 'boundary "later"', seq: 6, count: 1 },
    ];
    const first = await openAgent(place);
    expect(first.report).toMatchObject({ tracesUnknown, damage: [] });
    await talk(first.memory, 'And?', 'So.');
    await first.close();
    const second = await openAgent(place);
    expect(second.report).toMatchObject({ source: 'cache', tracesUnknown });
    await second.close();
    expect((await openAgent(place, { restore: { ignoreCache: true } })).report).toMatchObject({
      tracesUnknown,
    });
    const { problems } = await verifyAgent(place.storage(), AGENT);
    expect(problems.join()).toMatch(/2 rows of an unknown kind, clear, from record 4 on/);
  });

  it('of the original project has no effect and is not reported', async () => {
    const place = await conversed();
    await fs.appendFile(place.file(TRACES), unknownRow('tool_continuation'));
    expect((await openAgent(place)).report.tracesUnknown).toStrictEqual([]);
    expect(await verifyAgent(place.storage(), AGENT)).toMatchObject({ problems: [] });
  });
});

describe("another agent's folder under one's own name", () => {
  it.each([true, false])('is refused, and nothing is written, with its cache: %s', async (cached) => {
    const place = await conversed();
    const other = filePlaceAt(place.root, 'thief');
    await fs.cp(place.file('.'), other.file('.'), { recursive: true });
    if (!cached) await fs.rm(other.file(SNAPSHOT_FILE));
    const before = await folderState(place.root);
    const foreign = { code: 'AGENT_FOREIGN', details: { agentId: 'thief', owner: AGENT } };
    await expect(openAgent(other, { agentId: 'thief' })).rejects.toMatchObject(foreign);
    await expect(repairAgent(other.storage(), 'thief')).rejects.toMatchObject(foreign);
    expect((await verifyAgent(other.storage(), 'thief')).problems.join()).toContain('AGENT_FOREIGN');
    expect(await folderState(place.root)).toStrictEqual(before);
    expect(contextText((await openAgent(place)).memory)).toContain('Hello');
  });
});
