/** What stays of a thread is exact, what goes is gone from the store, and a copy shares nothing with its source. */
import { TASKS } from '@langchain/langgraph-checkpoint';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RekindleSaver } from '../../../src/adapters/langgraph/index.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import { withRedaction } from '../../../src/storage/redacted-storage.js';
import { inStore } from '../../agent/erasure/canaries.js';
import { type OpenedTarget, TARGETS } from '../targets.js';
import {
  all,
  blobsOf,
  type Config,
  checkpointOf,
  countIn,
  folderOf,
  metadataOf,
  putValues,
  recordsOf,
  thread,
  valuesAt,
} from './saver-kit.js';

const LARGE = 'large '.repeat(20_000);

/** A channel that grows by a text, in the next version, in a run. */
async function grow(saver: RekindleSaver, config: Config, text: string, run: string): Promise<Config> {
  const tuple = await saver.getTuple(config);
  const messages = [...((tuple?.checkpoint.channel_values['messages'] as string[]) ?? []), text];
  const versions = { messages: messages.length };
  const metadata = metadataOf(messages.length, { run_id: run });
  return saver.put(config, checkpointOf({ messages }, versions), metadata, versions);
}

describe.each(TARGETS)('a part of a thread on $name', (target) => {
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

  it('is gone from the store with its run, and the other runs are exact for every process', async () => {
    const first = await grow(saver, thread('t'), 'base '.repeat(300), 'run-1');
    await saver.putWrites(first, [['messages', 'gone-write']], 'task');
    const versions = { messages: 1, alone: 1 };
    const alone = checkpointOf({ messages: ['base '.repeat(300)], alone: `gone-value${LARGE}` }, versions);
    await saver.put(first, alone, metadataOf(1, { run_id: 'run-1', note: 'gone-note' }), { alone: 1 });
    const second = await grow(saver, first, 'more', 'run-2');
    const third = await grow(saver, second, LARGE, 'run-2');
    await saver.putWrites(third, [['messages', `kept-write${LARGE}`]], 'task');
    const other = new RekindleSaver({ storage });
    const kept = await all(saver.list(thread('t'), { filter: { run_id: 'run-2' } }));
    expect(await all(other.list(thread('t')))).toHaveLength(4);
    await saver.deleteForRuns(['run-1']);
    expect(await inStore(storage, ['gone-value', 'gone-write', 'gone-note', 'kept-write'])).toEqual([
      'kept-write',
    ]);
    const third_ = new RekindleSaver({ storage });
    for (const one of [saver, other, third_]) expect(await all(one.list(thread('t')))).toEqual(kept);
    const after = await grow(other, third, 'after', 'run-3');
    const values = { messages: ['base '.repeat(300), 'more', LARGE, 'after'] };
    for (const one of [saver, other, third_]) expect(await valuesAt(one, after)).toEqual(values);
    for (const one of [other, third_]) await one.close();
  });

  it('is a copy that does not need its source, and a source that does not need its copy', async () => {
    const first = await grow(saver, thread('a/b'), 'base '.repeat(300), 'run-1');
    await grow(saver, first, LARGE, 'run-1');
    await saver.putWrites(first, [['messages', LARGE.repeat(2)]], 'task', 'path');
    await saver.copyThread('a/b', 'c/d');
    await saver.copyThread('a/b', 'e');
    const contents = async (id: string) =>
      (await all(saver.list(thread(id)))).map(({ checkpoint, metadata, pendingWrites }) => {
        return { checkpoint, metadata, pendingWrites };
      });
    const before = await contents('a/b');
    expect(before).toHaveLength(2);
    await saver.deleteThread('e');
    expect(await contents('a/b')).toEqual(before);
    await saver.deleteThread('a/b');
    await saver.close();
    storage = await opened.reopen();
    saver = new RekindleSaver({ storage });
    expect(await contents('c/d')).toEqual(before);
    expect((await saver.getTuple(thread('c/d')))?.parentConfig?.configurable?.['thread_id']).toBe('c/d');
    expect(await contents('a/b')).toEqual([]);
  });

  it('is not mixed with a thread that exists', async () => {
    await putValues(saver, thread('s'), { a: 'source' });
    const config = await putValues(saver, thread('t'), { a: 'target' });
    const before = await recordsOf(storage, 't');
    await expect(saver.copyThread('s', 't')).rejects.toMatchObject({ code: 'SESSION_EXISTS' });
    expect(await recordsOf(storage, 't')).toEqual(before);
    expect(await valuesAt(saver, config)).toEqual({ a: 'target' });
  });

  it('is copied once when the call is repeated, until one of both changes', async () => {
    await putValues(saver, thread('s'), { a: 1 });
    await saver.copyThread('s', 't');
    const before = await recordsOf(storage, 't');
    await saver.copyThread('s', 't');
    expect(await recordsOf(storage, 't')).toEqual(before);
    await putValues(saver, thread('s'), { a: 2 });
    await expect(saver.copyThread('s', 't')).rejects.toMatchObject({ code: 'SESSION_EXISTS' });
    await saver.copyThread('s', 'u');
    await putValues(saver, thread('u'), { a: 3 });
    await expect(saver.copyThread('s', 'u')).rejects.toMatchObject({ code: 'SESSION_EXISTS' });
  });

  it('stays small: the newest checkpoint of a long thread takes what it holds', async () => {
    let config = thread('t');
    for (let n = 1; n <= 30; n += 1) config = await grow(saver, config, `${n} `.repeat(500), 'run');
    const size = async () => {
      const records = await recordsOf(storage, 't');
      return { count: records.length, length: JSON.stringify(records).length };
    };
    const before = await size();
    await saver.prune(['t']);
    expect(await size()).toMatchObject({ count: 3 });
    expect((await size()).length).toBeLessThan(before.length * 0.9);
    let stored = 0;
    for await (const place of storage.places(folderOf('t'))) stored += place.bytes;
    expect(stored).toBeLessThan(before.length);
    const values = Array.from({ length: 30 }, (_, n) => `${n + 1} `.repeat(500));
    expect(await valuesAt(saver, config)).toEqual({ messages: values });
  });

  it('is read while parts of it are removed', async () => {
    const configs = [await grow(saver, thread('t'), LARGE, 'run-0')];
    for (let n = 1; n < 6; n += 1) configs.push(await grow(saver, configs.at(-1)!, `text ${n}`, `run-${n}`));
    const other = new RekindleSaver({ storage });
    const removing = [0, 1, 2, 3].reduce(
      (before, n) => before.then(() => saver.deleteForRuns([`run-${n}`])),
      Promise.resolve(),
    );
    const last = [LARGE, ...[1, 2, 3, 4, 5].map((n) => `text ${n}`)];
    for (let n = 0; n < 5; n += 1)
      for (const one of [saver, other]) expect(await valuesAt(one, configs[5]!)).toEqual({ messages: last });
    await removing;
    expect(await all(other.list(thread('t')))).toHaveLength(2);
    await other.close();
  });

  it('is decided after the calls under way: no checkpoint that is put at the same time is lost', async () => {
    const other = new RekindleSaver({ storage });
    await Promise.all([
      ...Array.from({ length: 8 }, (_, n) =>
        putValues([saver, other][n % 2]!, thread('t', `ns-${n}`), { n }),
      ),
      saver.prune(['t']),
      other.prune(['t']),
    ]);
    const tuples = await all(saver.list({ configurable: { thread_id: 't' } }));
    expect(tuples.map(({ checkpoint }) => checkpoint.channel_values['n']).sort()).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7,
    ]);
    await other.close();
  });
});

