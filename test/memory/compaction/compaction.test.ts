import fs from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../src/core/clock.js';
import type { CompactionPolicyOptions } from '../../../src/memory/compaction/compaction-policy.js';
import type { Summarizer } from '../../../src/memory/compaction/summarizer.js';
import type { MemoryEvents } from '../../../src/memory/memory-events.js';
import type { MemoryManager } from '../../../src/memory/memory-manager.js';
import type { MemoryOptions } from '../../../src/memory/open-memory.js';
import { checkHistory } from '../../../src/messages/legality/history.js';
import { textOf } from '../../../src/messages/message.js';
import { NodeFileSystem } from '../../../src/storage/file/node-file-system.js';
import { FaultyFileSystem } from '../../../src/storage/simulated/faulty-file-system.js';
import {
  answer,
  ask,
  byteCounter,
  contextText,
  filePlace,
  openAgent,
  PLACES,
  type Place,
  sketchOf,
  talk,
} from '../memory-kit.js';

const long = (text: string) => `${text} ${'and so on '.repeat(30)}`;

/** Says everything again: what a bad model does. */
const echo: Summarizer = {
  summarize: async (turns) => ({ episodicSummary: turns.map(textOf).join(' '), semanticFacts: [] }),
};

const saying = (episodicSummary: string): Summarizer => ({
  summarize: async () => ({ episodicSummary, semanticFacts: [{ fact: `fact of ${episodicSummary}` }] }),
});

const failing: Summarizer = {
  summarize: async () => {
    throw new Error('no network');
  },
};

interface Given {
  readonly summarizer?: Summarizer;
  readonly policy?: CompactionPolicyOptions;
  readonly memory?: MemoryOptions;
}

function memoryOptions({
  summarizer = saying('They talked.'),
  policy = {},
  memory = {},
}: Given): MemoryOptions {
  return { compaction: { rawTailTurns: 1, ...policy }, summarizer, tokenCounter: byteCounter, ...memory };
}

const open = (place: Place, given: Given = {}) =>
  openAgent(place, { system: 'Be kind.', memory: memoryOptions(given) });

async function talkLong(memory: MemoryManager, turns: number): Promise<void> {
  for (let turn = 1; turn <= turns; turn += 1) await talk(memory, long(`q${turn}`), long(`a${turn}`));
}

/** Names of the events, with what matters of them. */
function listen(memory: MemoryManager): { name: keyof MemoryEvents; event: unknown }[] {
  const seen: { name: keyof MemoryEvents; event: unknown }[] = [];
  for (const name of ['compacted', 'compaction_refused', 'compaction_stopped'] as const)
    memory.events.on(name, (event) => seen.push({ name, event }));
  return seen;
}

