/** The contract of `Leases`. */
import assert from 'node:assert/strict';
import { isRekindleError } from '../../core/errors.js';
import { AWKWARD_NAMES, REFUSED_NAMES } from './awkward-samples.js';
import { assertRejects, type Suite } from './conformance-kit.js';

const NAME = ['agents', 'one'];
/** Long, because heartbeats use the real clock and must not come in between on a slow machine. */
const TTL_MS = 30_000;

export function leasesConformance(suite: Suite): void {
  suite.group('leases: acquire and release', () => acquireTests(suite));
  suite.group('leases: take-over', () => takeOverTests(suite));
  suite.group('leases: waiting', () => waitingTests(suite));
  suite.group('leases: inspect', () => inspectTests(suite));
  suite.group('leases: names', () => nameTests(suite));
}

function acquireTests(suite: Suite): void {
  suite.test('gives a free lease, not taken over, with a positive fence', async ({ backend }) => {
    const lease = await backend.leases.acquire(NAME);
    assert.ok(Number.isSafeInteger(lease.fence) && lease.fence > 0);
    assert.equal(lease.takenOver, false);
    assert.equal(lease.lost.aborted, false);
    await lease.check();
    await lease.renew();
  });

  suite.test('refuses a held lease with LEASE_HELD and tells the owner', async ({ backend }) => {
    await backend.leases.acquire(NAME);
    await assert.rejects(backend.leases.acquire(NAME), (thrown: unknown) => {
      assert.ok(isRekindleError(thrown, 'LEASE_HELD'));
      const owner = thrown.details['owner'] as { pid?: unknown; host?: unknown };
      assert.equal(typeof owner.pid, 'number');
      assert.equal(typeof owner.host, 'string');
      return true;
    });
  });

  suite.test('gives a released lease to the next, with a higher fence', async ({ backend }) => {
    const fences: number[] = [];
    for (let owner = 0; owner < 4; owner += 1) {
      const lease = await backend.leases.acquire(NAME);
      assert.equal(lease.takenOver, false);
      fences.push(lease.fence);
      await lease.release();
    }
    assert.deepEqual(
      fences,
      fences.toSorted((a, b) => a - b),
    );
    assert.equal(new Set(fences).size, fences.length);
  });

  suite.test('lets exactly one of many contenders win', async ({ backend }) => {
    const contenders = Array.from({ length: 8 }, () => backend.leases.acquire(NAME));
    const results = await Promise.allSettled(contenders);
    const lost = results.filter((result) => result.status === 'rejected');
    assert.equal(lost.length, 7);
    for (const result of lost) assert.ok(isRekindleError(result.reason, 'LEASE_HELD'));
  });

  suite.test('is no longer held after release: check and renew meet LEASE_LOST', async ({ backend }) => {
    const lease = await backend.leases.acquire(NAME);
    await lease.release();
    await assertRejects(lease.check(), 'LEASE_LOST');
    await assertRejects(lease.renew(), 'LEASE_LOST');
  });

  suite.test('can be released twice, without harm to the next owner', async ({ backend }) => {
    const first = await backend.leases.acquire(NAME);
    await first.release();
    const second = await backend.leases.acquire(NAME);
    await first.release();
    await second.check();
    await assertRejects(backend.leases.acquire(NAME), 'LEASE_HELD');
  });

  suite.multiProcess('holds between processes', async (store) => {
    const another = await store.openAnother();
    const lease = await store.backend.leases.acquire(NAME);
    await assertRejects(another.leases.acquire(NAME), 'LEASE_HELD');
    await lease.release();
    assert.ok((await another.leases.acquire(NAME)).fence > lease.fence);
    await assertRejects(store.backend.leases.acquire(NAME), 'LEASE_HELD');
  });

  suite.persistent('keeps its fence growing when the store is opened again', async (store) => {
    const lease = await store.backend.leases.acquire(NAME);
    await lease.release();
    const again = await (await store.reopen()).leases.acquire(NAME);
    assert.ok(again.fence > lease.fence);
  });
}

