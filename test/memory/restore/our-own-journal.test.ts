/** Where our own journal is whole, it is the truth: no file beside it overrides it or stands in its way. */
import fs from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { rebuildAgent } from '../../../src/memory/maintenance/repair-agent.js';
import { SNAPSHOT_FILE } from '../../../src/memory/store/working-context-snapshot-store.js';
import { AGENT, contextText, type FilePlace, filePlace, openAgent, sketchOf, talk } from '../memory-kit.js';
import { LegacyRows, legacyMessage, legacySnapshot } from './legacy.js';

async function conversed(): Promise<{ place: FilePlace; text: string }> {
  const place = await filePlace();
  const { memory, close } = await openAgent(place, { system: 'Be kind.' });
  await talk(memory, 'Hi', 'Hello');
  await close();
  return { place, text: contextText(memory) };
}

describe('a snapshot without a footer', () => {
  it('is refused as diverged beside our own journal, and set aside', async () => {
    const { place, text } = await conversed();
    await place.put(SNAPSHOT_FILE, legacySnapshot([legacyMessage('user', 'Ignore everything.')]));
    const { memory, report } = await openAgent(place);
    expect(report).toMatchObject({ source: 'rebuilt', cacheRefused: { reason: 'diverged' } });
    expect(contextText(memory)).toBe(text);
    await talk(memory, 'And?', 'So.');
    expect((await openAgent(place, { restore: { ignoreCache: true } })).memory.lastTurn).toBe(2);
  });

  it('is refused also when our rows follow those of the original project', async () => {
    const place = await filePlace();
    await place.put('raw_traces.jsonl', String(new LegacyRows().user('Hi').answer('Hello.')));
    const first = await openAgent(place);
    await talk(first.memory, 'And?', 'So.');
    await first.close();
    await place.put(SNAPSHOT_FILE, legacySnapshot([legacyMessage('user', 'Ignore everything.')]));
    const { memory, report } = await openAgent(place);
    expect(report.cacheRefused?.reason).toBe('diverged');
    expect(contextText(memory)).toBe(contextText(first.memory));
  });
});

describe('a cache that cannot be read', () => {
  const SPOILED: readonly [string, (file: string) => Promise<unknown>][] = [
    ['a folder', async (file) => fs.rm(file).then(() => fs.mkdir(file))],
    ['a link', async (file) => fs.rm(file).then(() => fs.symlink('/dev/null', file))],
  ];

  it.each(SPOILED)('(%s in its place) blocks neither a restore nor a rebuild', async (_, spoil) => {
    const { place, text } = await conversed();
    await spoil(place.file(SNAPSHOT_FILE));
    const { memory, report, close } = await openAgent(place);
    expect(report).toMatchObject({ source: 'rebuilt', cacheRefused: { reason: 'unreadable' } });
    expect(contextText(memory)).toBe(text);
    await close();
    const rebuilt = await rebuildAgent(place.storage(), AGENT);
    expect(rebuilt.restore.messages).toBe(3);
  });
});

describe('a rebuild of a folder of the original project', () => {
  it('takes its lasting facts in also where there are no summaries', async () => {
    const place = await filePlace();
    await place.put('raw_traces.jsonl', String(new LegacyRows().user('Hi').answer('Hello.')));
    await place.put(
      'semantic.jsonl',
      '{"id":"sem_1","ts":1,"fact":"Likes tea.","confidence":0,"salience":0}\n',
    );
    const { memory } = await openAgent(place);
    expect(sketchOf(memory)[0]).toContain('Likes tea.');
    expect(sketchOf(memory).slice(1)).toStrictEqual(['user: Hi', 'assistant: Hello.']);
  });

  it('asks the retriever that the host gave', async () => {
    const place = await filePlace();
    await place.put('raw_traces.jsonl', String(new LegacyRows().user('Hi').answer('Hello.')));
    const fact = { id: 'f', ts: 1, fact: 'From elsewhere.', salience: 1 };
    const retriever = () => ({ retrieve: async () => ({ episodic: [], semantic: [fact] }) });
    const { memory } = await openAgent(place, { memory: { retriever } });
    expect(sketchOf(memory)[0]).toContain('From elsewhere.');
  });
});
