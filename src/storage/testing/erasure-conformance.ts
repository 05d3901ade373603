/** The contract of removing data for good: `places`, `removeBelow`, `scrub`, `Leases.list` and `Journal.erase`. */
import assert from 'node:assert/strict';
import type { Name, StorageBackend, StoredPlace } from '../ports.js';
import {
  appendNumbers,
  assertRejects,
  collect,
  contents,
  type Numbered,
  recordEntries,
  type Suite,
} from './conformance-kit.js';

const ONE: Name = ['agents', 'one'];
const TWO: Name = ['agents', 'two'];

export function erasureConformance(suite: Suite): void {
  suite.group('backend: removeBelow', () => {
    removalTests(suite);
    rightTests(suite);
  });
  suite.group('leases: list', () => leaseListTests(suite));
  suite.group('journal: erase', () => eraseTests(suite));
}

async function fill(backend: StorageBackend, name: Name): Promise<void> {
  const lease = await backend.leases.acquire(name);
  const journal = await backend.openJournal<Numbered>([...name, 'traces'], { lease });
  await appendNumbers(journal, 1, 3);
  await journal.archiveBefore(3);
  await journal.close();
  await backend.documents.write([...name, 'state'], 'kept');
  await backend.documents.write([...name, 'deep', 'state'], 1);
  await backend.documents.setAside([...name, 'state'], 'damaged');
  await backend.documents.write([...name, 'state'], 'kept');
  await backend.blobs([...name, 'artifacts']).put(Buffer.from('the same in both'));
  await lease.release();
}

function totals(places: readonly StoredPlace[]): { readonly items: number; readonly bytes: number } {
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return { items: sum(places.map(({ items }) => items)), bytes: sum(places.map(({ bytes }) => bytes)) };
}

function removalTests(suite: Suite): void {
  suite.test('takes away all that `places` tells, and nothing beside it', async ({ backend }) => {
    await fill(backend, ONE);
    await fill(backend, TWO);
    const before = totals(await collect(backend.places(TWO)));
    const places = await collect(backend.places(ONE));
    assert.ok(places.every(({ place }) => place.startsWith('agents/one/')));
    for (const kind of ['journal', 'document', 'blobs'])
      assert.ok(
        places.some((place) => place.kind === kind && place.items > 0 && place.bytes > 0),
        kind,
      );
    await backend.removeBelow(ONE, await backend.leases.acquire(ONE));
    assert.deepEqual(await collect(backend.places(ONE)), []);
    assert.deepEqual(await collect(backend.contents(ONE)), []);
    assert.deepEqual(totals(await collect(backend.places(TWO))), before);
    const other = await backend.openJournal<Numbered>([...TWO, 'traces'], { readOnly: true });
    assert.equal((await recordEntries(other.read({ archived: true }))).length, 3);
    assert.equal((await collect(backend.blobs([...TWO, 'artifacts']).list())).length, 1);
    assert.equal((await backend.documents.read([...TWO, 'state']))?.value, 'kept');
  });

  suite.test('can be done again, also where nothing was', async ({ backend }) => {
    await fill(backend, ONE);
    const lease = await backend.leases.acquire(ONE);
    await backend.removeBelow(ONE, lease);
    await backend.removeBelow(ONE, lease);
    await backend.removeBelow(['agents', 'absent'], lease);
    await backend.scrub();
    await backend.scrub({ quick: true });
    assert.deepEqual(await collect(backend.places(['agents'])), []);
  });

  suite.test('leaves the name free, and the numbers of its owners go on', async ({ backend }) => {
    await fill(backend, ONE);
    const lease = await backend.leases.acquire(ONE);
    await backend.removeBelow(ONE, lease);
    await lease.release();
    await backend.scrub();
    await fill(backend, ONE);
    const next = await backend.leases.acquire(ONE);
    assert.ok(next.fence > lease.fence + 1);
    const journal = await backend.openJournal<Numbered>([...ONE, 'traces'], { lease: next });
    assert.equal((await journal.append([{ n: 4 }])).seq, 4);
  });

  suite.persistent('is the same when the store is opened again', async (store) => {
    await fill(store.backend, ONE);
    await fill(store.backend, TWO);
    await store.backend.removeBelow(ONE, await store.backend.leases.acquire(ONE));
    await store.backend.scrub();
    const again = await store.reopen();
    assert.deepEqual(await collect(again.places(ONE)), []);
    assert.equal((await again.documents.read([...TWO, 'state']))?.value, 'kept');
  });

  suite.multiProcess('is seen by another process, which may use the name again', async (store) => {
    const other = await store.openAnother();
    await fill(other, ONE);
    const lease = await store.backend.leases.acquire(ONE);
    await store.backend.removeBelow(ONE, lease);
    await lease.release();
    assert.equal(await other.documents.read([...ONE, 'state']), null);
    await fill(other, ONE);
    const journal = await other.openJournal<Numbered>([...ONE, 'traces'], { readOnly: true });
    assert.equal((await journal.head()).seq, 3);
  });
}