describe.each(PLACES)('a compaction over $name', ({ make }) => {
  it('starts a new epoch with the system message, one memory message and the last turns', async () => {
    const place = await make();
    const clock = new ManualClock(1_700_000_000_250);
    const { memory } = await open(place, { memory: { clock } });
    await talkLong(memory, 3);
    const seen = listen(memory);
    const plan = await memory.compact();
    expect(sketchOf(memory)).toStrictEqual([
      'system: Be kind.',
      'memory: [MEMORY:EPISODIC]\n1) They talked.\n\n[MEMORY:SEMANTIC]\n- The agent noted: "fact of They talked."',
      `user: ${long('q3')}`,
      `assistant: ${long('a3')}`,
    ]);
    expect(memory).toMatchObject({ epochId: 2, lastCompactionTs: 1_700_000_000.25 });
    expect(seen).toMatchObject([
      { name: 'compacted', event: { epochId: 2, turnIds: ['turn_0001', 'turn_0002'] } },
    ]);
    expect(plan!.tokensAfter).toBeLessThan(plan!.tokensBefore);
    expect(await memory.store.listEpisodic()).toMatchObject([{ summary: 'They talked.' }]);
    expect(await memory.store.listSemantic()).toMatchObject([{ fact: 'fact of They talked.' }]);
  });

  it('survives: the next process has the same context, epoch and time', async () => {
    const place = await make();
    const { memory } = await open(place);
    await talkLong(memory, 3);
    await memory.compact();
    await talk(memory, 'after', 'it');
    const next = await openAgent(place);
    expect(contextText(next.memory)).toBe(contextText(memory));
    expect(next.memory).toMatchObject({ epochId: 2, lastCompactionTs: memory.lastCompactionTs, lastTurn: 4 });
  });

  it('comes by itself at the end of the turn that passes the trigger', async () => {
    const { memory } = await open(await make(), {
      policy: { inputBudgetTokens: 2_000, triggerRatio: 1, safetyMarginTokens: 0 },
    });
    const seen = listen(memory);
    await talkLong(memory, 3);
    expect(seen).toStrictEqual([]);
    await talkLong(memory, 1);
    expect(seen).toMatchObject([{ name: 'compacted' }]);
    expect(memory.epochId).toBe(2);
  });

  it('keeps pinned messages, each time', async () => {
    const { memory } = await open(await make());
    const turnId = memory.startTurn();
    await memory.ingestUserMessage({ text: 'Never delete files.', pinned: true }, turnId);
    await memory.ingestAssistantResponse({ content: 'Understood.' }, turnId);
    for (let round = 0; round < 3; round += 1) {
      await talkLong(memory, 2);
      await memory.compact();
      expect(sketchOf(memory).filter((line) => line === 'user: Never delete files.')).toHaveLength(1);
    }
    expect(memory.epochId).toBe(4);
  });

  it('keeps what an open call needs, and its result finds it later', async () => {
    const { memory } = await open(await make());
    await talkLong(memory, 2);
    const turnId = await ask(memory, long('slow'), 'a');
    await talkLong(memory, 2);
    await memory.compact();
    expect(memory.epochId).toBe(2);
    await memory.ingestToolResults([{ ...answer('a'), turnId }], 'turn_0005');
    expect(sketchOf(memory).slice(2, 5)).toStrictEqual([
      `user: ${long('slow')}`,
      'assistant calls a',
      'tool a = "result of a"',
    ]);
    expect(checkHistory(memory.getWorkingContextMessages())).toStrictEqual([]);
  });

  it('is nothing when no turn may go', async () => {
    const { memory } = await open(await make());
    await talkLong(memory, 1);
    const before = contextText(memory);
    expect(await memory.compact()).toBeNull();
    expect(contextText(memory)).toBe(before);
    expect(memory.epochId).toBe(1);
  });

  it('is refused when a trace came while the summary was made, with the trace kept', async () => {
    const place = await make();
    const talkMeanwhile: Summarizer = {
      summarize: async () => {
        await memory.ingestUserMessage('meanwhile', 'turn_0004');
        return { episodicSummary: 's', semanticFacts: [] };
      },
    };
    const { memory } = await open(place, { summarizer: talkMeanwhile });
    await talkLong(memory, 3);
    await expect(memory.compact()).rejects.toMatchObject({ code: 'JOURNAL_CONFLICT' });
    expect(memory.epochId).toBe(1);
    expect(sketchOf(memory).at(-1)).toBe('user: meanwhile');
    expect(contextText((await openAgent(place)).memory)).toBe(contextText(memory));
  });

  it('stops when the host cancels, without being counted as a failure', async () => {
    const stop = new AbortController();
    const cancelled: Summarizer = {
      summarize: async (_, { signal }) => {
        stop.abort();
        signal?.throwIfAborted();
        return { episodicSummary: 's', semanticFacts: [] };
      },
    };
    const { memory } = await open(await make(), { summarizer: cancelled });
    await talkLong(memory, 3);
    const seen = listen(memory);
    await expect(memory.compact(stop.signal)).rejects.toMatchObject({ code: 'COMPACTION_REFUSED' });
    expect(seen).toStrictEqual([]);
    expect(memory.epochId).toBe(1);
  });

  it('that comes again and again with an echoing summarizer keeps one memory message and a bounded size', async () => {
    const { memory } = await open(await make(), { summarizer: echo, policy: { maxItemChars: 500 } });
    const sizes: number[] = [];
    for (let round = 0; round < 20; round += 1) {
      await talkLong(memory, 8);
      await memory.compact();
      const messages = memory.getWorkingContextMessages();
      expect(messages.filter(({ kind }) => kind === 'memory')).toHaveLength(1);
      expect(textOf(messages[1]!).match(/\[MEMORY:EPISODIC\]/g)).toHaveLength(1);
      sizes.push(contextText(memory).length);
    }
    expect(memory.epochId).toBe(21);
    expect(Math.max(...sizes)).toBeLessThan(4_000);
    expect(sizes.at(-1)).toBeLessThanOrEqual(sizes[2]! + 20);
  });
});

