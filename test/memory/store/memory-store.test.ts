import { describe, expect, it } from 'vitest';
import { MemoryStore } from '../../../src/memory/store/memory-store.js';
import { AGENT, filePlace, folderState, PLACES } from '../memory-kit.js';

const episodic = (id: string) => ({
  id,
  ts: 1,
  turnIds: [`turn_${id}`],
  summary: `summary ${id}`,
  salience: 0,
});
const semantic = (id: string) => ({ id, ts: 1, fact: `fact ${id}`, salience: 0 });

describe.each(PLACES)('the memory store over $name', ({ make }) => {
  it('gives the last items, oldest first', async () => {
    const storage = (await make()).storage();
    const store = new MemoryStore(storage, AGENT, await storage.leases.acquire(['agents', AGENT]));
    await store.addEpisodic(['1', '2', '3'].map(episodic));
    await store.addSemantic(['1', '2'].map(semantic));
    expect(await store.listEpisodic(2)).toStrictEqual(['2', '3'].map(episodic));
    expect(await store.listEpisodic()).toHaveLength(3);
    expect(await store.listEpisodic(0)).toStrictEqual([]);
    expect(await store.listSemantic(9)).toStrictEqual(['1', '2'].map(semantic));
  });

  it('refuses to write without a lease', async () => {
    const store = new MemoryStore((await make()).storage(), AGENT, null);
    expect(store.readOnly).toBe(true);
    await expect(store.addEpisodic([episodic('1')])).rejects.toMatchObject({ code: 'JOURNAL_CLOSED' });
  });
});

describe('the memory store over files', () => {
  it('skips rows of another shape', async () => {
    const place = await filePlace();
    await place.put(
      'episodic.jsonl',
      `${JSON.stringify({ summary: 'a' })}\n{"other":1}\n[1]\n{"summary":"b"}\n`,
    );
    const store = new MemoryStore(place.storage(), AGENT, null);
    expect((await store.listEpisodic(5)).map(({ summary }) => summary)).toStrictEqual(['a', 'b']);
  });

  it('opened for reading makes no folder and no file', async () => {
    const place = await filePlace();
    const before = await folderState(place.root, { leases: true });
    const store = new MemoryStore(place.storage(), AGENT, null);
    expect(await store.listEpisodic(5)).toStrictEqual([]);
    expect(await (await store.journal('raw_traces')).head()).toMatchObject({ seq: 0 });
    expect(await folderState(place.root, { leases: true })).toStrictEqual(before);
  });

  it('tells what opening its journals met', async () => {
    const place = await filePlace();
    await place.put('semantic.jsonl', `${JSON.stringify(semantic('1'))}\n{"fact":"to`);
    const store = new MemoryStore(place.storage(), AGENT, null);
    await store.listSemantic(5);
    expect(await store.openingDamage()).toMatchObject([{ reason: 'torn', place: 'semantic.jsonl' }]);
  });
});
