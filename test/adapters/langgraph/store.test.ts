import { InMemoryStore, InvalidNamespaceError, type Operation } from '@langchain/langgraph-checkpoint';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RekindleStore } from '../../../src/adapters/langgraph/index.js';
import { ManualClock } from '../../../src/core/clock.js';
import type { JsonObject } from '../../../src/core/json.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import { type OpenedTarget, TARGETS } from '../targets.js';
import { all } from './saver-kit.js';

async function recordsOf(storage: StorageBackend): Promise<JsonObject[]> {
  const journal = await storage.openJournal(['langgraph', 'store', 'items'], { readOnly: true });
  const entries = await all(journal.read());
  await journal.close();
  return entries.flatMap((entry) => (entry.kind === 'record' ? [entry.record] : []));
}

describe.each(TARGETS)('the LangGraph store on $name', (target) => {
  let opened: OpenedTarget;
  let storage: StorageBackend;
  let clock: ManualClock;
  let store: RekindleStore;

  beforeEach(async () => {
    opened = await target.open();
    storage = opened.storage;
    clock = new ManualClock();
    store = new RekindleStore({ storage, clock });
  });

  afterEach(async () => {
    await store.stop();
    await opened.destroy();
  });

  it('keeps items over a restart, with the times of their first and last put', async () => {
    const start = clock.nowMs();
    await store.put(['users', '1'], 'likes', { food: ['plums'], when: null });
    clock.advance(1_000);
    await store.put(['users', '1'], 'likes', { food: ['figs'] });
    await store.put(['users', '1'], 'gone', { a: 1 });
    await store.delete(['users', '1'], 'gone');
    await store.stop();
    storage = await opened.reopen();
    store = new RekindleStore({ storage, clock });
    expect(await store.get(['users', '1'], 'likes')).toEqual({
      namespace: ['users', '1'],
      key: 'likes',
      value: { food: ['figs'] },
      createdAt: new Date(start),
      updatedAt: new Date(start + 1_000),
    });
    expect(await store.get(['users', '1'], 'gone')).toBeNull();
    expect(await store.get(['users'], 'likes')).toBeNull();
  });

  it('shows one store what another one put, and loses nothing when both put at once', async () => {
    const other = new RekindleStore({ storage, clock });
    expect(await other.get(['a'], 'k')).toBeNull();
    const keys = Array.from({ length: 20 }, (_, n) => `k${n}`);
    await Promise.all(keys.map((key, n) => (n % 2 === 0 ? store : other).put(['a'], key, { n })));
    for (const one of [store, other]) {
      const found = await one.search(['a'], { limit: 100 });
      expect(found.map(({ key }) => key).sort()).toEqual([...keys].sort());
    }
    await other.stop();
  });

  it('does a batch as a whole: one record, on what was there before it', async () => {
    await store.put(['a'], 'old', { n: 1 });
    const results = await store.batch([
      { namespace: ['a'], key: 'new', value: { n: 2 } },
      { namespace: ['a'], key: 'new' },
      { namespacePrefix: ['a'] },
      { namespace: ['a'], key: 'old', value: null },
      { namespace: ['a'], key: 'new', value: { n: 3 } },
      { matchConditions: [], limit: 10, offset: 0 },
      { namespace: ['a'], key: 'never', value: null },
    ] as Operation[]);
    const shown = JSON.parse(JSON.stringify(results)) as { key: string }[][];
    expect(
      shown.map((result) => (Array.isArray(result) ? result.map((one) => one.key ?? one) : result)),
    ).toEqual([null, null, ['old'], null, null, [['a']], null]);
    expect((await store.search([])).map(({ value }) => value)).toEqual([{ n: 3 }]);
    expect(await recordsOf(storage)).toHaveLength(2);
  });

  it('writes nothing where nothing changes, and nothing of a batch with a wrong operation in it', async () => {
    await store.delete(['a'], 'none');
    await store.get(['a'], 'none');
    const good = { namespace: ['a'], key: 'good', value: { a: 1 } };
    const wrong: readonly unknown[] = [
      { namespace: [], key: 'k', value: {} },
      { namespace: ['a.b'], key: 'k', value: {} },
      { namespace: ['a', ''], key: 'k', value: {} },
      { namespace: 'a', key: 'k', value: {} },
      { namespace: ['a'], key: 1, value: {} },
      { namespace: ['a'], key: 'k', value: undefined },
      { namespace: ['a'], key: 'k', value: [] },
      { namespace: ['a'], key: 'k', value: { at: new Date() } },
      { namespace: ['a'], key: 'k', value: { n: 1n } },
      { namespace: ['a'], key: 'k', value: { n: Number.NaN } },
      { namespacePrefix: ['a.b'] },
      { namespacePrefix: ['a'], limit: -1 },
      { matchConditions: [{ matchType: 'middle', path: [] }], limit: 1, offset: 0 },
      { unknown: true },
    ];
    for (const op of wrong) {
      const batch = [good, op] as Operation[];
      await expect(store.batch(batch), JSON.stringify(Object.keys(op as object))).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
      });
    }
    expect(await recordsOf(storage)).toEqual([]);
  });

  it('has the rules of BaseStore for namespaces', async () => {
    await expect(store.put(['langgraph'], 'k', {})).rejects.toThrow(InvalidNamespaceError);
    await expect(store.put([], 'k', {})).rejects.toThrow(InvalidNamespaceError);
    await store.batch([{ namespace: ['langgraph'], key: 'k', value: { a: 1 } }]);
    expect((await store.get(['langgraph'], 'k'))?.value).toEqual({ a: 1 });
  });

  it('answers as InMemoryStore does', async () => {
    const theirs = new InMemoryStore();
    const items: [string[], string, Record<string, unknown>][] = [
      [['docs', 'v1'], 'a', { n: 1, tag: 'x', deep: { y: 1 } }],
      [['docs', 'v2'], 'b', { n: 2, tag: 'y' }],
      [['docs', 'v2', 'old'], 'c', { n: 3 }],
      [['docsother'], 'd', { n: '4', tag: null }],
      [['notes', 'v1'], '__proto__', { n: 5, tag: 'x' }],
    ];
    for (const item of items) await Promise.all([store.put(...item), theirs.put(...item)]);
    await Promise.all([store.put(...items[0]!), theirs.put(...items[0]!)]);
    const filters: (Record<string, unknown> | undefined)[] = [
      undefined,
      {},
      { tag: 'x' },
      { tag: null },
      { tag: undefined },
      { n: { $gt: 1 } },
      { n: { $gte: 2, $lt: 4 } },
      { n: { $lte: 4 }, tag: { $ne: 'y' } },
      { n: { $eq: 3 } },
      { tag: { $in: ['x', null] } },
      { tag: { $nin: ['x'] } },
      { n: { $in: 3 } },
      { n: { $odd: 1 } },
      { toString: { $ne: 1 } },
    ];
    const searches = [[], ['docs'], ['docs', 'v2'], ['doc'], ['none']].flatMap((namespacePrefix) =>
      filters.flatMap((filter) =>
        [{}, { limit: 2 }, { limit: 2, offset: 1, query: 'ignored' }].map((page) => ({
          namespacePrefix,
          ...(filter ? { filter } : {}),
          ...page,
        })),
      ),
    );
    const keys = (found: readonly { key: string }[]) => found.map(({ key }) => key);
    for (const op of searches) {
      const [[mine], [their]] = await Promise.all([store.batch([op]), theirs.batch([op])]);
      expect(keys(mine!), JSON.stringify(op)).toEqual(keys(their!));
    }
    const lists = [
      {},
      { prefix: ['docs'] },
      { prefix: ['*', 'v1'] },
      { suffix: ['v1'] },
      { prefix: ['docs'], suffix: ['old'] },
      { maxDepth: 1 },
      { maxDepth: 2, limit: 2, offset: 1 },
      { prefix: ['docs', 'v1', 'x', 'y'] },
    ];
    for (const options of lists)
      expect(await store.listNamespaces(options), JSON.stringify(options)).toEqual(
        await theirs.listNamespaces(options),
      );
  });

  it('keeps what was given when it was called, leaves out what is undefined, and hands out copies', async () => {
    const value = { list: ['before'], none: undefined };
    const putting = store.put(['a'], 'k', value);
    value.list.push('after');
    await putting;
    (await store.get(['a'], 'k'))!.value['list'].push('mine');
    expect((await store.get(['a'], 'k'))!.value).toStrictEqual({ list: ['before'] });
  });

  it('replaces a long history by one record, and knows the same items after it', async () => {
    const other = new RekindleStore({ storage, clock });
    await store.put(['b'], 'first', { n: 'first' });
    await store.put(['a', 'x'], 'second', { n: 'second' });
    await other.get(['b'], 'first');
    const text = 'x'.repeat(2_000);
    for (let n = 0; n < 1_020; n += 20) {
      clock.advance(1);
      const keys = Array.from({ length: 20 }, (_, k) => `${n + k}`);
      await store.batch(keys.map((key) => ({ namespace: ['c'], key, value: { n, text } })));
    }
    const before = await store.search([], { limit: 2_000 });
    expect(before).toHaveLength(1_022);
    expect(await other.search([], { limit: 2_000 })).toEqual(before);
    await other.put(['b'], 'first', { n: 'again' });
    expect((await store.get(['b'], 'first'))?.value).toEqual({ n: 'again' });
    const records = await recordsOf(storage);
    expect(records.filter(({ type }) => type === 'items')).toHaveLength(1);
    expect(records.length).toBeLessThan(40);
    await other.stop();
    await store.stop();
    storage = await opened.reopen();
    store = new RekindleStore({ storage, clock });
    expect((await store.search([], { limit: 2_000 })).slice(1)).toEqual(before.slice(1));
  });

  it('does not list a namespace whose items are all gone', async () => {
    await store.put(['a'], 'k', {});
    await store.put(['b'], 'k', {});
    await store.delete(['a'], 'k');
    expect(await store.listNamespaces()).toEqual([['b']]);
  });

  it('refuses an index, and calls after it was stopped', async () => {
    const index = { dims: 1, embeddings: {} };
    expect(() => new RekindleStore({ storage, index: index as never })).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
    );
    await store.put(['a'], 'k', {});
    await store.stop();
    await expect(store.get(['a'], 'k')).rejects.toMatchObject({ code: 'JOURNAL_CLOSED' });
    await expect(store.put(['a'], 'k', {})).rejects.toMatchObject({ code: 'JOURNAL_CLOSED' });
    expect(await recordsOf(storage)).toHaveLength(1);
  });
});