describe.each(PLACES)('a compaction that is refused over $name', ({ make }) => {
  it.each([
    ['blank-summary', saying(' ')],
    ['summarizer-failed', failing],
    ['not-smaller', saying('x'.repeat(1_900))],
  ])('because of %s leaves the context as it was, and is told and counted', async (reason, summarizer) => {
    const place = await make();
    const { memory } = await open(place, { summarizer });
    await talkLong(memory, 3);
    const before = contextText(memory);
    const seen = listen(memory);
    await expect(memory.compact()).rejects.toMatchObject({ code: 'COMPACTION_REFUSED', details: { reason } });
    expect(contextText(memory)).toBe(before);
    expect(memory.epochId).toBe(1);
    expect(seen).toMatchObject([{ name: 'compaction_refused', event: { reason, failures: 1 } }]);
    expect(await memory.store.listEpisodic()).toStrictEqual([]);
    expect(contextText((await openAgent(place)).memory)).toBe(before);
  });

  /** Compacts at every turn, far below what the model takes: nothing forces a compaction without the summarizer. */
  const tight: CompactionPolicyOptions = {
    inputBudgetTokens: 10_000_000,
    triggerRatio: 1e-6,
    targetRatio: 1e-6,
    safetyMarginTokens: 0,
  };

  it('three times in a row stops: it says so once, and turns go on', async () => {
    const { memory } = await open(await make(), { summarizer: failing, policy: tight });
    const seen = listen(memory);
    await talkLong(memory, 8);
    expect(seen.map(({ name }) => name)).toStrictEqual([
      'compaction_refused',
      'compaction_refused',
      'compaction_refused',
      'compaction_stopped',
    ]);
    expect(seen.at(-1)).toMatchObject({ event: { failures: 3 } });
    expect(memory.getWorkingContextMessages()).toHaveLength(17);
  });

  it.each(['with the cache', 'without the cache'])('is counted across a restart %s', async (way) => {
    const place = await make();
    const first = await open(place, { summarizer: failing, policy: tight });
    await talkLong(first.memory, 3); // the first turn has nothing to take, so two failures
    const restore = { ignoreCache: way === 'without the cache' };
    const next = await openAgent(place, {
      memory: memoryOptions({ summarizer: failing, policy: tight }),
      restore,
    });
    const seen = listen(next.memory);
    await talkLong(next.memory, 3);
    expect(seen.map(({ name }) => name)).toStrictEqual(['compaction_refused', 'compaction_stopped']);
    expect(seen[0]).toMatchObject({ event: { failures: 3 } });
  });

  it('is forgotten once one by hand succeeds', async () => {
    const place = await make();
    const first = await open(place, { summarizer: failing, policy: tight });
    await talkLong(first.memory, 5);
    const next = await open(place, { policy: tight });
    const seen = listen(next.memory);
    await next.memory.compact();
    await talkLong(next.memory, 2);
    expect(seen.map(({ name }) => name)).not.toContain('compaction_stopped');
    expect(seen.filter(({ name }) => name === 'compacted').length).toBeGreaterThan(1);
  });
});

