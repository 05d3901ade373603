/** Leases as numbered files: who is taken for alive, what is left on disk, what each fault does. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ManualClock, systemClock } from '../../../src/core/clock.js';
import { isRekindleError } from '../../../src/core/errors.js';
import type { LeaseOwner } from '../../../src/storage/ports.js';
import type { ProcessIdentity } from '../../../src/storage/process-identity.js';
import { fileFixture, TTL_MS } from './file-fixture.js';
import { ProbeFileSystem } from './probe-file-system.js';

const NAME = ['agent'];

/** An identity whose view of other processes a test decides. */
function identityOf(state: ReturnType<ProcessIdentity['state']>, pid = 4_242): ProcessIdentity {
  const owner: LeaseOwner = { pid, processStart: '1', host: 'here', nonce: 'n' };
  return { owner: () => owner, state: () => state };
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  const thrown = await promise.then(
    () => 'nothing was thrown',
    (error: unknown) => error,
  );
  return isRekindleError(thrown) ? thrown.code : String(thrown);
}

async function withLeaseFolder() {
  const fixture = await fileFixture();
  const folder = path.join(fixture.root, 'agent', 'lease');
  return { ...fixture, folder, files: async () => (await fs.readdir(folder)).sort() };
}

describe('the owner of a lease', () => {
  it('that is gone is taken over at once', async () => {
    const { storage } = await fileFixture();
    await storage({ identity: identityOf('gone') }).leases.acquire(NAME, { ttlMs: 60_000 });
    const second = await storage({ identity: identityOf('gone') }).leases.acquire(NAME);
    expect(second.takenOver).toBe(true);
  });

  it('that runs is left alone while its heartbeat is young, and taken over when it is old', async () => {
    const { storage, clock } = await fileFixture();
    const store = storage({ identity: identityOf('running') });
    const first = await store.leases.acquire(NAME, { ttlMs: TTL_MS });
    clock.advance(TTL_MS - 1);
    expect(await codeOf(store.leases.acquire(NAME))).toBe('LEASE_HELD');
    clock.advance(2);
    expect((await store.leases.acquire(NAME)).takenOver).toBe(true);
    expect(await codeOf(first.check())).toBe('LEASE_LOST');
  });

  it('on another machine is judged by its heartbeat alone', async () => {
    const { storage, clock } = await fileFixture();
    const store = storage({ identity: identityOf('unknown') });
    await store.leases.acquire(NAME, { ttlMs: TTL_MS });
    expect(await codeOf(store.leases.acquire(NAME))).toBe('LEASE_HELD');
    clock.advance(TTL_MS + 1);
    expect((await store.leases.acquire(NAME)).takenOver).toBe(true);
  });

  it('is told with process, host and the age of its heartbeat', async () => {
    const { storage, clock } = await fileFixture();
    const store = storage({ identity: identityOf('running') });
    await store.leases.acquire(NAME);
    clock.advance(1_234);
    const thrown: unknown = await store.leases.acquire(NAME).catch((error: unknown) => error);
    expect(thrown).toMatchObject({
      code: 'LEASE_HELD',
      details: { name: 'agent', fence: 1, owner: { pid: 4_242, host: 'here' }, heartbeatAgeMs: 1_234 },
    });
  });

  it('that slept past its life goes on when nobody came', async () => {
    const { storage, clock } = await fileFixture();
    const lease = await storage().leases.acquire(NAME, { ttlMs: TTL_MS });
    clock.advance(1_000 * TTL_MS);
    await lease.check();
    await lease.renew();
    expect(await codeOf(storage().leases.acquire(NAME))).toBe('LEASE_HELD');
  });

  it('whose lease file cannot be read is unknown, and waits out a whole life', async () => {
    const { storage, clock, folder } = await withLeaseFolder();
    await fs.mkdir(folder, { recursive: true });
    await fs.writeFile(path.join(folder, '000007.json'), '{"owner":');
    await fs.utimes(path.join(folder, '000007.json'), clock.nowMs() / 1_000, clock.nowMs() / 1_000);
    expect(await codeOf(storage().leases.acquire(NAME))).toBe('LEASE_HELD');
    clock.advance(15_001);
    expect(await storage().leases.acquire(NAME)).toMatchObject({ fence: 8, takenOver: true });
  });
});

