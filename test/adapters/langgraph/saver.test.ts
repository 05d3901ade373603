import { ERROR, INTERRUPT } from '@langchain/langgraph-checkpoint';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RekindleSaver } from '../../../src/adapters/langgraph/index.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import { type OpenedTarget, TARGETS } from '../targets.js';
import {
  all,
  blobsOf,
  checkpointOf,
  countIn,
  folderOf,
  metadataOf,
  putValues,
  recordsOf,
  thread,
  valuesAt,
} from './saver-kit.js';

describe.each(TARGETS)('the LangGraph saver on $name', (target) => {
  let opened: OpenedTarget;
  let storage: StorageBackend;
  let saver: RekindleSaver;

  beforeEach(async () => {
    opened = await target.open();
    storage = opened.storage;
    saver = new RekindleSaver({ storage });
  });

  afterEach(async () => {
    await saver.close();
    await opened.destroy();
  });

  it('keeps everything over a restart', async () => {
    const first = await putValues(saver, thread('t'), { messages: ['hi'], binary: new Uint8Array([0, 255]) });
    await saver.putWrites(first, [['messages', 'there']], 'task-1', 'path');
    const second = checkpointOf({ messages: ['hi', 'there'], binary: null }, { messages: 2, binary: 1 });
    await saver.put(first, second, metadataOf(1, { who: 'me' }), { messages: 2 });
    await putValues(saver, thread('t', 'child'), { inner: 1 });
    const before = await all(saver.list({}));
    await saver.close();
    storage = await opened.reopen();
    saver = new RekindleSaver({ storage });
    expect(before).toHaveLength(3);
    expect(await all(saver.list({}))).toEqual(before);
    expect(await valuesAt(saver, thread('t'))).toEqual({
      messages: ['hi', 'there'],
      binary: new Uint8Array([0, 255]),
    });
  });

  it('shows one saver what another one stored', async () => {
    const other = new RekindleSaver({ storage });
    expect(await other.getTuple(thread('t'))).toBeUndefined();
    const first = await putValues(saver, thread('t'), { a: 1 });
    expect(await valuesAt(other, thread('t'))).toEqual({ a: 1 });
    await other.putWrites(first, [['a', 2]], 'task');
    await putValues(other, first, { a: 2 });
    expect((await saver.getTuple(first))?.pendingWrites).toEqual([['task', 'a', 2]]);
    expect(await valuesAt(saver, thread('t'))).toEqual({ a: 2 });
    await other.close();
  });

  it('loses nothing of two savers that write one thread at once', async () => {
    const other = new RekindleSaver({ storage });
    const putting = Array.from({ length: 20 }, (_, n) =>
      putValues(n % 2 === 0 ? saver : other, thread('t', `ns-${n}`), { n }),
    );
    await Promise.all(putting);
    const tuples = await all(saver.list({ configurable: { thread_id: 't' } }));
    expect(tuples.map(({ checkpoint }) => checkpoint.channel_values['n']).sort()).toEqual(
      Array.from({ length: 20 }, (_, n) => n).sort(),
    );
    await other.close();
  });

  it('stores a channel again only when its version changes', async () => {
    let config = thread('t');
    for (let n = 1; n <= 20; n += 1) {
      const versions = { fixed: 1, counter: n };
      const values = { fixed: 'never-changes', counter: `count-${n}-` };
      config = await saver.put(config, checkpointOf(values, versions), metadataOf(n), versions);
    }
    expect(await countIn(storage, 't', 'never-changes')).toBe(1);
    expect(await countIn(storage, 't', 'count-7-')).toBe(1);
    expect(await valuesAt(saver, config)).toEqual({ fixed: 'never-changes', counter: 'count-20-' });
  });

  it('keeps the values of both branches of a fork, whose versions are the same', async () => {
    const base = await putValues(saver, thread('t'), { a: 'base' });
    const left = await saver.put(base, checkpointOf({ a: 'left' }, { a: 2 }), metadataOf(1), { a: 2 });
    const right = await saver.put(base, checkpointOf({ a: 'right' }, { a: 2 }), metadataOf(1), { a: 2 });
    const leftEnd = await saver.put(left, checkpointOf({ a: 'left' }, { a: 2 }), metadataOf(2), {});
    const rightEnd = await saver.put(right, checkpointOf({ a: 'right' }, { a: 2 }), metadataOf(2), {});
    expect(await valuesAt(saver, left)).toEqual({ a: 'left' });
    expect(await valuesAt(saver, leftEnd)).toEqual({ a: 'left' });
    expect(await valuesAt(saver, rightEnd)).toEqual({ a: 'right' });
  });

  it('finds the right value of a checkpoint whose parent is not there, after a fork', async () => {
    const base = await putValues(saver, thread('t'), { a: 'base' });
    await saver.put(base, checkpointOf({ a: 'left' }, { a: 2 }), metadataOf(1), { a: 2 });
    await saver.put(base, checkpointOf({ a: 'right' }, { a: 2 }), metadataOf(1), { a: 2 });
    const alone = await saver.put(thread('t'), checkpointOf({ a: 'left' }, { a: 2 }), metadataOf(2), {});
    expect(await valuesAt(saver, alone)).toEqual({ a: 'left' });
    expect(await countIn(storage, 't', 'left')).toBe(1);
  });

  it('gives a channel that a checkpoint emptied no value', async () => {
    const base = await putValues(saver, thread('t'), { a: 1, b: 1 });
    const next = await saver.put(base, checkpointOf({ b: 1 }, { a: 2, b: 1 }), metadataOf(1), { a: 2 });
    expect(await valuesAt(saver, next)).toEqual({ b: 1 });
  });

  it('replaces a checkpoint that has the same id', async () => {
    const checkpoint = checkpointOf({ a: 'old' });
    await saver.put(thread('t'), checkpoint, metadataOf(1), { a: 1 });
    const again = { ...checkpoint, channel_values: { a: 'new' } };
    await saver.put(thread('t'), again, metadataOf(2), { a: 1 });
    const tuples = await all(saver.list(thread('t')));
    expect(tuples.map((tuple) => [tuple.checkpoint.channel_values, tuple.metadata?.step])).toEqual([
      [{ a: 'new' }, 2],
    ]);
  });

  it('keeps the first write of a task at its index, and replaces what is special', async () => {
    const config = await putValues(saver, thread('t'), {});
    await saver.putWrites(config, [['a', 'first']], 'task');
    await saver.putWrites(config, [['a', 'second']], 'task');
    await saver.putWrites(config, [[ERROR, 'old']], 'task');
    await saver.putWrites(config, [[ERROR, 'new']], 'task');
    expect((await saver.getTuple(config))?.pendingWrites).toEqual([
      ['task', ERROR, 'new'],
      ['task', 'a', 'first'],
    ]);
    expect(await countIn(storage, 't', 'second')).toBe(0);
  });

  it('gives pending writes by path, task and index', async () => {
    const config = await putValues(saver, thread('t'), {});
    await saver.putWrites(config, [['x', 1]], 'b', 'p2');
    await saver.putWrites(
      config,
      [
        ['x', 2],
        ['y', 3],
        [INTERRUPT, 4],
      ],
      'z',
      'p1',
    );
    await saver.putWrites(config, [['x', 5]], 'a', 'p2');
    await saver.putWrites(config, [['x', 6]], 'zz');
    const writes = (await saver.getTuple(config))?.pendingWrites;
    expect(writes?.map(([, , value]) => value)).toEqual([6, 4, 2, 3, 5, 1]);
  });

  it('lists the newest first over all threads, by deep equality of metadata', async () => {
    const put = (name: string, more: Record<string, unknown>) =>
      saver.put(thread(name), checkpointOf({}), metadataOf(0, more), {});
    await put('b', { tags: ['x'], n: 1 });
    await put('a', { tags: ['x'], n: 2 });
    await put('b', { tags: ['y'], n: 3 });
    const found = async (filter: Record<string, unknown>, limit?: number) => {
      const tuples = await all(saver.list({}, { filter, ...(limit === undefined ? {} : { limit }) }));
      return tuples.map(({ metadata }) => (metadata as { n?: number } | undefined)?.n);
    };
    expect(await found({})).toEqual([3, 2, 1]);
    expect(await found({ tags: ['x'] })).toEqual([2, 1]);
    expect(await found({ tags: ['x'] }, 1)).toEqual([2]);
    expect(await found({ toString: Object.prototype.toString })).toEqual([]);
    expect(await found({}, 0)).toEqual([]);
  });

  it('takes any text as a thread id, and knows it again', async () => {
    const digest = folderOf('a/b').at(-1)!;
    const odd = [
      '',
      '.',
      '..',
      '../up',
      'a/b',
      'a\\b',
      'a\0b',
      '~',
      digest,
      'con',
      'A',
      'a',
      ' a',
      '\ud800',
      '\ud801',
    ];
    const ids = [...odd, '__proto__', 'constructor', 'é', 'e\u0301', 'x'.repeat(5_000)];
    for (const id of ids) await putValues(saver, thread(id), { id });
    for (const id of ids) expect(await valuesAt(saver, thread(id))).toEqual({ id });
    await saver.close();
    saver = new RekindleSaver({ storage });
    const tuples = await all(saver.list({}));
    expect(tuples.map(({ config }) => config.configurable?.['thread_id']).sort()).toEqual([...ids].sort());
  });

  it('takes any text as the name of a channel, a node, a task and a namespace', async () => {
    const names = ['__proto__', 'constructor', 'toString', '', 'a|b', 'a\0b'];
    const versions = Object.fromEntries(names.map((name) => [name, 1]));
    for (const ns of names) {
      const checkpoint = checkpointOf(Object.fromEntries(names.map((name) => [name, `${name}!`])), versions);
      const given = {
        ...checkpoint,
        versions_seen: Object.fromEntries(names.map((name) => [name, versions])),
      };
      const config = await saver.put(thread('t', ns), given, metadataOf(0), versions);
      await saver.putWrites(
        config,
        names.map((name) => [name, name]),
        '__proto__',
      );
      const tuple = await saver.getTuple(config);
      expect(tuple?.checkpoint).toEqual(given);
      expect(Object.keys(tuple!.checkpoint.channel_values)).toEqual(names);
      expect(Object.keys(tuple!.checkpoint.versions_seen)).toEqual(names);
      expect(tuple?.pendingWrites).toEqual(names.map((name) => ['__proto__', name, name]));
    }
    expect(Object.hasOwn(Object.prototype, 'a|b')).toBe(false);
  });

  it('stores what was given when it was called, and hands out copies', async () => {
    const list = ['before'];
    const checkpoint = checkpointOf({ list });
    const putting = saver.put(thread('t'), checkpoint, metadataOf(0), { list: 1 });
    list.push('after');
    checkpoint.channel_versions['list'] = 9;
    const config = await putting;
    const mine = await saver.getTuple(config);
    mine!.checkpoint.versions_seen['node']!['input'] = 9;
    (mine!.checkpoint.channel_values['list'] as string[]).push('mine');
    const tuple = await saver.getTuple(config);
    expect(tuple?.checkpoint.channel_values).toEqual({ list: ['before'] });
    expect(tuple?.checkpoint.channel_versions).toEqual({ list: 1 });
    expect(tuple?.checkpoint.versions_seen).toEqual({ node: { input: 1 } });
  });

  it('leaves nothing of a thread that is deleted', async () => {
    const other = new RekindleSaver({ storage });
    for (const id of ['gone', '~gone', 'stays']) {
      const config = await putValues(saver, thread(id), { large: 'x'.repeat(100_000) });
      await saver.putWrites(config, [['large', 'y'.repeat(100_000)]], 'task');
    }
    expect(await valuesAt(other, thread('gone'))).toBeDefined();
    for (const id of ['gone', '~gone', 'never was']) await saver.deleteThread(id);
    for (const id of ['gone', '~gone']) {
      expect(await recordsOf(storage, id)).toEqual([]);
      expect(await blobsOf(storage, id)).toEqual([]);
      expect(await saver.getTuple(thread(id))).toBeUndefined();
      expect(await other.getTuple(thread(id))).toBeUndefined();
    }
    const threads = (await all(other.list({}))).map(({ config }) => config.configurable?.['thread_id']);
    expect(threads).toEqual(['stays']);
    await putValues(other, thread('gone'), { a: 'anew' });
    expect(await valuesAt(saver, thread('gone'))).toEqual({ a: 'anew' });
    await other.close();
  });

  it('deletes a thread after the calls under way, and before the later ones', async () => {
    const early = Array.from({ length: 5 }, (_, n) => putValues(saver, thread('t', `early-${n}`), { n }));
    const deleting = saver.deleteThread('t');
    const late = putValues(saver, thread('t', 'late'), { n: 9 });
    await Promise.all([...early, deleting, late]);
    const tuples = await all(saver.list({ configurable: { thread_id: 't' } }));
    expect(tuples.map(({ config }) => config.configurable?.['checkpoint_ns'])).toEqual(['late']);
  });

  it('refuses what is wrong before it writes anything', async () => {
    const checkpoint = checkpointOf({ a: 1 });
    const put = (config: object, more: object = {}, versions: object = {}) =>
      saver.put(config, { ...checkpoint, ...more }, metadataOf(0), versions as Record<string, number>);
    const refusals = [
      () => put({}),
      () => put({ configurable: { thread_id: 7 } }),
      () => put({ configurable: { thread_id: 't', checkpoint_ns: {} } }),
      () => put({ configurable: { thread_id: 't', checkpoint_id: ['x'] } }),
      () => put(thread('t'), { id: '' }),
      () => put(thread('t'), { v: Number.NaN }),
      () => put(thread('t'), { ts: new Date() }),
      () => put(thread('t'), { channel_versions: { a: null } }),
      () => put(thread('t'), { versions_seen: { n: { a: {} } } }),
      () => put(thread('t'), {}, { a: Number.POSITIVE_INFINITY }),
      () => saver.putWrites(thread('t'), [['a', 1]], 'task'),
      () => saver.putWrites({ configurable: { thread_id: 't', checkpoint_id: 'c' } }, [['a', 1]], 7 as never),
      () =>
        saver.putWrites({ configurable: { thread_id: 't', checkpoint_id: 'c' } }, [[7 as never, 1]], 'task'),
      () => saver.deleteThread(7 as never),
    ];
    for (const refusal of refusals)
      await expect(refusal(), String(refusal)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(await storage.listNames(['langgraph'])).toEqual([]);
  });

  it('reads nothing of a thread that has records of a newer release, and adds nothing', async () => {
    await putValues(saver, thread('t'), { a: 1 });
    await saver.close();
    const journal = await storage.openJournal([...folderOf('t'), 'checkpoints']);
    await journal.append([{ type: 'of-tomorrow' }]);
    await journal.close();
    saver = new RekindleSaver({ storage });
    const error = { code: 'UNSUPPORTED_VERSION' };
    await expect(saver.getTuple(thread('t'))).rejects.toMatchObject(error);
    await expect(putValues(saver, thread('t'), { a: 2 })).rejects.toMatchObject(error);
    expect(await recordsOf(storage, 't')).toHaveLength(2);
  });

  it('says that it was closed, and leaves the storage open', async () => {
    const putting = putValues(saver, thread('t'), { a: 1 });
    await saver.close();
    const config = await putting;
    for (const call of [
      () => saver.getTuple(config),
      () => putValues(saver, config, {}),
      () => all(saver.list({})),
    ])
      await expect(call()).rejects.toMatchObject({ code: 'JOURNAL_CLOSED' });
    expect(await recordsOf(storage, 't')).toHaveLength(1);
  });

  it('has a place of its own for each root', async () => {
    const elsewhere = new RekindleSaver({ storage, root: 'elsewhere' });
    await putValues(saver, thread('t'), { a: 1 });
    expect(await elsewhere.getTuple(thread('t'))).toBeUndefined();
    await elsewhere.close();
    expect(() => new RekindleSaver({ storage, root: '../up' })).toThrow(
      expect.objectContaining({ code: 'INVALID_NAME' }),
    );
  });

  it('takes less than ten kilobytes for a turn that stores six kilobytes of text', async () => {
    const text = (n: number) => `He said "${n}" to me, and left.\n\n`.repeat(100).slice(0, 2_000);
    let config = thread('t');
    for (let n = 1; n <= 40; n += 1) {
      const versions = { fixed: 1, messages: n, output: n };
      const checkpoint = checkpointOf({ fixed: text(0), messages: text(n), output: text(-n) }, versions);
      const changed = n === 1 ? versions : { messages: n, output: n };
      config = await saver.put(config, checkpoint, metadataOf(n), changed);
      await saver.putWrites(config, [['messages', text(n)]], `task-${n}`);
    }
    const lines = (await recordsOf(storage, 't')).map((record) => JSON.stringify(record));
    const bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0);
    expect(lines).toHaveLength(80);
    expect(bytes / 40).toBeGreaterThan(6_000);
    expect(bytes / 40).toBeLessThan(10_000);
  });
});

it('the LangGraph saver works on more threads than it keeps open', async () => {
  const saver = new RekindleSaver({ storage: new MemoryStorage() });
  const ids = Array.from({ length: 110 }, (_, n) => `t${n}`);
  await Promise.all(ids.map((id) => putValues(saver, thread(id), { id })));
  for (const id of ids) expect(await valuesAt(saver, thread(id))).toEqual({ id });
  expect(await all(saver.list({}))).toHaveLength(110);
  await saver.close();
});