describe('a crash around a compaction', () => {
  async function compacted() {
    const place = await filePlace();
    const { memory } = await open(place);
    await talkLong(memory, 3);
    const cache = await fs.readFile(place.file('working_context_snapshot.json'));
    const before = await fs.readFile(place.file('raw_traces.jsonl'));
    await memory.compact();
    return { place, memory, cache, before };
  }

  it('after its record and before its items: the next restore writes the items, once', async () => {
    for (const lost of ['both', 'facts only'] as const) {
      const { place, memory, cache } = await compacted();
      const summary = (await place.lines('episodic.jsonl')).length;
      if (lost === 'both') await fs.rm(place.file('episodic.jsonl'));
      await fs.rm(place.file('semantic.jsonl'));
      await place.put('working_context_snapshot.json', cache);
      const next = await openAgent(place);
      expect(next.report.source).toBe('cache+tail');
      expect(contextText(next.memory)).toBe(contextText(memory));
      expect(await place.lines('episodic.jsonl')).toHaveLength(summary);
      expect(await place.lines('semantic.jsonl')).toHaveLength(1);
      await openAgent(place, { restore: { ignoreCache: true } });
      expect(await place.lines('episodic.jsonl')).toHaveLength(1);
      expect(await place.lines('semantic.jsonl')).toHaveLength(1);
    }
  });

  it('in the middle of its record: the next restore has the old epoch', async () => {
    const { place, cache, before } = await compacted();
    const whole = await fs.readFile(place.file('raw_traces.jsonl'));
    const record = whole.subarray(before.length);
    for (const written of [0, 1, record.length >> 1, record.length - 2]) {
      await place.put('raw_traces.jsonl', Buffer.concat([before, record.subarray(0, written)]));
      await place.put('working_context_snapshot.json', cache);
      await fs.rm(place.file('episodic.jsonl'), { force: true });
      await fs.rm(place.file('semantic.jsonl'), { force: true });
      const { memory, report } = await openAgent(place, { readOnly: true });
      expect(memory.epochId).toBe(1);
      expect(memory.getWorkingContextMessages()).toHaveLength(7);
      expect(report.damage).toHaveLength(written === 0 ? 0 : 1);
    }
  });

  it('and a disk that was full when its items came: they are written before the cache says that it covers them', async () => {
    const place = await filePlace();
    const disk = new FaultyFileSystem(new NodeFileSystem());
    const { memory } = await openAgent(place, {
      system: 'Be kind.',
      storage: place.storage({ fileSystem: disk }),
      memory: memoryOptions({}),
    });
    await talkLong(memory, 3);
    const items = (name: string, path: string) => name === 'file.write' && /episodic|semantic/.test(path);
    disk.setFault({ at: 1, kind: 'ENOSPC', sticky: true, only: items });
    await memory.compact().catch(() => {});
    expect(memory.epochId).toBe(2);
    await talk(memory, 'x', 'y'); // saves the cache at its end
    disk.setFault(null);
    await talk(memory, 'x', 'y');
    const next = await openAgent(place);
    expect(await next.memory.store.listEpisodic()).toHaveLength(1);
    expect(await next.memory.store.listSemantic()).toHaveLength(1);
    expect(contextText(next.memory)).toBe(contextText(memory));
  });

  it('while the disk was full: the restore writes the items that the process could not', async () => {
    const place = await filePlace();
    const disk = new FaultyFileSystem(new NodeFileSystem());
    const { memory } = await openAgent(place, {
      system: 'Be kind.',
      storage: place.storage({ fileSystem: disk }),
      memory: memoryOptions({}),
    });
    await talkLong(memory, 3);
    const items = (name: string, path: string) => name === 'file.write' && /episodic|semantic/.test(path);
    disk.setFault({ at: 1, kind: 'ENOSPC', sticky: true, only: items });
    await memory.compact().catch(() => {});
    await talk(memory, 'x', 'y');
    const next = await openAgent(place);
    expect(await next.memory.store.listEpisodic()).toHaveLength(1);
    expect(await next.memory.store.listSemantic()).toHaveLength(1);
    expect(contextText(next.memory)).toBe(contextText(memory));
  });
});

describe('the ledger', () => {
  it('is set aside by a compaction when no call is open, and kept when one is', async () => {
    const place = await filePlace();
    const { memory } = await open(place);
    await talkLong(memory, 2);
    const turnId = await ask(memory, 'Go', 'a');
    await memory.ledger.started({ callId: 'a', turnId, toolName: 'tool_a' });
    await talkLong(memory, 1);
    await memory.compact();
    expect(await place.lines('pending_calls.jsonl')).toHaveLength(1);
    await memory.ingestToolResults([{ ...answer('a'), turnId }], turnId);
    await talkLong(memory, 2);
    await memory.compact();
    expect((await place.names()).filter((name) => name.startsWith('pending_calls'))).toContain(
      'pending_calls.archive',
    );
    const next = await openAgent(place);
    await next.memory.ledger.loadAll();
    expect(next.memory.ledger.verdictOn({ callId: 'a', turnId, toolName: 'tool_a' }).verdict).toBe(
      'not_started',
    );
  });

  it('is not made by a compaction of an agent without tools', async () => {
    const place = await filePlace();
    const { memory } = await open(place);
    await talkLong(memory, 3);
    await memory.compact();
    expect(await place.names()).toStrictEqual([
      'episodic.jsonl',
      'raw_traces.jsonl',
      'semantic.jsonl',
      'working_context_snapshot.json',
    ]);
  });
});

describe('without a compactor', () => {
  it('a compaction by hand is refused, and none comes by itself', async () => {
    const { memory } = await openAgent(await filePlace());
    await talkLong(memory, 2);
    await expect(memory.compact()).rejects.toMatchObject({
      code: 'COMPACTION_REFUSED',
      details: { reason: 'no-compactor' },
    });
  });
});
