import { describe, expect, it, onTestFinished } from 'vitest';
import { openWorkingContext } from '../../../src/agent/context/open-working-context.js';
import { SubjectFacts } from '../../../src/memory/facts/subject-facts.js';
import type { MemoryManager } from '../../../src/memory/memory-manager.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.js';
import { byteCounter, folderState, talk, tempFolder } from '../memory-kit.js';

const SCOPE = 'user-17';
const STORES = [
  { name: 'files', open: (folder: string): StorageBackend => new FileStorage(folder) },
  { name: 'SQLite', open: (folder: string): StorageBackend => new SqliteStorage(`${folder}/store.db`) },
];

/** A store as another process has it. */
async function stores(open: (folder: string) => StorageBackend) {
  const folder = await tempFolder();
  return () => {
    const storage = open(folder);
    onTestFinished(() => storage.close().catch(() => {}));
    return storage;
  };
}

async function agentOf(storage: StorageBackend, agentId: string, scope?: string) {
  const memory = { compaction: { rawTailTurns: 1 }, tokenCounter: byteCounter, ...(scope ? { scope } : {}) };
  const context = await openWorkingContext({ agentId, system: 'Be kind.', storage, memory });
  onTestFinished(() => context.close().catch(() => {}));
  return context;
}

/** A rule that has left the context. */
async function stateRule(memory: MemoryManager): Promise<void> {
  await talk(memory, `Always use tabs. ${'Hi. '.repeat(200)}`, 'Hello. '.repeat(200));
  await talk(memory, 'Go on.', 'Done.');
  await memory.compact();
}

describe.each(STORES)('the facts of a scope over $name', ({ open }) => {
  it('are those of each agent of the scope, also in another process, and of no other agent', async () => {
    const another = await stores(open);
    const ann = await agentOf(another(), 'ann', SCOPE);
    const ben = await agentOf(another(), 'ben', SCOPE);
    const eve = await agentOf(another(), 'eve', 'user-18');
    const fact = await ann.memory.facts.remember('Lives in Ghent.', { key: 'home' });
    expect(fact).toMatchObject({ scope: SCOPE, trace: null });
    expect(await ben.memory.facts.list()).toStrictEqual([fact]);
    await ben.memory.facts.remember('Lives in Oslo.', { key: 'home' });
    expect(await ann.memory.facts.list()).toMatchObject([{ text: 'Lives in Oslo.' }]);
    expect(await ann.memory.store.facts.table().then((table) => table.all())).toStrictEqual([]);
    expect(await eve.memory.facts.list()).toStrictEqual([]);
  });

  it('come into the memory message of each of them', async () => {
    const another = await stores(open);
    const ann = await agentOf(another(), 'ann', SCOPE);
    const ben = await agentOf(another(), 'ben', SCOPE);
    await ann.memory.facts.remember('Lives in Ghent.');
    await talk(ben.memory, 'Hi. '.repeat(200), 'Hello. '.repeat(200));
    await talk(ben.memory, 'Go on.', 'Done.');
    await ben.memory.compact();
    const [text] = ben.memory.getWorkingContextMessages().filter(({ kind }) => kind === 'memory');
    expect(text?.content).toContain('[MEMORY:SEMANTIC]\n- Lives in Ghent.');
  });

  it('are none of those that a compaction finds: they stay with their agent', async () => {
    const another = await stores(open);
    const ann = await agentOf(another(), 'ann', SCOPE);
    const ben = await agentOf(another(), 'ben', SCOPE);
    await stateRule(ann.memory);
    expect(await ann.memory.facts.list()).toMatchObject([{ scope: null, source: 'user' }]);
    expect(await ben.memory.facts.list()).toStrictEqual([]);
  });

  it('are also those that a host moves there from an agent, once, and they do not come back to the agent', async () => {
    const another = await stores(open);
    const ann = await agentOf(another(), 'ann', SCOPE);
    const ben = await agentOf(another(), 'ben', SCOPE);
    await stateRule(ann.memory);
    for (const { id, text, source, origins } of await ann.memory.facts.list()) {
      await ann.memory.facts.remember(text, { source, origins });
      await ann.memory.facts.forget(id);
    }
    await talk(ann.memory, 'And this. '.repeat(200), 'Done. '.repeat(200));
    await talk(ann.memory, 'Go on.', 'Done.');
    await ann.memory.compact();
    const facts = [{ text: 'The user said: Always use tabs.', scope: SCOPE, source: 'user' }];
    expect(await ann.memory.facts.list()).toMatchObject(facts);
    expect(await ben.memory.facts.list()).toMatchObject(facts);
  });

  it('are all there when two processes remember at once, and one stands for each key', async () => {
    const another = await stores(open);
    const sides = [another(), another()].map((storage) => new SubjectFacts(storage, SCOPE));
    onTestFinished(async () => void (await Promise.all(sides.map((side) => side.close()))));
    const row = (n: number, side: number) => ({
      ...{ id: `sem_${side}_${n}`, ts: n, fact: `fact ${n} of ${side}`, key: `k${n}`, salience: 0 },
      source: 'user',
    });
    const write = async (side: number) => {
      for (let n = 0; n < 10; n += 1)
        await sides[side]!.change(() => ({ rows: [row(n, side)], done: () => {} }));
    };
    await Promise.all([write(0), write(1)]);
    const tables = await Promise.all(sides.map((side) => side.table()));
    for (const table of tables) {
      expect(table.all()).toHaveLength(20);
      expect(table.standing()).toHaveLength(10);
    }
    expect(tables[0]!.standing()).toStrictEqual(tables[1]!.standing());
  });
});

describe('the name of a scope', () => {
  it.each(['', '..', 'a/b', 'nul'])('%j is refused before anything is written', async (scope) => {
    const folder = await tempFolder();
    const storage = new FileStorage(folder);
    onTestFinished(() => storage.close());
    const before = await folderState(folder, { leases: true });
    const opening = openWorkingContext({ agentId: 'ann', storage, memory: { scope } });
    await expect(opening).rejects.toMatchObject({ code: 'INVALID_NAME' });
    expect(await folderState(folder, { leases: true })).toStrictEqual(before);
  });
});