describe('what stays of a thread', () => {
  let storage: StorageBackend;
  let saver: RekindleSaver;

  beforeEach(() => {
    storage = new MemoryStorage();
    saver = new RekindleSaver({ storage });
  });

  afterEach(async () => {
    await saver.close();
    await storage.close();
  });

  /** A delta channel has a value only in the first checkpoint; its other values are in the writes. */
  async function deltaChain(ns = ''): Promise<Config> {
    let config = thread('t', ns);
    for (let step = 0; step < 6; step += 1) {
      const values: Record<string, unknown> =
        step === 2 ? { messages: ['seed'], other: step } : { other: step };
      const versions = { messages: step + 1, other: step + 1 };
      const counters = step === 2 ? {} : { counters_since_delta_snapshot: { messages: [step, step] } };
      const metadata = metadataOf(step, { run_id: step < 4 ? 'run-1' : 'run-2', ...counters });
      config = await saver.put(config, checkpointOf(values, versions), metadata, versions);
      if (step < 5) await saver.putWrites(config, [['messages', `write-${step}`]], 'task');
    }
    return config;
  }

  it.each([
    ['prune', () => saver.prune(['t']), 4],
    ['deleteForRuns', () => saver.deleteForRuns(['run-1']), 4],
    ['copyThread', () => saver.copyThread('t', 'u').then(() => saver.deleteThread('t')), 6],
  ])('has the history of a delta channel: after %s', async (name, remove, count) => {
    const config = await deltaChain();
    const id = name === 'copyThread' ? 'u' : 't';
    const history = (at: Config) => saver.getDeltaChannelHistory({ config: at, channels: ['messages'] });
    const before = await history(config);
    expect(before['messages']).toMatchObject({ seed: ['seed'], writes: { length: 3 } });
    await remove();
    const at = { configurable: { ...config.configurable, thread_id: id } };
    expect(await history(at)).toEqual(before);
    expect(await all(saver.list(thread(id)))).toHaveLength(count);
  });

  it('is there when a repair dropped the last record of it', async () => {
    let config = thread('t');
    for (const text of ['one', 'two', 'three']) config = await grow(saver, config, text, 'run');
    await saver.prune(['t']);
    const before = await valuesAt(saver, thread('t'));
    await saver.close();
    const journal = await storage.openJournal([...folderOf('t'), 'checkpoints']);
    await journal.erase([(await journal.head()).seq]);
    await journal.close();
    saver = new RekindleSaver({ storage });
    expect(await valuesAt(saver, thread('t'))).toEqual(before);
    await grow(saver, thread('t'), 'four', 'run');
    expect(await valuesAt(saver, thread('t'))).toEqual({ messages: ['one', 'two', 'three', 'four'] });
  });

  it('has the pending sends of an old checkpoint, which are in the writes of its parent', async () => {
    const parent = await putValues(saver, thread('t'), { a: 1 });
    await saver.putWrites(
      parent,
      [
        [TASKS, 'send'],
        ['a', 'gone'],
      ],
      'task',
    );
    const old = { ...checkpointOf({ a: 1 }), v: 3 };
    const config = await saver.put(parent, old, metadataOf(1), {});
    const before = await saver.getTuple(config);
    expect(before?.checkpoint.channel_values[TASKS]).toEqual(['send']);
    await saver.prune(['t']);
    expect(await saver.getTuple(config)).toEqual(before);
    expect(await countIn(storage, 't', 'gone')).toBe(0);
  });

  it('has the values that did not change, also if the parent was removed before the put', async () => {
    const parent = await putValues(saver, thread('t'), { a: 'kept', b: 1 });
    await putValues(saver, thread('t'), { a: 'of another branch', b: 1 });
    await saver.prune(['t']);
    const next = checkpointOf({ a: 'kept', b: 2 }, { a: 1, b: 2 });
    const config = await saver.put(parent, next, metadataOf(1), { b: 2 });
    expect(await valuesAt(saver, config)).toEqual({ a: 'kept', b: 2 });
  });

  it('is nothing when all of it was of the run, and the thread can be used again', async () => {
    const config = await grow(saver, thread('a/b'), LARGE, 'run-1');
    await saver.deleteForRuns(['run-1']);
    expect(await blobsOf(storage, 'a/b')).toEqual([]);
    expect(await all(saver.list({}))).toEqual([]);
    expect(await saver.getTuple(config)).toBeUndefined();
    await saver.close();
    saver = new RekindleSaver({ storage });
    await putValues(saver, thread('a/b'), { a: 1 });
    const [tuple] = await all(saver.list({}));
    expect(tuple?.config.configurable?.['thread_id']).toBe('a/b');
  });

  it('is redacted where it was stored before redaction, and can be read', async () => {
    const secret = 'card 4111 1111 1111 1111';
    const first = await grow(saver, thread('t'), `${'text '.repeat(200)}${secret}`, 'run-1');
    const second = await grow(saver, first, `more ${secret}`, 'run-1');
    await saver.putWrites(second, [['messages', `${LARGE}${secret}`]], 'task');
    const redacted = withRedaction(storage, { personal: true });
    const careful = new RekindleSaver({ storage: redacted });
    await careful.copyThread('t', 'u');
    await careful.prune(['t']);
    for (const id of ['t', 'u']) {
      const tuples = await all(careful.list(thread(id)));
      expect(JSON.stringify(tuples)).toContain('more card [');
      expect(JSON.stringify(tuples)).not.toContain('4111');
    }
    expect(await inStore(storage, ['4111 1111'])).toEqual([]);
    await careful.close();
  });

  it('is everything when an argument is refused', async () => {
    await putValues(saver, thread('t'), { a: 1 });
    const before = await recordsOf(storage, 't');
    const refusals = [
      () => saver.copyThread(7 as never, 'u'),
      () => saver.copyThread('t', undefined as never),
      () => saver.copyThread('t', 't'),
      () => saver.deleteForRuns('run' as never),
      () => saver.deleteForRuns([7 as never]),
      () => saver.prune('t' as never),
      () => saver.prune([null as never]),
      () => saver.prune(['t'], { strategy: 'all' as never }),
    ];
    for (const refusal of refusals)
      await expect(refusal(), String(refusal)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(await recordsOf(storage, 't')).toEqual(before);
  });

  it('is the rest of all threads when one of them cannot be read', async () => {
    await grow(saver, thread('a'), 'text', 'run-1');
    await grow(saver, thread('b'), 'text', 'run-1');
    await saver.close();
    const journal = await storage.openJournal([...folderOf('a'), 'checkpoints']);
    await journal.append([{ type: 'of-tomorrow' }]);
    await journal.close();
    saver = new RekindleSaver({ storage });
    await expect(saver.deleteForRuns(['run-1'])).rejects.toMatchObject({ code: 'UNSUPPORTED_VERSION' });
    expect(await all(saver.list(thread('b')))).toEqual([]);
    expect(await recordsOf(storage, 'a')).toHaveLength(2);
  });
});
