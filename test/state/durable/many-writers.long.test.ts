import { execFile, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { StateManager } from '../../../src/state/durable/state-manager.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import { NodeFileSystem } from '../../../src/storage/file/node-file-system.js';
import type { OpenFile, OpenMode } from '../../../src/storage/file-system.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import { SharedLease } from '../../../src/storage/shared-lease.js';
import { CLI_BUILD } from '../../support/build-cli.js';
import { counter } from './counter.js';
import { errorOf, Place } from './state-kit.js';

const run = promisify(execFile);
const CHILD = fileURLToPath(new URL('./increment-child.mjs', import.meta.url));

describe('several writers', () => {
  it('of four processes lose none of 20 increments', async () => {
    const place = await Place.make();
    const children = [1, 2, 3, 4].map(() => run(process.execPath, [CHILD, CLI_BUILD, place.root, '5']));
    await Promise.all(children);
    const state = await StateManager.open({ ...counter, backend: place.storage });
    expect((await state.load()).value.count).toBe(20);
    expect((await state.load()).version).toBe(21);
    expect(await place.json('counter.json')).toEqual({ schema_version: 1, count: 20 });
    await state.close();
  });

  it('that are killed with SIGKILL at any moment lose nothing that they acknowledged, and keep nobody out', async () => {
    const place = await Place.make();
    let acknowledged = 0;
    for (let round = 0; round < 6; round += 1) {
      const counts = await killedWhileCounting(place.root, 30 + 35 * round);
      acknowledged = Math.max(acknowledged, ...counts);
      const state = await StateManager.open({ ...counter, backend: new Place(place.root).storage });
      const { value, by } = await state.load();
      expect(value.count).toBeGreaterThanOrEqual(acknowledged);
      expect(value.count).toBeLessThanOrEqual(acknowledged + 1);
      expect(by).not.toBe('human');
      expect(await place.json('counter.json')).toEqual(value);
      acknowledged = value.count;
      await state.close();
    }
    expect(acknowledged).toBeGreaterThan(0);
  });

  it('of one process lose none, whatever manager they use', async () => {
    const storage = new MemoryStorage();
    const managers = await Promise.all(
      [1, 2, 3].map(() => StateManager.open({ ...counter, backend: storage })),
    );
    const updates = managers.flatMap((state) =>
      Array.from({ length: 5 }, () =>
        state.update(async (draft) => {
          const { count } = draft;
          await Promise.resolve();
          draft.count = count + 1;
        }),
      ),
    );
    await Promise.all(updates);
    expect((await managers[0]!.load()).value.count).toBe(15);
  });

  it('are told when the change is made again on the newest value, because the right to write was lost', async () => {
    const place = await Place.make();
    const state = await StateManager.open({ ...counter, backend: place.storage });
    const other = await StateManager.open({ ...counter, backend: new Place(place.root).storage });
    await sleepPast(state, other);
    const attempts: [number, number][] = [];
    const { value } = await state.update(async (draft, { attempt, version }) => {
      attempts.push([attempt, version]);
      if (attempt === 1) await takeOver(place, () => other.update((theirs) => void (theirs.count += 10)));
      draft.count += 1;
    });
    expect(attempts).toEqual([
      [1, 1],
      [2, 2],
    ]);
    expect(value.count).toBe(11);
    await state.close();
    await other.close();
  });

  it('apply a change once that was read by whoever took over, before its writer was told that it lost its right', async () => {
    const place = await Place.make();
    const other = await StateManager.open({ ...counter, backend: place.storage });
    await new Promise((resolve) => setTimeout(resolve, 60));
    class Suspended extends NodeFileSystem {
      armed = false;
      override async open(file: string, mode: OpenMode): Promise<OpenFile> {
        const opened = await super.open(file, mode);
        if (!file.endsWith('counter.events.jsonl') || mode === 'read') return opened;
        const datasync = opened.datasync.bind(opened);
        const write = opened.write.bind(opened);
        let isWritten = false; // the file is synced once before that
        opened.write = (...given) => {
          isWritten = true;
          return write(...given);
        };
        opened.datasync = async () => {
          await datasync();
          if (!this.armed || !isWritten) return;
          this.armed = false;
          await takeOver(place, () => other.update((theirs) => void (theirs.count += 10)));
        };
        return opened;
      }
    }
    const fileSystem = new Suspended();
    const state = await StateManager.open({
      ...counter,
      backend: new FileStorage(place.root, { fileSystem }),
    });
    fileSystem.armed = true;
    const attempts: number[] = [];
    await state.update((draft, { attempt }) => {
      attempts.push(attempt);
      draft.count += 1;
    });
    expect(attempts).toEqual([1]);
    expect((await state.load()).value.count).toBe(11);
    expect((await state.load()).version).toBe(3);
    await state.close();
    await other.close();
  });

  it('do not wait for ever: LEASE_HELD names the owner', async () => {
    const place = await Place.make();
    const state = await StateManager.open({ ...counter, backend: place.storage, waitMs: 50 });
    await state.update((draft) => void (draft.count += 1));
    await state.close();
    const lease = await place.storage.leases.acquire(['state', 'counter.lease']);
    const late = new StateManager<{ count: number }>({ ...counter, backend: place.storage, waitMs: 50 });
    expect((await late.load()).value.count).toBe(1);
    const error = await errorOf(late.update((draft) => void (draft.count += 1)));
    expect(error).toMatchObject({ code: 'LEASE_HELD', details: { owner: { pid: process.pid } } });
    await lease.release();
    expect((await late.update((draft) => void (draft.count += 1))).value.count).toBe(2);
    await late.close();
  });
});

describe('an update inside an update', () => {
  it('is given up after a while: it would wait for itself', async () => {
    const state = await StateManager.open({ ...counter, backend: new MemoryStorage(), waitMs: 100 });
    const error = await errorOf(state.update(async () => void (await state.update(() => {}))));
    expect(error.code).toBe('LEASE_HELD');
    expect(error.message).toContain('must not start another change');
    expect((await state.update((draft) => void (draft.count = 1))).version).toBe(2);
  });

  it('does not keep the right to write from others', async () => {
    const storage = new MemoryStorage();
    const state = await StateManager.open({ ...counter, backend: storage, waitMs: 60 });
    await errorOf(state.update(async () => void (await state.update(() => {}))));
    const other = await StateManager.open({ ...counter, backend: storage, waitMs: 500 });
    expect((await other.update((draft) => void (draft.count = 1))).version).toBe(2);
  });
});

describe('a shared lease', () => {
  it('lets others in between while one works on and on', async () => {
    const storage = new MemoryStorage();
    const [busy, patient] = [new SharedLease(storage.leases, ['x']), new SharedLease(storage.leases, ['x'])];
    let done = false;
    const work = async () => {
      while (!done) await busy.run(() => new Promise((resolve) => setTimeout(resolve, 5)));
    };
    const working = work();
    await patient.run(async () => {});
    done = true;
    await working;
    await busy.close();
    await patient.close();
  });

  it('is let go a moment after the last work, and at once when closed', async () => {
    const storage = new MemoryStorage();
    const shared = new SharedLease(storage.leases, ['x']);
    await shared.run(async () => {});
    expect(await shared.holds()).toBe(true);
    await shared.close();
    expect(await storage.leases.inspect(['x'])).toBeNull();
    expect((await errorOf(shared.run(async () => {}))).code).toBe('JOURNAL_CLOSED');
  });
});

/** The counts that a process told before it was killed, some time after its first. */
async function killedWhileCounting(root: string, ms: number): Promise<number[]> {
  const child = spawn(process.execPath, [CHILD, CLI_BUILD, root, 'forever'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    if (text === '') setTimeout(() => child.kill('SIGKILL'), ms);
    text += chunk.toString();
  });
  await new Promise((resolve) => child.once('close', resolve));
  return text.split('\n').slice(0, -1).map(Number);
}

/** Lets both forget that they may write. */
async function sleepPast(...managers: { load(): Promise<unknown> }[]): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 60));
  for (const manager of managers) await manager.load();
}

/** As if this process had been suspended past its time: its lease file goes, and another one writes. */
async function takeOver(place: Place, write: () => Promise<unknown>): Promise<void> {
  const storage = new FileStorage(place.root);
  await (await storage.leases.acquire(['state', 'counter.lease'], { force: true })).release();
  await storage.close();
  await write();
}
