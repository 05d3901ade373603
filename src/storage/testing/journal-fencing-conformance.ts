/** A journal and its lease: there is one writer, and a fenced writer acknowledges nothing more. */
import assert from 'node:assert/strict';
import { isRekindleError } from '../../core/errors.js';
import {
  appendNumbers,
  assertRejects,
  contents,
  type Numbered,
  numbers,
  type Suite,
} from './conformance-kit.js';

const AGENT = ['agents', 'one'];
const NAME = [...AGENT, 'traces'];
/** Long, because heartbeats use the real clock and must not come in between on a slow machine. */
const TTL_MS = 30_000;

export function journalFencingConformance(suite: Suite): void {
  suite.group('journal: a lease of its own', () => ownLeaseTests(suite));
  suite.group('journal: a lease of the caller', () => givenLeaseTests(suite));
  suite.group('journal: take-over', () => takeOverTests(suite));
  suite.group('journal: removal', () => removalTests(suite));
}

function removalTests(suite: Suite): void {
  suite.test('takes the journal away, archived records too, and no other', async ({ backend }) => {
    const lease = await backend.leases.acquire(AGENT);
    const other = await backend.openJournal<Numbered>([...AGENT, 'traces2'], { lease });
    await other.append([{ n: 7 }]);
    const journal = await backend.openJournal<Numbered>(NAME, { lease });
    await appendNumbers(journal, 1, 3);
    await journal.archiveBefore(3);
    await journal.close();
    assert.equal(await backend.removeJournal(NAME, lease), true);
    assert.equal(await backend.removeJournal(NAME, lease), false);
    const again = await backend.openJournal<Numbered>(NAME, { lease });
    assert.equal((await again.head()).seq, 0);
    assert.equal((await again.append([{ n: 1 }])).seq, 1);
    assert.deepEqual(await contents(other), [{ n: 7 }]);
  });

  suite.test('needs the lease: after a take-over nothing is taken away', async (store) => {
    const lease = await store.backend.leases.acquire(AGENT, { ttlMs: TTL_MS });
    const journal = await store.backend.openJournal<Numbered>(NAME, { lease });
    await journal.append([{ n: 1 }]);
    await journal.close();
    await lease.release();
    await assertRejects(store.backend.removeJournal(NAME, lease), 'LEASE_LOST');
    assert.deepEqual(await contents(await store.backend.openJournal<Numbered>(NAME)), [{ n: 1 }]);
  });
}

function ownLeaseTests(suite: Suite): void {
  suite.test(
    'is taken when the caller gives none: a second opening meets LEASE_HELD',
    async ({ backend }) => {
      const journal = await backend.openJournal<Numbered>(NAME);
      await assertRejects(backend.openJournal(NAME), 'LEASE_HELD');
      assert.equal((await journal.append([{ n: 1 }])).seq, 1);
    },
  );

  suite.test('ends when the journal is closed', async ({ backend }) => {
    await (await backend.openJournal<Numbered>(NAME)).close();
    const journal = await backend.openJournal<Numbered>(NAME);
    assert.equal((await journal.append([{ n: 1 }])).seq, 1);
  });

  suite.test('is a different one for each journal', async ({ backend }) => {
    await backend.openJournal(NAME);
    await backend.openJournal([...AGENT, 'other']);
    await backend.openJournal(['agents', 'two', 'traces']);
  });

  suite.multiProcess('keeps another process out', async (store) => {
    await store.backend.openJournal(NAME);
    await assertRejects((await store.openAnother()).openJournal(NAME), 'LEASE_HELD');
  });
}

function givenLeaseTests(suite: Suite): void {
  suite.test('serves several journals', async ({ backend }) => {
    const lease = await backend.leases.acquire(AGENT);
    for (const last of ['traces', 'episodic', 'semantic']) {
      const journal = await backend.openJournal<Numbered>([...AGENT, last], { lease });
      assert.equal((await journal.append([{ n: 1 }])).seq, 1);
    }
  });

  suite.test('stays with the caller when the journal is closed', async ({ backend }) => {
    const lease = await backend.leases.acquire(AGENT);
    await (await backend.openJournal(NAME, { lease })).close();
    await lease.check();
    const journal = await backend.openJournal<Numbered>(NAME, { lease });
    assert.equal((await journal.append([{ n: 1 }])).seq, 1);
  });

  suite.test('continues the journal after an owner that released', async ({ backend }) => {
    for (const n of [1, 2, 3]) {
      const lease = await backend.leases.acquire(AGENT);
      const journal = await backend.openJournal<Numbered>(NAME, { lease });
      assert.equal((await journal.append([{ n }])).seq, n);
      await journal.close();
      await lease.release();
    }
    const reader = await backend.openJournal<Numbered>(NAME, { readOnly: true });
    assert.deepEqual(await contents(reader), numbers(1, 3));
  });

  suite.test('once released gives no right to append, also when nobody took it', async ({ backend }) => {
    const lease = await backend.leases.acquire(AGENT);
    const journal = await backend.openJournal<Numbered>(NAME, { lease });
    await journal.append([{ n: 1 }]);
    await lease.release();
    await assertRejects(journal.append([{ n: 2 }]), 'LEASE_LOST');
    const next = await backend.leases.acquire(AGENT);
    const again = await backend.openJournal<Numbered>(NAME, { lease: next });
    assert.equal((await again.append([{ n: 3 }])).seq, 2);
    await assertRejects(journal.append([{ n: 4 }]), 'LEASE_LOST');
    assert.deepEqual(await contents(again), [{ n: 1 }, { n: 3 }]);
  });
}

