/** P8 and P7: a restore does nothing but restore, and destroys nothing. */
import fs from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { SNAPSHOT_FILE } from '../../../src/memory/store/working-context-snapshot-store.js';
import {
  answer,
  ask,
  contextText,
  type FilePlace,
  filePlace,
  folderState,
  openAgent,
  talk,
} from '../memory-kit.js';
import { LegacyRows, legacyCall, legacyMessage, legacySnapshot } from './legacy.js';

async function clean(): Promise<FilePlace> {
  const place = await filePlace();
  const { memory, close } = await openAgent(place, { system: 'Be kind.' });
  await talk(memory, 'Hi', 'Hello');
  const turnId = await ask(memory, 'Go', 'a');
  await memory.ledger.started({ callId: 'a', turnId, toolName: 'tool_a' });
  await memory.ingestToolResults([answer('a')], turnId);
  await memory.ingestAssistantResponse({ content: 'Done.' }, turnId);
  await close();
  return place;
}

async function without(place: FilePlace, name: string): Promise<FilePlace> {
  await fs.rm(place.file(name));
  return place;
}

async function legacy(): Promise<FilePlace> {
  const place = await filePlace();
  await place.put(SNAPSHOT_FILE, legacySnapshot([legacyMessage('user', 'Go'), legacyCall('a')]));
  await place.put('raw_traces.jsonl', String(new LegacyRows().user('Go').call('a').answer('').result('a')));
  return place;
}

async function interrupted(): Promise<FilePlace> {
  const place = await filePlace();
  const { memory } = await openAgent(place, { system: 'Be kind.' });
  const turnId = await ask(memory, 'Go', 'a', 'b');
  await memory.ledger.started({ callId: 'a', turnId, toolName: 'tool_a' });
  return place;
}

async function torn(): Promise<FilePlace> {
  const place = await clean();
  await fs.appendFile(place.file('raw_traces.jsonl'), '{"id":"rt_');
  return place;
}

async function damaged(): Promise<FilePlace> {
  const place = await clean();
  const lines = await place.lines('raw_traces.jsonl');
  await place.put('raw_traces.jsonl', `${lines.toSpliced(2, 1, '\u0000\u0000').join('\n')}\n`);
  await place.put(SNAPSHOT_FILE, '{');
  return place;
}

async function newer(): Promise<FilePlace> {
  const place = await clean();
  await place.put(SNAPSHOT_FILE, '{"schema_version":9,"agent_id":"agent-a"}');
  return place;
}

async function illegal(): Promise<FilePlace> {
  const place = await filePlace();
  const result = legacyMessage('tool', null, {
    tool_call_id: 'z',
    tool_name: 'n',
    tool_result: 1,
    tool_error: null,
  });
  await place.put(SNAPSHOT_FILE, legacySnapshot([legacyMessage('user', 'Go'), result]));
  return place;
}

const CLEAN: readonly [string, () => Promise<FilePlace>][] = [
  ['with a current cache', clean],
  ['without a cache', async () => without(await clean(), SNAPSHOT_FILE)],
  ['with a cache of a newer release', newer],
  ['of the original project', legacy],
];

const ANY: readonly [string, () => Promise<FilePlace>][] = [
  ...CLEAN,
  ['with interrupted calls', interrupted],
  ['with a torn tail', torn],
  ['with damage in the middle and a damaged cache', damaged],
  ['with an illegal list', illegal],
];

describe('a dry restore', () => {
  it.each(ANY)('changes no byte and no time in a folder %s, and takes no lease', async (_, make) => {
    const place = await make();
    const before = await folderState(place.root, { leases: true });
    const { memory, report, close } = await openAgent(place, { readOnly: true, system: 'Another prompt.' });
    expect(report.dry).toBe(true);
    await memory.persistWorkingContextSnapshot();
    await close();
    expect(await folderState(place.root, { leases: true })).toStrictEqual(before);
  });

  it.each(ANY)('gives what a real one gives for a folder %s', async (_, make) => {
    const place = await make();
    const dry = await openAgent(place, { readOnly: true });
    const text = contextText(dry.memory);
    await dry.close();
    const real = await openAgent(place);
    expect(contextText(real.memory)).toBe(text);
    const { phasesMs: _dryMs, dry: _dry, damage: dryDamage, ...dryReport } = dry.report;
    const { phasesMs: _realMs, dry: _real, damage: realDamage, ...realReport } = real.report;
    expect(realReport).toStrictEqual(dryReport);
    const place2 = ({ file, reason, startByte, bytes }: (typeof dryDamage)[number]) => ({
      file,
      reason,
      startByte,
      bytes,
    });
    expect(realDamage.map(place2)).toStrictEqual(dryDamage.map(place2));
  });

  it('works beside the process that runs the agent', async () => {
    const place = await filePlace();
    const { memory } = await openAgent(place);
    await talk(memory, '1', '1');
    const reader = await openAgent(place, { readOnly: true });
    expect(contextText(reader.memory)).toBe(contextText(memory));
    await talk(memory, '2', '2');
  });

  it('refuses to write', async () => {
    const { memory } = await openAgent(await clean(), { readOnly: true });
    await expect(memory.ingestUserMessage('x', memory.startTurn())).rejects.toMatchObject({
      code: 'JOURNAL_CLOSED',
    });
  });
});

describe('a restore', () => {
  it.each(CLEAN)('writes nothing but its lease in a folder %s', async (_, make) => {
    const place = await make();
    const before = await folderState(place.root);
    const { close } = await openAgent(place);
    expect(await folderState(place.root)).toStrictEqual(before);
    await close();
    expect(await folderState(place.root)).toStrictEqual(before);
  });

  it.each(ANY)('repairs nothing and gives the same list the second time in a folder %s', async (_, make) => {
    const place = await make();
    const first = await openAgent(place);
    const text = contextText(first.memory);
    await first.memory.persistWorkingContextSnapshot();
    await first.close();
    for (const ignoreCache of [false, true]) {
      const state = await folderState(place.root);
      const next = await openAgent(place, { restore: { ignoreCache } });
      expect(contextText(next.memory)).toBe(text);
      expect(next.report).toMatchObject({ repairs: [], interruptedCalls: [], tracesIgnored: 0 });
      await next.close();
      expect(await folderState(place.root)).toStrictEqual(state);
    }
  });

  it.each(ANY)(
    'also without a save in between repairs nothing the second time in a folder %s',
    async (_, make) => {
      const place = await make();
      const first = await openAgent(place); // and is killed
      const next = await openAgent(place);
      expect(contextText(next.memory)).toBe(contextText(first.memory));
      // An import is taken over with the first append; until then it repairs the same again, in memory.
      if (first.report.source !== 'imported' || first.report.repairs.length > 0)
        expect(next.report).toMatchObject({ repairs: [], interruptedCalls: [] });
    },
  );

  it('emits no event of a new message', async () => {
    const place = await interrupted();
    const { memory } = await openAgent(place);
    const seen: unknown[] = [];
    memory.events.on('snapshot_saved', (event) => seen.push(event));
    expect(seen).toStrictEqual([]);
  });
});
