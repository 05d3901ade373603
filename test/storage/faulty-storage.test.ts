import { describe, expect, it } from 'vitest';
import { RekindleError } from '../../src/core/errors.js';
import { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import {
  countCalls,
  type FaultPlan,
  failAt,
  failEvery,
  faultyStorage,
  loseAnswerAt,
  noFaults,
  type StorageFault,
  type StorageOperation,
} from '../../src/storage/testing/index.js';

const NAME = ['agents', 'one', 'traces'];
const DOCUMENT = ['agents', 'one', 'state'];

/** The first call of this operation meets the fault. */
function firstOf(operation: StorageOperation, fault: StorageFault): FaultPlan {
  let met = false;
  return (call) => {
    if (met || call.operation !== operation) return null;
    met = true;
    return fault;
  };
}

const full = new RekindleError('STORAGE_FULL', 'planned');
const records = async (storage: MemoryStorage) => {
  const journal = await storage.openJournal(NAME, { readOnly: true });
  const all: unknown[] = [];
  for await (const entry of journal.read()) all.push(entry.kind === 'record' ? entry.record : entry);
  return all;
};

describe('a faulty backend', () => {
  it('numbers the calls of all its ports in one line, and names them', async () => {
    const { plan, calls } = countCalls();
    const storage = faultyStorage(new MemoryStorage(), plan);
    const lease = await storage.leases.acquire(['agents', 'one']);
    const journal = await storage.openJournal(NAME, { lease });
    await journal.append([{ n: 1 }]);
    await storage.documents.write(DOCUMENT, 1);
    for await (const _ of journal.read()) break;
    await storage.close();
    expect(calls).toStrictEqual([
      { number: 1, operation: 'lease.acquire', name: ['agents', 'one'] },
      { number: 2, operation: 'journal.open', name: NAME },
      { number: 3, operation: 'journal.append', name: NAME },
      { number: 4, operation: 'document.write', name: DOCUMENT },
      { number: 5, operation: 'journal.read', name: NAME },
      { number: 6, operation: 'backend.close', name: [] },
    ]);
  });

  it('does not carry out a call that fails, and carries out the next', async () => {
    const inner = new MemoryStorage();
    const { documents } = faultyStorage(inner, failAt(1, 'STORAGE_FULL'));
    await expect(documents.write(DOCUMENT, 1)).rejects.toMatchObject({
      code: 'STORAGE_FULL',
      details: { number: 1, operation: 'document.write', name: DOCUMENT },
    });
    expect(await inner.documents.read(DOCUMENT)).toBeNull();
    await documents.write(DOCUMENT, 2);
    expect((await inner.documents.read(DOCUMENT))?.value).toBe(2);
  });

  it('carries out a call whose answer is lost, and says what cannot be known', async () => {
    const inner = new MemoryStorage();
    const journal = await faultyStorage(inner, loseAnswerAt(2)).openJournal(NAME);
    await expect(journal.append([{ n: 1 }])).rejects.toMatchObject({ code: 'JOURNAL_OUTCOME_UNKNOWN' });
    expect(await records(inner)).toStrictEqual([{ n: 1 }]);
    const { documents } = faultyStorage(inner, loseAnswerAt(1));
    await expect(documents.write(DOCUMENT, 1)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    expect((await inner.documents.read(DOCUMENT))?.value).toBe(1);
  });

  it('lets go of a lease, and of a journal with its lease, whose answer was lost', async () => {
    const storage = faultyStorage(new MemoryStorage(), (call) =>
      call.number <= 2 ? loseAnswerAt(call.number)(call) : null,
    );
    await expect(storage.leases.acquire(['a'])).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    await expect(storage.openJournal(NAME)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    await storage.leases.acquire(['a']);
    expect((await (await storage.openJournal(NAME)).append([{ n: 1 }])).seq).toBe(1);
  });

  it.each(['journal.close', 'lease.release'] as const)(
    'ends what %s was to end, also when it fails',
    async (end) => {
      const storage = faultyStorage(new MemoryStorage(), firstOf(end, { kind: 'fail', error: full }));
      const lease = await storage.leases.acquire(['a']);
      const journal = await storage.openJournal(NAME);
      const ended = end === 'journal.close' ? journal.close() : lease.release();
      await expect(ended).rejects.toBe(full);
      if (end === 'journal.close') await (await storage.openJournal(NAME)).close();
      else expect((await storage.leases.acquire(['a'])).takenOver).toBe(false);
    },
  );

  it('gives the answer later after a delay, and keeps the order of appends', async () => {
    const inner = new MemoryStorage();
    const storage = faultyStorage(inner, firstOf('journal.append', { kind: 'delay', ms: 30 }));
    const journal = await storage.openJournal(NAME);
    const answered: number[] = [];
    const append = async (n: number) => {
      await journal.append([{ n }]);
      answered.push(n);
    };
    await Promise.all([append(1), append(2)]);
    expect(answered).toStrictEqual([2, 1]);
    expect(await records(inner)).toStrictEqual([{ n: 1 }, { n: 2 }]);
  });

  it('gives the same faults for the same seed, about as many as were asked for', async () => {
    const run = async (seed: number) => {
      const { documents } = faultyStorage(new MemoryStorage(), failEvery(0.25, seed));
      const failed: number[] = [];
      for (let n = 0; n < 400; n += 1) await documents.read(DOCUMENT).catch(() => failed.push(n));
      return failed;
    };
    const failed = await run(7);
    expect(await run(7)).toStrictEqual(failed);
    expect(await run(8)).not.toStrictEqual(failed);
    expect(failed.length).toBeGreaterThan(60);
    expect(failed.length).toBeLessThan(140);
  });
});

describe('a lease that is lost by plan', () => {
  it.each(['lease.check', 'lease.renew', 'journal.append'] as const)(
    'is lost for ever from a %s on, and free for the next owner',
    async (operation) => {
      const inner = new MemoryStorage();
      const storage = faultyStorage(inner, firstOf(operation, { kind: 'lose-lease' }));
      const lease = await storage.leases.acquire(['agents', 'one']);
      const journal = await storage.openJournal(NAME, { lease });
      const calls = {
        'lease.check': () => lease.check(),
        'lease.renew': () => lease.renew(),
        'journal.append': () => journal.append([{ n: 1 }]),
      };
      await expect(calls[operation]()).rejects.toMatchObject({ code: 'LEASE_LOST' });
      expect(lease.held).toBe(false);
      expect(lease.lost.reason).toMatchObject({ code: 'LEASE_LOST' });
      for (const again of Object.values(calls))
        await expect(again()).rejects.toMatchObject({ code: 'LEASE_LOST' });
      expect(await records(inner)).toStrictEqual([]);
      const next = await storage.leases.acquire(['agents', 'one']);
      expect(next.fence).toBeGreaterThan(lease.fence);
      await lease.release();
      await next.check();
    },
  );

  it('may be the own lease of a journal, which is free once the journal is closed', async () => {
    const inner = new MemoryStorage();
    const storage = faultyStorage(inner, firstOf('journal.append', { kind: 'lose-lease' }));
    const journal = await storage.openJournal(NAME);
    for (const n of [1, 2])
      await expect(journal.append([{ n }])).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await journal.close();
    expect((await (await storage.openJournal(NAME)).append([{ n: 3 }])).seq).toBe(1);
    expect(await records(inner)).toStrictEqual([{ n: 3 }]);
  });

  it('is refused with INVALID_ARGUMENT for a call that has none', async () => {
    const { documents } = faultyStorage(new MemoryStorage(), () => ({ kind: 'lose-lease' }));
    await expect(documents.read(DOCUMENT)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  it('is taken by a backend that is faulty twice', async () => {
    const storage = faultyStorage(faultyStorage(new MemoryStorage(), noFaults), noFaults);
    const lease = await storage.leases.acquire(['agents', 'one']);
    const journal = await storage.openJournal(NAME, { lease });
    expect((await journal.append([{ n: 1 }])).seq).toBe(1);
  });
});
