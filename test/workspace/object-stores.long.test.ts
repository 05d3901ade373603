/** A workspace over object stores: everything is there for the store that is opened next. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ManualClock } from '../../src/core/clock.js';
import {
  ObjectsStorage,
  type ObjectsStorageOptions,
  S3Objects,
  UcVolumesObjects,
} from '../../src/storage/objects/index.js';
import type { StorageBackend } from '../../src/storage/ports.js';
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.js';
import { selectContext } from '../../src/workspace/context/selective-context.js';
import { SessionManager } from '../../src/workspace/sessions/session-manager.js';
import { ToolCallLog } from '../../src/workspace/tool-calls/tool-call-log.js';
import { Workspace } from '../../src/workspace/workspace.js';
import { type S3Server, startS3Server } from '../support/s3-server.js';
import { UcVolumesServer } from '../support/uc-volumes-server.js';

let volumes: UcVolumesServer;
let s3: S3Server;
let folder: string;
beforeAll(async () => {
  [volumes, s3] = [await UcVolumesServer.start(), await startS3Server()];
  folder = await mkdtemp(path.join(os.tmpdir(), 'rekindle-workspace-objects-'));
});
afterAll(async () => {
  await Promise.all([volumes.close(), s3.close()]);
  await rm(folder, { recursive: true, force: true });
});

function volume(prefix: string, options: ObjectsStorageOptions): ObjectsStorage {
  const { url: host, token, volume } = volumes;
  return new ObjectsStorage(new UcVolumesObjects({ host, token, volume, prefix }), options);
}

const STORES = [
  {
    name: 'a volume with one writer',
    hasManyWriters: false,
    open: (prefix: string) => volume(prefix, { writers: 'one' }),
  },
  {
    name: 'a volume with its leases elsewhere',
    hasManyWriters: true,
    open: (prefix: string) =>
      volume(prefix, { leases: new SqliteStorage(path.join(folder, `${prefix}.db`)) }),
  },
  {
    name: 'S3',
    hasManyWriters: true,
    open: (prefix: string) => {
      const { url: endpoint, bucket, accessKeyId, secretAccessKey } = s3;
      const connection = { endpoint, forcePathStyle: true, accessKeyId, secretAccessKey };
      return new ObjectsStorage(new S3Objects({ bucket, prefix, ...connection }));
    },
  },
];

let places = 0;

/** Opens the same place again and again, each time as another process would. */
function placeOf(open: (prefix: string) => ObjectsStorage): () => ObjectsStorage {
  const prefix = `place-${++places}`;
  return () => {
    const storage = open(prefix);
    onTestFinished(() => storage.close());
    return storage;
  };
}

const clock = new ManualClock();
const VALUE = { text: 'Größe 🙂 "\\', list: [1, null, { deep: [] }] };
const LARGE = { text: 'lorem ipsum '.repeat(20_000) };

/** Closes the store after the work, so that nothing stays in its memory. */
async function using<T>(storage: StorageBackend, work: (workspace: Workspace) => Promise<T>): Promise<T> {
  const workspace = new Workspace(storage, { clock });
  const result = await work(workspace);
  await workspace.close();
  await storage.close();
  return result;
}

async function everythingIn(workspace: Workspace) {
  const keys = ['plan', 'large', 'gone', 'never'];
  const read = async (key: string) => ({ now: await workspace.read(key), all: await workspace.history(key) });
  return {
    entries: await Promise.all(keys.map(read)),
    list: await workspace.list({ deleted: true }),
    timing: await workspace.timing(),
    diff: await workspace.diff('plan', 1, 2),
    context: await selectContext(workspace, {
      agent: 'reader',
      dependencies: { required: ['plan', 'never'], optional: ['large'] },
      budget: { total: 300 },
    }),
  };
}