function takeOverTests(suite: Suite): void {
  suite.test('happens only after the life of the lease', async (store) => {
    await store.backend.leases.acquire(NAME, { ttlMs: TTL_MS });
    await store.passTime(TTL_MS - 100);
    await assertRejects(store.backend.leases.acquire(NAME), 'LEASE_HELD');
    await store.passTime(200);
    const second = await store.backend.leases.acquire(NAME);
    assert.equal(second.takenOver, true);
  });

  suite.test('goes by the life that its owner chose', async (store) => {
    await store.backend.leases.acquire(NAME, { ttlMs: 100 * TTL_MS });
    await store.passTime(50 * TTL_MS);
    await assertRejects(store.backend.leases.acquire(NAME, { ttlMs: TTL_MS }), 'LEASE_HELD');
  });

  suite.test('is put off by a heartbeat', async (store) => {
    const lease = await store.backend.leases.acquire(NAME, { ttlMs: TTL_MS });
    for (let beat = 0; beat < 5; beat += 1) {
      await store.passTime(TTL_MS - 100);
      await lease.renew();
    }
    await assertRejects(store.backend.leases.acquire(NAME), 'LEASE_HELD');
  });

  suite.test('makes the old lease lost for ever', async (store) => {
    const first = await store.backend.leases.acquire(NAME, { ttlMs: TTL_MS });
    await store.passTime(TTL_MS + 1);
    const second = await store.backend.leases.acquire(NAME, { ttlMs: TTL_MS });
    assert.ok(second.fence > first.fence);
    await assertRejects(first.check(), 'LEASE_LOST');
    await assertRejects(first.renew(), 'LEASE_LOST');
    assert.ok(isRekindleError(first.lost.reason, 'LEASE_LOST'));
    await second.release();
    await assertRejects(first.check(), 'LEASE_LOST');
  });

  suite.test('is noticed also after several owners', async (store) => {
    const first = await store.backend.leases.acquire(NAME, { ttlMs: TTL_MS });
    for (let owner = 0; owner < 3; owner += 1) {
      await store.passTime(TTL_MS + 1);
      await store.backend.leases.acquire(NAME, { ttlMs: TTL_MS });
    }
    await assertRejects(first.check(), 'LEASE_LOST');
  });

  suite.test('is not disturbed by a release of the old owner', async (store) => {
    const first = await store.backend.leases.acquire(NAME, { ttlMs: TTL_MS });
    await store.passTime(TTL_MS + 1);
    const second = await store.backend.leases.acquire(NAME, { ttlMs: TTL_MS });
    await first.release();
    await second.check();
    await assertRejects(store.backend.leases.acquire(NAME), 'LEASE_HELD');
  });

  suite.test('does not happen by itself: a late owner still holds', async (store) => {
    const lease = await store.backend.leases.acquire(NAME, { ttlMs: TTL_MS });
    await store.passTime(100 * TTL_MS);
    await lease.check();
    await lease.renew();
    await assertRejects(store.backend.leases.acquire(NAME), 'LEASE_HELD');
  });

  suite.test('lets exactly one of many contenders win', async (store) => {
    await store.backend.leases.acquire(NAME, { ttlMs: TTL_MS });
    await store.passTime(TTL_MS + 1);
    const contenders = Array.from({ length: 8 }, () => store.backend.leases.acquire(NAME));
    const won = (await Promise.allSettled(contenders)).filter((result) => result.status === 'fulfilled');
    assert.equal(won.length, 1);
    assert.equal(won[0]!.value.takenOver, true);
  });
}

