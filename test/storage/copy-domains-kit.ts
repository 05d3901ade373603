/** The domains, each with something of everything: what fills a store, what reads all of it, and a change that goes on. */
import { CheckpointService } from '../../src/checkpoints/checkpoint-service.js';
import { ManualClock } from '../../src/core/clock.js';
import { StateManager } from '../../src/state/durable/state-manager.js';
import { SessionTree } from '../../src/state/shared/sessions/session-tree.js';
import { SharedState, type StateView } from '../../src/state/shared/shared-state.js';
import type { StorageBackend } from '../../src/storage/ports.js';
import { EnvironmentKeys } from '../../src/storage/sealing/environment-keys.js';
import { SessionManager } from '../../src/workspace/sessions/session-manager.js';
import { ToolCallLog } from '../../src/workspace/tool-calls/tool-call-log.js';
import { Workspace } from '../../src/workspace/workspace.js';
import { counter } from '../state/durable/counter.js';

export interface Domain {
  readonly name: string;
  fill(backend: StorageBackend): Promise<void>;
  /** All that can be asked of it. */
  read(backend: StorageBackend): Promise<unknown>;
  /** Goes on, and tells the versions and numbers that it got. */
  goOn(backend: StorageBackend): Promise<unknown>;
}

const START_MS = 1_700_000_000_000;
const clock = () => new ManualClock(START_MS);

/** What a call gives, or the code of its error. */
async function told<T>(work: () => Promise<T>): Promise<T | string> {
  return work().catch((thrown: { code?: string }) => {
    if (thrown.code === undefined) throw thrown;
    return thrown.code;
  });
}

async function using<C extends { close(): Promise<void> }, T>(
  opened: C | Promise<C>,
  work: (open: C) => Promise<T>,
): Promise<T> {
  const open = await opened;
  try {
    return await work(open);
  } finally {
    await open.close();
  }
}

async function each<T>(from: number, to: number, work: (n: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let n = from; n <= to; n += 1) results.push(await work(n));
  return results;
}

const openCounter = (backend: StorageBackend) => StateManager.open({ ...counter, backend, clock: clock() });

export const durableState: Domain = {
  name: 'durable state',
  fill: (backend) =>
    using(openCounter(backend), async (state) => {
      await each(1, 6, (n) => state.update((draft) => void (draft.count = n * n), { why: `step ${n}` }));
      await state.attach(Buffer.from('an attachment'));
    }),
  read: (backend) =>
    using(openCounter(backend), async (state) => {
      const { version } = await state.load();
      const inspected = await state.inspect();
      return {
        now: await state.load(),
        edit: { ...inspected },
        versions: await each(0, version + 1, (n) => state.at(n)),
        diff: await state.diff(2, version),
        attachment: await backend
          .blobs(['state', 'artifacts'])
          .list()
          [Symbol.asyncIterator]()
          .next()
          .then(({ value }) => (value as { digest?: string } | undefined)?.digest),
      };
    }),
  goOn: (backend) => using(openCounter(backend), (state) => state.update((draft) => void (draft.count += 1))),
};

const limits = { history: 4 };
const openShared = (backend: StorageBackend) =>
  new SharedState(backend, { root: 'root', limits, clock: clock() });
const shortened = (value: unknown) => JSON.parse(JSON.stringify(value).replace(/x{10,}/g, 'x')) as unknown;

/** Two stores that were written after a copy have histories of their own, and say so. */
const withoutHistory = ({ history: _, ...view }: StateView) => shortened(view);

/** Values so large that snapshots are written and old history is removed. */
export const sharedState: Domain = {
  name: 'shared state with sessions',
  fill: async (backend) => {
    await using(openShared(backend), async (state) => {
      await each(1, 12, (n) => state.set(`k${n % 2}`, `${'x'.repeat(33_000)}${n}`, { by: `s${n % 3}` }));
      await state.increment('count', 3);
      await state.set('gone', 1);
      await state.delete('gone');
      await state.batch([
        { op: 'append', key: 'list', items: [1, 2] },
        { op: 'increment', key: 'count', delta: 4 },
      ]);
    });
    await using(new SessionTree(backend, { clock: clock() }), async (tree) => {
      await tree.create({ id: 'root', status: 'running' });
      await tree.create({ id: 'child', parent: 'root', agent: 'builder' });
      await tree.create({ id: 'grandchild', parent: 'child' });
    });
  },
  read: async (backend) => ({
    state: await using(openShared(backend), async (state) => {
      const last = await state.globalVersion();
      return shortened({
        now: await state.getAll(),
        oldest: await told(() => state.oldestVersion()),
        versions: await each(0, last, (n) => told(() => state.at(n))),
        changes: await each(0, last, (n) => told(() => state.changesSince(n))),
        histories: await Promise.all(
          ['k0', 'k1', 'count', 'gone', 'list'].map((key) => told(() => state.history(key, 1_000))),
        ),
      });
    }),
    tree: await using(new SessionTree(backend, { clock: clock() }), async (tree) => tree.list()),
  }),
  goOn: async (backend) => [
    await using(openShared(backend), async (state) => [
      await state.set('gone', 2),
      await state.increment('count'),
      await told(() => state.set('count', 0, { ifVersion: 1 })),
      withoutHistory(await state.getAll()),
    ]),
    await using(new SessionTree(backend, { clock: clock() }), async (tree) => [
      await told(() => tree.create({ id: 'child' })),
      await tree.create({ id: 'new', parent: 'child' }),
    ]),
  ],
};