describe.each(STORES)('a workspace over $name', ({ open, hasManyWriters }) => {
  it('has its entries, their versions and the context of them for the next store', async () => {
    const place = placeOf(open);
    const before = await using(place(), async (workspace) => {
      await workspace.write('plan', VALUE, { agent: 'ada' });
      clock.advance(1_000);
      await workspace.write('plan', 'second', { agent: 'bob', ifVersion: 1 });
      await workspace.write('large', LARGE, { agent: 'bob' });
      await workspace.write('gone', 1);
      await workspace.delete('gone');
      await workspace.rollback('plan', 1, { agent: 'ada' });
      return everythingIn(workspace);
    });
    expect(before.entries.map(({ now }) => now?.value)).toEqual([VALUE, LARGE, undefined, undefined]);
    expect(before.entries[0]!.all.map(({ version, event }) => [version, event])).toEqual([
      [3, 'rollback'],
      [2, 'write'],
      [1, 'write'],
    ]);
    expect(await using(place(), everythingIn)).toEqual(before);
    await using(place(), async (workspace) => {
      expect((await workspace.write('plan', 'next', { ifVersion: 3 })).version).toBe(4);
      expect((await workspace.write('gone', 'back')).version).toBe(3);
    });
    await using(place(), async (workspace) => {
      expect((await workspace.readMany(['plan', 'gone'])).get('plan')).toMatchObject({ value: 'next' });
      expect(await workspace.keys()).toEqual(['gone', 'large', 'plan']);
    });
  });

  it('has a manifest that the next store believes, and makes one anew where it is lost', async () => {
    const place = placeOf(open);
    const manifest = ['workspace', '_manifest.json'];
    await using(place(), async (workspace) => {
      for (let n = 1; n <= 40; n += 1) await workspace.write(`key ${n % 4}`, n, { agent: 'ada' });
    });
    const storage = place();
    expect((await storage.documents.read(manifest))?.value).toMatchObject({ covers: { seq: 40 } });
    const list = await using(storage, (workspace) => workspace.list());
    const other = place();
    await other.documents.delete(manifest);
    expect(await using(other, (workspace) => workspace.list())).toEqual(list);
    expect(list.map(({ version }) => version)).toEqual([10, 10, 10, 10]);
  });

  it('has the calls in its log, with values of any size, for the next store', async () => {
    const place = placeOf(open);
    const first = place();
    const log = new ToolCallLog(first, { clock });
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        log.record({
          callId: `call ${n}`,
          tool: n % 2 === 0 ? 'search' : 'fetch',
          agent: 'ada',
          input: { n },
          output: n === 18 ? LARGE : 'short',
          error: n === 7 ? 'The search is down.' : null,
          startedMs: clock.nowMs() + n,
          durationMs: n,
        }),
      ),
    );
    await log.close();
    await first.close();
    const storage = place();
    const next = new ToolCallLog(storage, { clock });
    const found = await next.search({ tool: 'search', text: 'LOREM' });
    expect(found.map(({ callId }) => callId)).toEqual(['call 18']);
    expect(JSON.parse((await next.value(found[0]!.outputRef!))!)).toEqual(LARGE);
    expect((await next.search({ status: 'error' })).map(({ error }) => error)).toEqual([
      'The search is down.',
    ]);
    expect(await next.recent(100)).toHaveLength(20);
    expect(await next.prune({ callsMax: 0 })).toMatchObject({ callsRemoved: 20, valuesRemoved: 1 });
    await next.close();
    await storage.close();
    expect(await new ToolCallLog(place(), { clock }).recent()).toEqual([]);
  });

  it('has its session with states and snapshots for the next store, which resumes it', async () => {
    const place = placeOf(open);
    const first = place();
    const sessions = new SessionManager(first, { clock });
    const id = await using(first, async (workspace) => {
      await workspace.write('plan', 1);
      const { id } = await sessions.create({ title: 'one', workspace });
      await sessions.saveAgentState(id, { name: 'analyst', agentId: 'ada', state: VALUE });
      await workspace.write('plan', 2);
      await sessions.end(id, { workspace });
      await sessions.close();
      return id;
    });
    const storage = place();
    const next = new SessionManager(storage, { clock });
    expect(await next.current()).toBeNull();
    expect((await next.list({ agent: 'ada' })).map((session) => session.id)).toEqual([id]);
    expect(await next.agentState(id, 'analyst')).toMatchObject({ agentId: 'ada', state: VALUE });
    expect(await next.resume(id)).toMatchObject({ status: 'active', resumed: 1 });
    const versions = (await next.workspaceSnapshots(id)).map(({ border, snapshot }) => [
      border,
      snapshot.entries.map(({ version }) => version),
    ]);
    expect(versions).toEqual([
      ['start', [1]],
      ['end', [2]],
    ]);
    await next.close();
    await storage.close();
    expect(await new SessionManager(place(), { clock }).current()).toMatchObject({ id });
  });

  it.runIf(hasManyWriters)('loses no write of two stores at the same time', async () => {
    const place = placeOf(open);
    const workspaces = [place(), place()].map((storage) => new Workspace(storage, { clock }));
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => workspaces[n % 2]!.write('count', n, { agent: `agent ${n % 2}` })),
    );
    for (const workspace of workspaces) expect((await workspace.read('count'))?.version).toBe(20);
    expect((await workspaces[1]!.timing()).byAgent).toMatchObject({
      'agent 0': { writes: 10 },
      'agent 1': { writes: 10 },
    });
    for (const workspace of workspaces) await workspace.close();
  });
});