function waitingTests(suite: Suite): void {
  suite.test('gives the lease to a caller with waitMs once it is released', async ({ backend }) => {
    const first = await backend.leases.acquire(NAME);
    const waiting = backend.leases.acquire(NAME, { waitMs: 20_000 });
    await first.release();
    const second = await waiting;
    assert.equal(second.takenOver, false);
    assert.ok(second.fence > first.fence);
  });

  suite.test('lets callers of one process have it in the order of their calls', async ({ backend }) => {
    const first = await backend.leases.acquire(NAME);
    const order: number[] = [];
    const waiting = Array.from({ length: 6 }, async (_, index) => {
      const lease = await backend.leases.acquire(NAME, { waitMs: 20_000 });
      order.push(index);
      await lease.release();
    });
    await first.release();
    await Promise.all(waiting);
    assert.deepEqual(order, [0, 1, 2, 3, 4, 5]);
  });

  suite.test('ends with LEASE_HELD, and the owner, when the time is over', async ({ backend }) => {
    await backend.leases.acquire(NAME);
    const waiting = [1, 2].map(() => backend.leases.acquire(NAME, { waitMs: 40 }));
    for (const result of await Promise.allSettled(waiting)) {
      assert.ok(result.status === 'rejected' && isRekindleError(result.reason, 'LEASE_HELD'));
      assert.ok(result.reason.details['owner']);
    }
  });

  suite.test('ends with ABORTED when its signal says so, and leaves the line', async ({ backend }) => {
    const first = await backend.leases.acquire(NAME);
    const controller = new AbortController();
    const gone = backend.leases.acquire(NAME, { waitMs: 20_000, signal: controller.signal });
    const next = backend.leases.acquire(NAME, { waitMs: 20_000 });
    controller.abort();
    await assertRejects(gone, 'ABORTED');
    await first.release();
    await (await next).check();
  });

  suite.test('refuses a time that is none with INVALID_ARGUMENT', async ({ backend }) => {
    for (const waitMs of [-1, Number.NaN])
      await assertRejects(backend.leases.acquire(NAME, { waitMs }), 'INVALID_ARGUMENT');
    assert.equal(await backend.leases.inspect(NAME), null);
  });

  suite.multiProcess('ends when another process releases', async (store) => {
    const another = await store.openAnother();
    const first = await another.leases.acquire(NAME);
    const waiting = store.backend.leases.acquire(NAME, { waitMs: 20_000 });
    await first.release();
    await (await waiting).check();
  });

  suite.test('is not needed with force: a living owner is fenced off', async ({ backend }) => {
    const first = await backend.leases.acquire(NAME);
    const second = await backend.leases.acquire(NAME, { force: true });
    assert.equal(second.takenOver, true);
    await assertRejects(first.check(), 'LEASE_LOST');
    await second.check();
  });

  suite.test('is what a lease that this very process holds advises', async ({ backend }) => {
    await backend.leases.acquire(NAME);
    await assert.rejects(backend.leases.acquire(NAME), (thrown: unknown) => {
      assert.ok(isRekindleError(thrown, 'LEASE_HELD'));
      const text = 'Agent one is already open in this process. Close it first, or pass waitMs.';
      assert.equal(thrown.message, text);
      return true;
    });
  });
}

function inspectTests(suite: Suite): void {
  suite.test('tells null for a free lease, before and after an owner', async ({ backend }) => {
    assert.equal(await backend.leases.inspect(NAME), null);
    const lease = await backend.leases.acquire(NAME);
    await lease.release();
    assert.equal(await backend.leases.inspect(NAME), null);
  });

  suite.test('tells the fence, the owner, and whether it lives', async (store) => {
    const lease = await store.backend.leases.acquire(NAME, { ttlMs: TTL_MS });
    const seen = await store.backend.leases.inspect(NAME);
    assert.equal(seen?.fence, lease.fence);
    assert.equal(seen?.alive, true);
    assert.equal(typeof seen?.owner.nonce, 'string');
    await store.passTime(TTL_MS + 1);
    assert.equal((await store.backend.leases.inspect(NAME))?.alive, false);
  });
}

function nameTests(suite: Suite): void {
  suite.test(
    'keeps leases of different names apart, also in letter case and spelling',
    async ({ backend }) => {
      for (const name of AWKWARD_NAMES) await backend.leases.acquire(['agents', name]);
      for (const name of AWKWARD_NAMES) assert.ok(await backend.leases.inspect(['agents', name]));
    },
  );

  suite.test('refuses a name that cannot be stored with INVALID_NAME', async ({ backend }) => {
    for (const name of REFUSED_NAMES) {
      await assertRejects(backend.leases.acquire(['agents', name]), 'INVALID_NAME');
    }
    assert.deepEqual(await backend.listNames([]), []);
  });
}