function rightTests(suite: Suite): void {
  suite.test('needs the lease: after a release nothing is taken away', async ({ backend }) => {
    await fill(backend, ONE);
    const before = totals(await collect(backend.places(ONE)));
    const lease = await backend.leases.acquire(ONE);
    await lease.release();
    await assertRejects(backend.removeBelow(ONE, lease), 'LEASE_LOST');
    assert.deepEqual(totals(await collect(backend.places(ONE))), before);
  });
}

function leaseListTests(suite: Suite): void {
  suite.test('tells the names at and below a prefix, also when they are free', async ({ backend }) => {
    const names = [ONE, [...ONE, 'state', 'plan.lease'], TWO, ['agents', 'one2']];
    for (const name of names) await (await backend.leases.acquire(name)).release();
    assert.deepEqual(await backend.leases.list(ONE), [ONE, [...ONE, 'state', 'plan.lease']]);
    assert.deepEqual(await backend.leases.list(TWO), [TWO]);
    assert.deepEqual(await backend.leases.list(['absent']), []);
  });
}

function eraseTests(suite: Suite): void {
  const name = [...ONE, 'traces'];

  suite.test('takes records away, archived ones too, and their numbers stay taken', async ({ backend }) => {
    const journal = await backend.openJournal<Numbered>(name);
    await appendNumbers(journal, 1, 6);
    await journal.archiveBefore(3);
    assert.equal(await journal.erase([2, 4, 99]), 2);
    const left = await recordEntries(journal.read({ archived: true }));
    assert.deepEqual(
      left.map(({ seq, record }) => [seq, record.n]),
      [1, 3, 5, 6].map((n) => [n, n]),
    );
    const backward = await recordEntries(journal.readBackward());
    assert.equal(backward[0]?.seq, 6);
    assert.ok(!backward.some(({ seq }) => seq === 4));
    assert.equal((await journal.append([{ n: 7 }])).seq, 7);
  });

  suite.test('takes the last ones away, and the next has a new number', async ({ backend }) => {
    const journal = await backend.openJournal<Numbered>(name);
    await appendNumbers(journal, 1, 3);
    assert.equal(await journal.erase([2, 3]), 2);
    assert.equal(await journal.erase([2, 3]), 0);
    assert.deepEqual(await contents(journal), [{ n: 1 }]);
    assert.equal((await journal.append([{ n: 4 }])).seq, 4);
    assert.deepEqual(await contents(journal), [{ n: 1 }, { n: 4 }]);
  });

  suite.test('takes all of them away', async ({ backend }) => {
    const journal = await backend.openJournal<Numbered>(name);
    await appendNumbers(journal, 1, 3);
    await journal.erase([1, 2, 3]);
    assert.deepEqual(await contents(journal), []);
    assert.deepEqual(await collect(journal.readBackward()), []);
    assert.equal((await journal.append([{ n: 4 }])).seq, 4);
  });

  suite.test('is refused to a reader', async ({ backend }) => {
    const journal = await backend.openJournal<Numbered>(name);
    await journal.append([{ n: 1 }]);
    await journal.close();
    const reader = await backend.openJournal<Numbered>(name, { readOnly: true });
    await assertRejects(reader.erase([1]), 'JOURNAL_CLOSED');
    assert.deepEqual(await contents(reader), [{ n: 1 }]);
  });

  suite.persistent('is the same when the store is opened again', async (store) => {
    const journal = await store.backend.openJournal<Numbered>(name);
    await appendNumbers(journal, 1, 3);
    await journal.erase([2]);
    await journal.close();
    const again = await (await store.reopen()).openJournal<Numbered>(name);
    assert.deepEqual(await contents(again), [{ n: 1 }, { n: 3 }]);
    assert.equal((await again.append([{ n: 4 }])).seq, 4);
  });
}