function takeOverTests(suite: Suite): void {
  suite.test('leaves the new owner all acknowledged records, and the next numbers', async (store) => {
    const { first, takeOver } = await suspended(store);
    await appendNumbers(first.journal, 1, 5);
    const second = await takeOver();
    assert.deepEqual(await contents(second.journal), numbers(1, 5));
    assert.equal((await second.journal.append([{ n: 6 }])).seq, 6);
    assert.deepEqual(await contents(second.journal), numbers(1, 6));
  });

  suite.test('makes the old owner meet LEASE_LOST, and nothing of its append is kept', async (store) => {
    const { first, takeOver } = await suspended(store);
    await appendNumbers(first.journal, 1, 2);
    const second = await takeOver();
    await second.journal.append([{ n: 3 }]);
    await assertRejects(first.journal.append([{ n: 99 }]), 'LEASE_LOST');
    await assertRejects(first.journal.append([{ n: 100 }, { n: 101 }]), 'LEASE_LOST');
    assert.equal((await second.journal.append([{ n: 4 }])).seq, 4);
    await second.journal.close();
    const reader = await store.backend.openJournal<Numbered>(NAME, { readOnly: true });
    const seen: number[] = [];
    for await (const entry of reader.read()) if (entry.kind === 'record') seen.push(entry.record.n);
    assert.deepEqual(seen, [1, 2, 3, 4]);
  });

  suite.test('holds when the old owner appends before the new one did', async (store) => {
    const { first, takeOver } = await suspended(store);
    await appendNumbers(first.journal, 1, 2);
    const second = await takeOver();
    await assertRejects(first.journal.append([{ n: 99 }]), 'LEASE_LOST');
    assert.equal((await second.journal.append([{ n: 3 }])).seq, 3);
    const seen: number[] = [];
    for await (const entry of second.journal.read()) if (entry.kind === 'record') seen.push(entry.record.n);
    assert.deepEqual(seen, [1, 2, 3]);
  });

  suite.test('aborts the old lease with LEASE_LOST as the reason', async (store) => {
    const { first, takeOver } = await suspended(store);
    assert.equal(first.lease.lost.aborted, false);
    await takeOver();
    await assertRejects(first.journal.append([{ n: 1 }]), 'LEASE_LOST');
    assert.equal(first.lease.lost.aborted, true);
    assert.ok(isRekindleError(first.lease.lost.reason, 'LEASE_LOST'));
  });

  suite.test('keeps the old owner from archiving', async (store) => {
    const { first, takeOver } = await suspended(store);
    await appendNumbers(first.journal, 1, 3);
    const second = await takeOver();
    await second.journal.append([{ n: 4 }]);
    await assertRejects(first.journal.archiveBefore(4), 'LEASE_LOST');
    assert.deepEqual(await contents(second.journal), numbers(1, 4));
  });

  suite.test('holds when an owner in between released without an append', async (store) => {
    const { first, takeOver } = await suspended(store);
    await appendNumbers(first.journal, 1, 2);
    const second = await takeOver();
    await second.journal.close();
    await second.lease.release();
    const third = await takeOver();
    assert.equal((await third.journal.append([{ n: 3 }])).seq, 3);
    await assertRejects(first.journal.append([{ n: 99 }]), 'LEASE_LOST');
    assert.equal((await third.journal.append([{ n: 4 }])).seq, 4);
    const seen: number[] = [];
    for await (const entry of third.journal.read()) if (entry.kind === 'record') seen.push(entry.record.n);
    assert.deepEqual(seen, [1, 2, 3, 4]);
  });

  suite.test('can follow on take-over', async (store) => {
    const { first, takeOver } = await suspended(store);
    const owners = [first];
    for (let n = 1; n <= 5; n += 1) {
      assert.equal((await owners.at(-1)!.journal.append([{ n }])).seq, n);
      owners.push(await takeOver());
    }
    for (const owner of owners.slice(0, -1)) {
      await assertRejects(owner.journal.append([{ n: 99 }]), 'LEASE_LOST');
    }
    assert.equal((await owners.at(-1)!.journal.append([{ n: 6 }])).seq, 6);
    const seen: number[] = [];
    for await (const entry of owners.at(-1)!.journal.read()) {
      if (entry.kind === 'record') seen.push(entry.record.n);
    }
    assert.deepEqual(seen, [1, 2, 3, 4, 5, 6]);
  });

  suite.test('needs none when the owner slept but nobody came', async (store) => {
    const { first } = await suspended(store);
    await first.journal.append([{ n: 1 }]);
    await store.passTime(TTL_MS * 100);
    assert.equal((await first.journal.append([{ n: 2 }])).seq, 2);
  });
}

/** An owner, and a way to take over from the newest one as if it were suspended. */
async function suspended(store: Parameters<Parameters<Suite['test']>[1]>[0]) {
  const own = async () => {
    const lease = await store.backend.leases.acquire(AGENT, { ttlMs: TTL_MS });
    return { lease, journal: await store.backend.openJournal<Numbered>(NAME, { lease }) };
  };
  const first = await own();
  const takeOver = async () => {
    await store.passTime(TTL_MS + 1);
    return own();
  };
  return { first, takeOver };
}