describe('the heartbeat', () => {
  it('runs by itself, and keeps a lease that is much shorter than the wait', async () => {
    const { storage } = await fileFixture();
    const store = storage({ clock: systemClock });
    const lease = await store.leases.acquire(NAME, { ttlMs: 300 });
    for (let waited = 0; waited < 900; waited += 100) {
      await sleep(100);
      expect(await codeOf(store.leases.acquire(NAME))).toBe('LEASE_HELD');
    }
    await lease.check();
  });

  it('notices a loss by itself, and throws nothing from its timer', async () => {
    const { storage, clock } = await fileFixture();
    // Its heartbeat must not come between the two lines that follow.
    const lease = await storage().leases.acquire(NAME, { ttlMs: 900 });
    clock.advance(901);
    await storage().leases.acquire(NAME);
    await new Promise((resolve) => lease.lost.addEventListener('abort', resolve));
    expect(isRekindleError(lease.lost.reason, 'LEASE_LOST')).toBe(true);
  });

  it('that meets a fault of the disk is no loss', async () => {
    const { storage } = await fileFixture();
    const disk = new ProbeFileSystem();
    const lease = await storage({ fileSystem: disk }).leases.acquire(NAME, { ttlMs: 150 });
    const stat = disk.stat.bind(disk);
    disk.stat = () => Promise.reject(Object.assign(new RangeError('planted'), { code: 'EIO' }));
    await sleep(200);
    expect(await codeOf(lease.check())).toBe('STORAGE_FAILED');
    expect(lease.lost.aborted).toBe(false);
    disk.stat = stat;
    await lease.check();
  });

  it('stops with the release', async () => {
    const { storage, folder } = await withLeaseFolder();
    const lease = await storage({ clock: systemClock }).leases.acquire(NAME, { ttlMs: 150 });
    await lease.release();
    const before = (await fs.stat(path.join(folder, '000001.json'))).mtimeMs;
    await sleep(200);
    expect((await fs.stat(path.join(folder, '000001.json'))).mtimeMs).toBe(before);
  });
});

/** The owner's own name for its file. */
const OWN_1: string = expect.stringMatching(/^000001-[0-9a-f]{16}\.json$/);