const openWorkspace = (backend: StorageBackend) => new Workspace(backend, { clock: clock() });
const KEYS = ['a', 'b', 'large', 'gone', 'rolled back'];

/** Enough for the manifest to be written, and places in it. */
export const workspace: Domain = {
  name: 'a workspace with sessions and tool calls',
  fill: async (backend) => {
    await using(openWorkspace(backend), async (space) => {
      await each(1, 14, async (n) => {
        await space.write('a', { n }, { agent: 'ada' });
        await space.write('b', { n: -n }, { agent: 'bob' });
        if (n % 4 === 0) await space.write('large', `${n}${'y'.repeat(6_000)}`);
      });
      await space.write('gone', 1);
      await space.delete('gone');
      await each(1, 3, (n) => space.write('rolled back', n));
      await space.rollback('rolled back', 1);
      await using(new SessionManager(backend, { clock: clock() }), async (sessions) => {
        await sessions.create({
          title: 'one',
          agents: [{ name: 'analyst', agentId: 'ada' }],
          workspace: space,
        });
      });
    });
    await using(new ToolCallLog(backend, { clock: clock() }), async (log) => {
      await each(1, 12, (n) => log.record(toolCall(n)));
    });
  },
  read: async (backend) => ({
    entries: await using(openWorkspace(backend), async (space) =>
      Promise.all(
        KEYS.map(async (key) => ({
          now: await space.read(key),
          history: await space.history(key, 1_000),
          versions: await Promise.all([0, 1, 3, 12, 16].map((n) => space.readVersion(key, n))),
          diff: await told(() => space.diff(key, 1, 2)),
        })),
      ),
    ),
    list: await using(openWorkspace(backend), (space) => space.list({ deleted: true })),
    timing: await using(openWorkspace(backend), (space) => space.timing()),
    sessions: await using(new SessionManager(backend, { clock: clock() }), async (sessions) => {
      const list = await sessions.list();
      return {
        list,
        current: await sessions.current(),
        snapshot: await sessions.workspaceSnapshot(list[0]!.id),
      };
    }),
    calls: await using(new ToolCallLog(backend, { clock: clock() }), async (log) => {
      const calls = await log.recent(100);
      const refs = JSON.stringify(calls).match(/sha256:[0-9a-f]{64}/g) ?? [];
      return { calls, values: await Promise.all(refs.map((ref) => log.value(ref))) };
    }),
  }),
  goOn: async (backend) => [
    await using(openWorkspace(backend), async (space) => [
      await each(1, 3, () => space.write('a', { n: 'next' })),
      await space.write('gone', 2),
      await space.rollback('b', 7),
      (await space.read('b'))?.value,
      (await space.history('a', 40)).map(({ version, value }) => [version, value]),
    ]),
    await using(new ToolCallLog(backend, { clock: clock() }), async (log) => {
      await log.record(toolCall(13));
      return (await log.recent(100)).map(({ callId }) => callId);
    }),
  ],
};

function toolCall(n: number) {
  return {
    callId: `c${n}`,
    tool: 'search',
    agent: 'ada',
    turnId: 'turn_0001',
    input: { n },
    output: n % 4 === 0 ? 'z'.repeat(5_000 + n) : n,
    error: null,
    startedMs: START_MS,
    durationMs: 1,
  };
}

/** @param isEncrypted with a master key */
export function checkpoints(isEncrypted: boolean): Domain {
  const open = (backend: StorageBackend) =>
    new CheckpointService({
      backend,
      clock: clock(),
      config: { encryption: { enabled: isEncrypted } },
      ...(isEncrypted ? { masterKeys: new EnvironmentKeys({ REKINDLE_MASTER_KEY: '11'.repeat(32) }) } : {}),
    });
  const contextOf = (n: number) => ({
    step: n,
    notes: Array.from(
      { length: 40 },
      (_, at) => `note ${at} ${Math.imul(at + (at % 7 === 0 ? n : 0), 2_654_435_761)}`,
    ),
  });
  return {
    name: isEncrypted ? 'encrypted checkpoints' : 'checkpoints',
    fill: (backend) =>
      using(open(backend), async (service) => {
        const saved = await each(1, 6, (n) => service.save({ sessionId: 's', context: contextOf(n) }));
        await service.save({ sessionId: 'other session', context: contextOf(1) });
        await service.markCritical({ sessionId: 's', contextKey: 'step' });
        await service.delete(saved[1]!.checkpointId);
        await service.delete(saved[5]!.checkpointId);
      }),
    read: (backend) =>
      using(open(backend), async (service) => {
        const { checkpoints: items } = await service.list({ sessionId: 's' });
        const { problems, heads } = await service.verify();
        return {
          problems,
          heads,
          items,
          loaded: await Promise.all(items.map(({ id }) => service.load({ checkpointId: id }))),
          other: await service.load({ sessionId: 'other session' }),
        };
      }),
    goOn: (backend) =>
      using(open(backend), async (service) => {
        const { heads } = await service.verify();
        const saved = await service.save({ sessionId: 's', context: contextOf(7) });
        const { problems } = await service.verify({ heads });
        return [saved.checkpointId, saved.status, problems, (await service.load({ sessionId: 's' })).context];
      }),
  };
}
