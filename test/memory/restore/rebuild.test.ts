/** A rebuild without the cache: from the newest whole context on, or from memory items where no compaction left a record. */
import fs from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { SNAPSHOT_FILE } from '../../../src/memory/store/working-context-snapshot-store.js';
import {
  byteCounter,
  contextText,
  type FilePlace,
  filePlace,
  openAgent,
  sketchOf,
  talk,
} from '../memory-kit.js';
import { LegacyRows } from './legacy.js';

const jsonl = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

/** Six turns of the original project, the first `covered` of them in a summary, and two facts. */
async function summarized(covered: number): Promise<FilePlace> {
  const place = await filePlace();
  const rows = new LegacyRows();
  for (let turn = 1; turn <= 6; turn += 1) rows.user(`q${turn}`).answer(`a${turn}`);
  const turnIds = Array.from({ length: covered }, (_, index) => `turn_000${index + 1}`);
  await place.put('raw_traces.jsonl', String(rows));
  await place.put(
    'episodic.jsonl',
    jsonl([{ id: 'ep_1', ts: 1, turn_ids: turnIds, summary: 'They talked.', salience: 0 }]),
  );
  await place.put(
    'semantic.jsonl',
    jsonl([
      { id: 'sem_1', ts: 1, fact: 'Likes tea.', confidence: 0, salience: 0 },
      { id: 'sem_2', ts: 1, fact: 'In Oslo.', category: 'durable_fact', salience: 0 },
    ]),
  );
  return place;
}

const MEMORY = 'memory: [MEMORY:EPISODIC]\n1) They talked.\n\n[MEMORY:SEMANTIC]\n- Likes tea.\n- In Oslo.';
const turns = (...numbers: number[]) => numbers.flatMap((turn) => [`user: q${turn}`, `assistant: a${turn}`]);

describe('a rebuild from memory items', () => {
  it('gives the system prompt, the items and every turn that no item covers, and at least the last four', async () => {
    const { memory, report } = await openAgent(await summarized(1), { system: 'Be kind.' });
    expect(report).toMatchObject({ source: 'rebuilt', cacheRefused: { reason: 'missing' } });
    expect(sketchOf(memory)).toStrictEqual(['system: Be kind.', MEMORY, ...turns(2, 3, 4, 5, 6)]);
    const second = await openAgent(await summarized(4), { system: 'Be kind.' });
    expect(sketchOf(second.memory)).toStrictEqual(['system: Be kind.', MEMORY, ...turns(3, 4, 5, 6)]);
  });

  it('takes as many last turns and items as it is told to', async () => {
    const restore = { rawTailTurns: 0, maxEpisodic: 0, maxSemantic: 1 };
    const { memory } = await openAgent(await summarized(5), { restore });
    expect(sketchOf(memory)).toStrictEqual(['memory: [MEMORY:SEMANTIC]\n- In Oslo.', ...turns(6)]);
  });

  it('takes the items from the retriever of the host', async () => {
    const retriever = () => ({
      retrieve: async () => ({
        episodic: [{ id: 'x', ts: 1, turnIds: [], summary: 'Chosen.', salience: 1 }],
        semantic: [],
      }),
    });
    const { memory } = await openAgent(await summarized(2), { memory: { retriever } });
    expect(sketchOf(memory)[0]).toBe('memory: [MEMORY:EPISODIC]\n1) Chosen.');
  });

  it('goes on with the turn numbers, also of turns that did not come in', async () => {
    const { memory } = await openAgent(await summarized(6), { restore: { rawTailTurns: 1 } });
    expect(memory.startTurn()).toBe('turn_0007');
  });

  it('is exact from then on: later restores do not depend on the items', async () => {
    const place = await summarized(3);
    const { memory } = await openAgent(place, { system: 'Be kind.' });
    await talk(memory, 'q7', 'a7');
    await fs.rm(place.file(SNAPSHOT_FILE));
    await fs.rm(place.file('episodic.jsonl'));
    const next = await openAgent(place, { restore: { rawTailTurns: 1 } });
    expect(contextText(next.memory)).toBe(contextText(memory));
  });

  it('keeps the system prompt that the agent had when it is given none', async () => {
    const place = await filePlace();
    const { memory, close } = await openAgent(place, { system: 'Be kind.' });
    await talk(memory, 'q1', 'a1');
    await memory.store.addEpisodic([{ id: 'ep', ts: 1, turnIds: [], summary: 'By hand.', salience: 0 }]);
    await close();
    await fs.rm(place.file(SNAPSHOT_FILE));
    const next = await openAgent(place);
    expect(sketchOf(next.memory)).toStrictEqual([
      'system: Be kind.',
      'memory: [MEMORY:EPISODIC]\n1) By hand.',
      'user: q1',
      'assistant: a1',
    ]);
    expect(next.report.promptChanged).toBe(false);
  });
});

describe('a rebuild of an agent that was compacted', () => {
  it('starts at the newest compaction and does not load what it took away', async () => {
    const place = await filePlace();
    const options = {
      system: 'Be kind.',
      memory: {
        compaction: { rawTailTurns: 1 },
        summarizer: { summarize: async () => ({ episodicSummary: 'Short.', semanticFacts: [] }) },
        tokenCounter: byteCounter,
      },
    };
    const { memory } = await openAgent(place, options);
    for (const round of [1, 2]) {
      for (const turn of [1, 2, 3]) await talk(memory, `alpha ${round}${turn} ${'x'.repeat(200)}`, 'ok');
      await memory.compact();
    }
    await talk(memory, 'gamma', 'GAMMA');
    await fs.rm(place.file(SNAPSHOT_FILE));
    const next = await openAgent(place);
    expect(next.report).toMatchObject({ source: 'rebuilt', epochId: 3, tracesReplayed: 3, damage: [] });
    expect(contextText(next.memory)).toBe(contextText(memory));
    expect(next.memory.lastCompactionTs).toBe(memory.lastCompactionTs);
    expect(sketchOf(next.memory)[1]).toBe('memory: [MEMORY:EPISODIC]\n1) Short.\n2) Short.');
  });
});
