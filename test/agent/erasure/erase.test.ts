/** After an erasure nothing of an agent is in the bytes of its store, and all of another agent is. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openWorkingContext } from '../../../src/agent/context/open-working-context.js';
import { erase } from '../../../src/agent/erasure/erase.js';
import { CheckpointService } from '../../../src/checkpoints/checkpoint-service.js';
import { checkpointTools } from '../../../src/checkpoints/tools/checkpoint-tools.js';
import { SharedSessions } from '../../../src/state/shared/shared-sessions.js';
import { unfinishedErasures } from '../../../src/storage/erasure/erasure-marker.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import { ToolCallLog } from '../../../src/workspace/tool-calls/tool-call-log.js';
import { Canaries, expectErased, inFiles, inStore, plant, plantAsides } from './canaries.js';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'rekindle-erase-'));
  ends.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function closing<T extends StorageBackend>(storage: T): T {
  ends.push(() => storage.close());
  return storage;
}

describe('an agent that is erased', () => {
  it('is in no file, with all that was set aside; the other agent is whole', async () => {
    const folder = await newFolder();
    const storage = closing(new FileStorage(folder));
    const canaries = new Canaries(1);
    await plant(storage, canaries);
    await plantAsides(folder, canaries);
    expect(await inFiles(folder, canaries.all.get('desk')!)).toEqual(canaries.all.get('desk'));
    const dry = await erase(storage, { agent: 'desk' }, { dryRun: true });
    expect(await inFiles(folder, canaries.all.get('desk')!)).toEqual(canaries.all.get('desk'));
    const report = await erase(storage, { agent: 'desk' });
    expect(report.before).toEqual(dry.before);
    expect(report.after).toEqual({ items: 0, bytes: 0 });
    expect(report.places.filter(({ kind }) => kind === 'aside').length).toBeGreaterThanOrEqual(4);
    await expectErased((texts) => inFiles(folder, texts), canaries);
    await expect(erase(storage, { agent: 'desk' })).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
  });

  it('is nowhere in memory', async () => {
    const storage = closing(new MemoryStorage());
    const canaries = new Canaries(4);
    await plant(storage, canaries);
    await erase(storage, { agent: 'desk' });
    await expectErased((texts) => inStore(storage, texts), canaries);
  });

  it('leaves its name free; the numbers of its owners go on', async () => {
    const storage = closing(new MemoryStorage());
    await plant(storage, new Canaries(5));
    const before = await storage.leases.acquire(['agents', 'desk']);
    await before.release();
    await erase(storage, { agent: 'desk' });
    const context = await openWorkingContext({ agentId: 'desk', storage, system: 'new' });
    expect(context.messagesFor('ai-sdk')).toHaveLength(1);
    await context.close();
    const after = await storage.leases.acquire(['agents', 'desk']);
    expect(after.fence).toBeGreaterThan(before.fence + 1);
    await after.release();
  });

  it('is not erased while it is open', async () => {
    const storage = closing(new MemoryStorage());
    await plant(storage, new Canaries(6));
    const context = await openWorkingContext({ agentId: 'desk', storage });
    await expect(erase(storage, { agent: 'desk' })).rejects.toMatchObject({ code: 'LEASE_HELD' });
    expect(await unfinishedErasures(storage)).toEqual([]);
    await context.close();
  });
});

describe('the harness', () => {
  it('catches an erasure that skips one kind of place', async () => {
    const storage = closing(new MemoryStorage());
    const canaries = new Canaries(8);
    await plant(storage, canaries);
    const skipping = new Proxy(storage, {
      get: (target, key) => {
        if (key === 'removeBelow')
          return (prefix: readonly string[], lease: never) =>
            prefix[0] === 'checkpoints' ? Promise.resolve() : target.removeBelow(prefix, lease);
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    await expect(erase(skipping, { agent: 'desk' })).rejects.toMatchObject({ code: 'ERASURE_UNFINISHED' });
    expect(await inStore(storage, canaries.all.get('desk')!)).not.toEqual([]);
  });
});

describe('a session that is erased', () => {
  it('goes with its children, its state and their rows; other roots stay', async () => {
    const folder = await newFolder();
    const storage = closing(new FileStorage(folder));
    const canaries = new Canaries(9);
    const shared = new SharedSessions(storage);
    for (const root of ['desk', 'till']) {
      await shared.tree.create({ id: root, agent: canaries.make(root) });
      await shared.tree.create({ id: `${root}-child`, parent: root, agent: canaries.make(root) });
      await (await shared.stateOf(`${root}-child`)).set('key', canaries.make(root));
    }
    await shared.close();
    await expect(erase(storage, { session: 'desk-child' })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      details: { root: 'desk' },
    });
    await erase(storage, { session: 'desk' });
    await expectErased((texts) => inFiles(folder, texts), canaries);
    const again = new SharedSessions(storage);
    expect((await again.tree.list()).map(({ id }) => id)).toEqual(['till', 'till-child']);
    await again.close();
    await expect(erase(storage, { session: 'desk' })).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });

  it('takes the logged calls of its sessions along, and none of an agent of the same name', async () => {
    const folder = await newFolder();
    const storage = closing(new FileStorage(folder));
    const canaries = new Canaries(11);
    const shared = new SharedSessions(storage);
    const log = new ToolCallLog(storage);
    for (const root of ['desk', 'till']) {
      await shared.tree.create({ id: root });
      await shared.tree.create({ id: `${root}-child`, parent: root });
      const call = { tool: 'look', callId: 'c', error: null, startedMs: Date.now(), durationMs: 1 };
      const of = (agent: string, session?: string) =>
        log.record({
          ...call,
          agent,
          input: { said: canaries.make(root) },
          output: null,
          ...(session ? { session } : {}),
        });
      await of('ada', `${root}-child`);
      await of(root); // an MCP client without an agent
    }
    await (await openWorkingContext({ agentId: 'till', storage })).close();
    await log.close();
    await shared.close();
    await erase(storage, { session: 'desk' });
    await expectErased((texts) => inFiles(folder, texts), canaries);
    await erase(storage, { session: 'till' });
    const left = new ToolCallLog(storage);
    expect((await left.search({})).map(({ agent }) => agent)).toEqual(['till']);
    await left.close();
  });

  it('takes its checkpoints along, also those that tools of its children saved; others stay', async () => {
    const folder = await newFolder();
    const storage = closing(new FileStorage(folder));
    const canaries = new Canaries(10);
    const shared = new SharedSessions(storage);
    const checkpoints = new CheckpointService({ backend: storage });
    for (const root of ['desk', 'till']) {
      const child = `${root}-child`;
      await shared.tree.create({ id: root });
      await shared.tree.create({ id: child, parent: root });
      await checkpoints.save({ sessionId: root, context: { said: canaries.make(root) } });
      const save = checkpointTools(checkpoints, { scope: { session: child } })[0]!;
      const call = {
        ...{ callId: 'c', turnId: 't', idempotencyKey: 'k' },
        signal: AbortSignal.timeout(5_000),
      };
      await save.execute({ sessionId: 'own', context: { said: canaries.make(root) } }, call);
    }
    await checkpoints.close();
    await shared.close();
    await erase(storage, { session: 'desk' });
    await expectErased((texts) => inFiles(folder, texts), canaries);
    const again = new CheckpointService({ backend: storage });
    expect((await again.sessions()).map(({ id }) => id).sort()).toEqual(['session:till-child:own', 'till']);
    await again.close();
  });
});