describe('the files of a lease', () => {
  it('are one for the owner, and a mark when it let go', async () => {
    const { storage, files, folder } = await withLeaseFolder();
    const lease = await storage().leases.acquire(NAME);
    expect(await files()).toEqual([OWN_1, '000001.json']);
    expect(JSON.parse(await fs.readFile(path.join(folder, '000001.json'), 'utf8'))).toMatchObject({
      owner: { pid: process.pid },
    });
    await lease.release();
    expect(await files()).toEqual([OWN_1, '000001.json', '000001.released']);
  });

  it('of older owners are taken away by the next', async () => {
    const { storage, files } = await withLeaseFolder();
    for (let owner = 0; owner < 5; owner += 1) await (await storage().leases.acquire(NAME)).release();
    await storage().leases.acquire(NAME);
    expect(await files()).toEqual([expect.stringMatching(/^000006-[0-9a-f]{16}\.json$/), '000006.json']);
  });

  it('that cannot be taken away leave their owner in power: the new claim is given up', async () => {
    const { storage, clock, files } = await withLeaseFolder();
    const disk = new ProbeFileSystem();
    const store = storage({ fileSystem: disk });
    const first = await store.leases.acquire(NAME, { ttlMs: TTL_MS });
    clock.advance(TTL_MS + 1);
    disk.verdict = ({ call, name }) => (call === 'unlink' && name.startsWith('000001-') ? 'EACCES' : null);
    expect(await codeOf(store.leases.acquire(NAME))).toBe('STORAGE_FAILED');
    expect(await files()).toEqual([OWN_1, '000001.json']);
    await first.check();
    disk.verdict = () => null;
    expect(await store.leases.acquire(NAME)).toMatchObject({ fence: 2, takenOver: true });
    expect(await codeOf(first.check())).toBe('LEASE_LOST');
  });

  it('are taken away lowest first, so that no number is given twice when that fails halfway', async () => {
    const { storage, clock, folder } = await withLeaseFolder();
    const disk = new ProbeFileSystem();
    const list = disk.list.bind(disk);
    disk.list = async (place) => (await list(place)).sort().reverse();
    const store = storage({ fileSystem: disk });
    await (await store.leases.acquire(NAME, { ttlMs: TTL_MS })).release();
    const second = await store.leases.acquire(NAME, { ttlMs: TTL_MS });
    await fs.writeFile(path.join(folder, '000001.json'), 'left by a crash');
    clock.advance(TTL_MS + 1);
    disk.verdict = ({ call, name }) => (call === 'unlink' && name === '000001.json' ? 'EIO' : null);
    expect(await codeOf(store.leases.acquire(NAME))).toBe('STORAGE_FAILED');
    disk.verdict = () => null;
    const third = await store.leases.acquire(NAME);
    expect(third.fence).toBeGreaterThan(second.fence);
    expect(await codeOf(second.check())).toBe('LEASE_LOST');
  });

  it('that a person took away mean: lost', async () => {
    const { storage, folder } = await withLeaseFolder();
    const lease = await storage().leases.acquire(NAME);
    await fs.rm(folder, { recursive: true });
    expect(await codeOf(lease.check())).toBe('LEASE_LOST');
    expect(await codeOf(lease.renew())).toBe('LEASE_LOST');
  });
});

describe('a fault while a lease is taken', () => {
  const calls = ['open:create', 'write', 'datasync', 'close', 'link', 'unlink', 'syncFolder', 'makeFolder'];
  it.each(calls)('in %s leaves it free for the next try', async (call) => {
    const { storage } = await fileFixture();
    const disk = new ProbeFileSystem();
    const store = storage({ fileSystem: disk });
    disk.failNext(call, 'EIO');
    const first = await codeOf(store.leases.acquire(NAME));
    expect(first).toMatch(/STORAGE_FAILED|nothing was thrown/);
    disk.verdict = () => null;
    if (first === 'STORAGE_FAILED') expect((await store.leases.acquire(NAME)).takenOver).toBe(false);
    expect(await codeOf(store.leases.acquire(NAME))).toBe('LEASE_HELD');
    expect(disk.openDescriptors).toBe(0);
  });

  it('in its release is told, and the lease ends with its life', async () => {
    const { storage, clock } = await fileFixture();
    const disk = new ProbeFileSystem();
    const store = storage({ fileSystem: disk, clock });
    const lease = await store.leases.acquire(NAME, { ttlMs: TTL_MS });
    disk.failNext('open:create', 'EIO');
    expect(await codeOf(lease.release())).toBe('STORAGE_FAILED');
    expect(await codeOf(lease.check())).toBe('LEASE_LOST');
    clock.advance(TTL_MS + 1);
    expect((await store.leases.acquire(NAME)).takenOver).toBe(true);
  });
});

