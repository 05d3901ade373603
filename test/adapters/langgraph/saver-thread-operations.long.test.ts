/**
 * `copyThread`, `deleteForRuns` and `prune`: the 23 cases that LangGraph's conformance suite for Python (`langgraph-checkpoint-conformance`)
 * has for them, in our words. Its suite for JavaScript has none.
 */
import { randomUUID } from 'node:crypto';
import type { CheckpointTuple } from '@langchain/langgraph-checkpoint';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RekindleSaver } from '../../../src/adapters/langgraph/index.js';
import { type OpenedTarget, TARGETS } from '../targets.js';
import { all, type Config, checkpointOf, metadataOf, thread } from './saver-kit.js';

describe.each(TARGETS)('threads of the LangGraph saver on $name', (target) => {
  let opened: OpenedTarget;
  let saver: RekindleSaver;
  let [one, other]: [string, string] = ['', ''];

  beforeEach(async () => {
    opened = await target.open();
    saver = new RekindleSaver({ storage: opened.storage });
    [one, other] = [randomUUID(), randomUUID()];
  });

  afterEach(async () => {
    await saver.close();
    await opened.destroy();
  });

  /** Each has the one before as its parent. */
  async function chain(threadId: string, count: number, ns = ''): Promise<Config[]> {
    const configs: Config[] = [];
    for (let step = 0; step < count; step += 1) {
      const checkpoint = checkpointOf({ step }, { step: 1 });
      const parent = configs.at(-1) ?? thread(threadId, ns);
      configs.push(await saver.put(parent, checkpoint, metadataOf(step), { step: 1 }));
    }
    return configs;
  }

  /** A checkpoint of a run. */
  function ofRun(parent: Config, run: string): Promise<Config> {
    return saver.put(parent, checkpointOf({}), metadataOf(0, { run_id: run }), {});
  }

  function listed(threadId: string, ns = ''): Promise<CheckpointTuple[]> {
    return all(saver.list(thread(threadId, ns)));
  }

  async function idsOf(threadId: string, ns = ''): Promise<string[]> {
    return (await listed(threadId, ns)).map(({ checkpoint }) => checkpoint.id);
  }

  async function runsOf(threadId: string, ns = ''): Promise<unknown[]> {
    return (await listed(threadId, ns)).map(({ metadata }) => Object(metadata)['run_id']);
  }

  function idOf(config: Config | undefined): unknown {
    return config?.configurable?.['checkpoint_id'];
  }

  describe('copyThread', () => {
    it('makes the checkpoints appear in the target', async () => {
      await chain(one, 3);
      await saver.copyThread(one, other);
      expect(await listed(other)).toHaveLength(3);
    });

    it('copies every checkpoint with its values, not only the newest one', async () => {
      await chain(one, 3);
      await saver.copyThread(one, other);
      const valuesOf = async (id: string) =>
        (await listed(id)).map(({ checkpoint }) => [checkpoint.id, checkpoint.channel_values]);
      expect(await valuesOf(other)).toEqual(await valuesOf(one));
    });

    it('keeps the metadata', async () => {
      await chain(one, 2);
      await saver.copyThread(one, other);
      const metadataIn = async (id: string) => (await listed(id)).map(({ metadata }) => metadata);
      expect(await metadataIn(other)).toEqual(await metadataIn(one));
      expect(await metadataIn(other)).toEqual([metadataOf(1), metadataOf(0)]);
    });

    it('keeps the namespaces', async () => {
      await chain(one, 1);
      await chain(one, 1, 'child:1');
      await saver.copyThread(one, other);
      expect(await listed(other, '')).toHaveLength(1);
      expect(await listed(other, 'child:1')).toHaveLength(1);
    });

    it('keeps pending writes', async () => {
      const [config] = await chain(one, 1);
      await saver.putWrites(config!, [['ch', 'write_val']], 'task');
      await saver.copyThread(one, other);
      expect((await saver.getTuple(thread(other)))?.pendingWrites).toEqual([['task', 'ch', 'write_val']]);
    });

    it('keeps the order', async () => {
      await chain(one, 4);
      await saver.copyThread(one, other);
      expect(await idsOf(other)).toEqual(await idsOf(one));
    });

    it('leaves the source as it was', async () => {
      await chain(one, 2);
      const before = await listed(one);
      await saver.copyThread(one, other);
      expect(await listed(one)).toEqual(before);
    });

    it('of a thread that does not exist makes none', async () => {
      await saver.copyThread(one, other);
      expect(await listed(other)).toEqual([]);
    });
  });

  describe('deleteForRuns', () => {
    it('removes one run', async () => {
      await ofRun(await ofRun(thread(one), 'run-1'), 'run-2');
      expect(await runsOf(one)).toEqual(['run-2', 'run-1']);
      await saver.deleteForRuns(['run-1']);
      expect(await runsOf(one)).toEqual(['run-2']);
    });

    it('removes several runs', async () => {
      await ofRun(await ofRun(await ofRun(thread(one), 'run-1'), 'run-2'), 'run-3');
      await saver.deleteForRuns(['run-1', 'run-2']);
      expect(await runsOf(one)).toEqual(['run-3']);
    });

    it('keeps other runs', async () => {
      await ofRun(thread(one), 'stays');
      await ofRun(thread(one), 'goes');
      await saver.deleteForRuns(['goes']);
      expect(await runsOf(one)).toEqual(['stays']);
    });

    it('removes the writes', async () => {
      const config = await ofRun(thread(one), 'run-1');
      await saver.putWrites(config, [['ch', 'val']], 'task');
      expect((await saver.getTuple(config))?.pendingWrites).toHaveLength(1);
      await saver.deleteForRuns(['run-1']);
      expect(await saver.getTuple(config)).toBeUndefined();
    });

    it('does nothing for no runs', async () => {
      await ofRun(thread(one), 'run-1');
      await saver.deleteForRuns([]);
      expect(await listed(one)).toHaveLength(1);
    });

    it('does nothing for a run that does not exist', async () => {
      await ofRun(thread(one), 'run-1');
      await saver.deleteForRuns(['run-2']);
      expect(await listed(one)).toHaveLength(1);
    });

    it('removes a run from all namespaces', async () => {
      for (const ns of ['', 'child:1']) await ofRun(thread(one, ns), 'run-1');
      await saver.deleteForRuns(['run-1']);
      for (const ns of ['', 'child:1']) expect(await listed(one, ns)).toEqual([]);
    });
  });

  describe('prune', () => {
    it('keeps the newest checkpoint', async () => {
      const configs = await chain(one, 4);
      await saver.prune([one], { strategy: 'keep_latest' });
      expect(await idsOf(one)).toEqual([idOf(configs[3])]);
    });

    it('keeps the newest checkpoint of each thread', async () => {
      const [first, second] = [await chain(one, 3), await chain(other, 2)];
      await saver.prune([one, other], { strategy: 'keep_latest' });
      expect(await idsOf(one)).toEqual([idOf(first[2])]);
      expect(await idsOf(other)).toEqual([idOf(second[1])]);
    });

    it('keeps the newest checkpoint of each namespace', async () => {
      const [root, child] = [await chain(one, 3), await chain(one, 2, 'child:1')];
      await saver.prune([one], { strategy: 'keep_latest' });
      expect(await idsOf(one, '')).toEqual([idOf(root[2])]);
      expect(await idsOf(one, 'child:1')).toEqual([idOf(child[1])]);
    });

    it('keeps the writes of the newest checkpoint', async () => {
      const configs = await chain(one, 3);
      await saver.putWrites(configs[2]!, [['ch', 'val']], 'task');
      await saver.prune([one], { strategy: 'keep_latest' });
      expect((await saver.getTuple(thread(one)))?.pendingWrites).toEqual([['task', 'ch', 'val']]);
    });

    it('deletes everything with the strategy `delete`', async () => {
      await chain(one, 3);
      await saver.prune([one], { strategy: 'delete' });
      expect(await listed(one)).toEqual([]);
    });

    it('leaves other threads as they were', async () => {
      await chain(one, 3);
      await chain(other, 2);
      const before = await listed(other);
      await saver.prune([one], { strategy: 'keep_latest' });
      expect(await listed(other)).toEqual(before);
    });

    it('does nothing for no threads', async () => {
      await chain(one, 2);
      await saver.prune([], { strategy: 'keep_latest' });
      expect(await listed(one)).toHaveLength(2);
    });

    it('does nothing for a thread that does not exist', async () => {
      await saver.prune([one], { strategy: 'keep_latest' });
      expect(await listed(one)).toEqual([]);
    });
  });
});