describe('clocks', () => {
  it('that differ between machines by less than the life change nothing', async () => {
    const { storage, clock } = await fileFixture();
    await storage({ identity: identityOf('unknown') }).leases.acquire(NAME, { ttlMs: TTL_MS });
    for (const skew of [-TTL_MS / 2, TTL_MS / 2]) {
      const other = storage({
        clock: new ManualClock(clock.nowMs() + skew),
        identity: identityOf('unknown'),
      });
      expect(await codeOf(other.leases.acquire(NAME))).toBe('LEASE_HELD');
    }
  });

  it.each([
    ['behind', -3_600_000],
    ['ahead', 3_600_000],
  ])('an hour %s do not keep an owner that has ended in power', async (_, skewMs) => {
    const { storage, clock } = await fileFixture();
    await storage({ identity: identityOf('unknown') }).leases.acquire(NAME, { ttlMs: TTL_MS });
    const contender = new ManualClock(clock.nowMs() + skewMs);
    const started = contender.nowMs();
    const other = storage({ clock: contender, identity: identityOf('unknown') });
    expect(await other.leases.acquire(NAME)).toMatchObject({ fence: 2, takenOver: true, unsafeFence: 1 });
    expect(contender.nowMs() - started).toBeGreaterThanOrEqual(TTL_MS);
    expect(contender.nowMs() - started).toBeLessThan(1.5 * TTL_MS);
  });

  it.each([-3_600_000, 3_600_000])('that differ by %s ms do not rob an owner that beats', async (skewMs) => {
    const { storage } = await fileFixture();
    const skewed = { nowMs: () => Date.now() + skewMs };
    const owner = storage({ clock: skewed, identity: identityOf('unknown') });
    const lease = await owner.leases.acquire(NAME, { ttlMs: 300 });
    const other = storage({ clock: systemClock, identity: identityOf('unknown') });
    expect(await codeOf(other.leases.acquire(NAME))).toBe('LEASE_HELD');
    await lease.check();
  });
});

describe('an owner that is gone from this kernel', () => {
  it('has no file open any more: nothing is sealed because of it, unless an owner before may live', async () => {
    const { storage } = await fileFixture();
    await storage({ identity: identityOf('running') }).leases.acquire(NAME);
    const second = await storage({ identity: identityOf('gone') }).leases.acquire(NAME);
    expect(second).toMatchObject({ fence: 2, takenOver: true, unsafeFence: 0 });
    const third = await storage({ identity: identityOf('rebooted') }).leases.acquire(NAME);
    expect(third).toMatchObject({ fence: 3, takenOver: true, unsafeFence: 0 });
    const fourth = await storage({ identity: identityOf('running') }).leases.acquire(NAME, { force: true });
    expect(fourth).toMatchObject({ fence: 4, takenOver: true, unsafeFence: 3 });
    const fifth = await storage({ identity: identityOf('gone') }).leases.acquire(NAME);
    expect(fifth).toMatchObject({ fence: 5, takenOver: true, unsafeFence: 3 });
  });
});

describe('the line between processes', () => {
  const ticket = 'waiting-000000000000001-0123456789abcdef.json';

  async function withTicket(state: ReturnType<ProcessIdentity['state']>) {
    const fixture = await withLeaseFolder();
    const store = fixture.storage({ identity: identityOf(state), clock: systemClock });
    await (await store.leases.acquire(NAME)).release();
    const owner = { pid: 1, processStart: '1', host: 'there', nonce: 'n' };
    await fs.writeFile(
      path.join(fixture.folder, ticket),
      JSON.stringify({ owner, ttl_ms: 3_000, unsafe_fence: 0 }),
    );
    return { ...fixture, store };
  }

  it('lets those go first who came first, and takes the place away with its owner', async () => {
    const { store, folder, files } = await withTicket('running');
    const waiting = store.leases.acquire(NAME, { waitMs: 10_000 });
    await sleep(100);
    expect((await files()).filter((name) => name.startsWith('waiting-'))).toHaveLength(2);
    await fs.rm(path.join(folder, ticket));
    await (await waiting).check();
    expect((await files()).filter((name) => name.startsWith('waiting-'))).toEqual([]);
  });

  it('does not wait for a process that is gone', async () => {
    const { store, files } = await withTicket('gone');
    await (await store.leases.acquire(NAME, { waitMs: 200 })).check();
    expect(await files()).not.toContain(ticket);
  });

  it('is passed by a caller that does not wait', async () => {
    const { store } = await withTicket('running');
    await (await store.leases.acquire(NAME)).check();
  });
});
