/** The reading side of `Journal`: positions, limits, order, archive, read-only. */
import assert from 'node:assert/strict';
import type { JsonObject } from '../../core/json.js';
import type { Journal, StorageBackend } from '../ports.js';
import {
  appendNumbers,
  assertRejects,
  collect,
  contents,
  type Numbered,
  numbers,
  recordEntries,
  type Suite,
} from './conformance-kit.js';

const NAME = ['agents', 'one', 'traces'];

export function journalReadConformance(suite: Suite): void {
  suite.group('journal: read', () => readTests(suite));
  suite.group('journal: readBackward', () => readBackwardTests(suite));
  suite.group('journal: archiveBefore and removeBefore', () => archiveTests(suite));
  suite.group('journal: continueAfter', () => continueTests(suite));
  suite.group('journal: readOnly', () => readOnlyTests(suite));
}

async function withTen(backend: StorageBackend): Promise<Journal<Numbered>> {
  const journal = await backend.openJournal<Numbered>(NAME);
  await appendNumbers(journal, 1, 10);
  return journal;
}

async function seqs(entries: ReturnType<Journal<Numbered>['read']>): Promise<number[]> {
  return (await recordEntries(entries)).map((entry) => entry.seq);
}

function readTests(suite: Suite): void {
  suite.test('yields nothing from an empty journal', async ({ backend }) => {
    const journal = await backend.openJournal(NAME);
    assert.deepEqual(await collect(journal.read()), []);
    assert.deepEqual(await collect(journal.readBackward()), []);
  });

  suite.test('starts after a sequence number', async ({ backend }) => {
    const journal = await withTen(backend);
    assert.deepEqual(await seqs(journal.read({ after: 7 })), [8, 9, 10]);
    assert.deepEqual(await seqs(journal.read({ after: 0 })), await seqs(journal.read()));
    assert.deepEqual(await seqs(journal.read({ after: 10 })), []);
    assert.deepEqual(await seqs(journal.read({ after: 99 })), []);
  });

  suite.test('stops at a limit', async ({ backend }) => {
    const journal = await withTen(backend);
    assert.deepEqual(await seqs(journal.read({ limit: 3 })), [1, 2, 3]);
    assert.deepEqual(await seqs(journal.read({ after: 8, limit: 5 })), [9, 10]);
    assert.deepEqual(await seqs(journal.read({ limit: 0 })), []);
  });

  suite.test('starts at the record of a cursor, with the same numbers and places', async ({ backend }) => {
    const journal = await withTen(backend);
    const all = await recordEntries(journal.read());
    for (const [index, { cursor }] of all.entries()) {
      assert.deepEqual(await recordEntries(journal.read({ cursor })), all.slice(index));
    }
  });

  suite.test('takes the record at a cursor for the one after `after`', async ({ backend }) => {
    const journal = await withTen(backend);
    const { cursor } = (await recordEntries(journal.read()))[4]!;
    assert.deepEqual(await seqs(journal.read({ cursor, after: 4 })), [5, 6, 7, 8, 9, 10]);
    assert.deepEqual(await seqs(journal.read({ cursor, after: 4, limit: 2 })), [5, 6]);
  });

  suite.test('starts at the head when given its cursor', async ({ backend }) => {
    const journal = await withTen(backend);
    const { cursor } = await journal.head();
    assert.deepEqual(await seqs(journal.read({ cursor: cursor! })), [10]);
    assert.deepEqual(await seqs(journal.read({ cursor: cursor!, after: 9 })), [10]);
  });

  suite.test('refuses a cursor into a segment that is not there', async ({ backend }) => {
    const journal = await withTen(backend);
    const read = collect(journal.read({ cursor: { segment: 999, offset: 0 } }));
    await assertRejects(read, 'INVALID_ARGUMENT');
  });

  suite.test('sees what was acknowledged when it was called, and never a gap', async ({ backend }) => {
    const journal = await withTen(backend);
    const under = numbers(11, 60).map((record) => journal.append([record]));
    const seen = await seqs(journal.read());
    assert.ok(seen.length >= 10);
    assert.deepEqual(
      seen,
      seen.map((_, index) => index + 1),
    );
    await Promise.all(under);
  });

  suite.test('reads on when records are appended while the reader waits', async ({ backend }) => {
    const journal = await withTen(backend);
    const seen: number[] = [];
    for await (const entry of journal.read()) {
      assert.equal(entry.kind, 'record');
      if (entry.kind === 'record') seen.push(entry.seq);
      if (seen.length === 1) await appendNumbers(journal, 11, 40);
    }
    assert.deepEqual(
      seen.slice(0, 10),
      numbers(1, 10).map(({ n }) => n),
    );
    assert.deepEqual(
      seen,
      seen.map((_, index) => index + 1),
    );
  });

  suite.test('gives fresh copies', async ({ backend }) => {
    const journal = await backend.openJournal<JsonObject>(NAME);
    await journal.append([{ list: [1] }]);
    const [first] = await contents(journal);
    (first!['list'] as number[]).push(2);
    assert.deepEqual(await contents(journal), [{ list: [1] }]);
  });

  suite.persistent('accepts a cursor from before the store was opened again', async (store) => {
    const all = await recordEntries((await withTen(store.backend)).read());
    const journal = await (await store.reopen()).openJournal<Numbered>(NAME);
    for (const [index, { cursor }] of all.entries()) {
      assert.deepEqual(await recordEntries(journal.read({ cursor })), all.slice(index));
    }
  });
}

function readBackwardTests(suite: Suite): void {
  suite.test('yields the same entries from the newest to the oldest', async ({ backend }) => {
    const journal = await withTen(backend);
    const forward = await recordEntries(journal.read());
    assert.deepEqual(await recordEntries(journal.readBackward()), forward.reverse());
  });

  suite.test('can be left after the first entry', async ({ backend }) => {
    const journal = await withTen(backend);
    for await (const entry of journal.readBackward()) {
      assert.ok(entry.kind === 'record' && entry.seq === 10);
      break;
    }
    assert.equal((await journal.append([{ n: 11 }])).seq, 11);
  });
}

function archiveTests(suite: Suite): void {
  suite.test('takes records away from read, never one from seq on', async ({ backend }) => {
    const journal = await withTen(backend);
    await journal.archiveBefore(6);
    const seen = await seqs(journal.read());
    assert.ok(seen.length >= 5);
    assert.deepEqual(seen.slice(-5), [6, 7, 8, 9, 10]);
  });

  suite.test('takes all records away when all come before seq', async ({ backend }) => {
    const journal = await withTen(backend);
    await journal.archiveBefore(11);
    assert.deepEqual(await collect(journal.read()), []);
    assert.deepEqual(await collect(journal.readBackward()), []);
  });

  suite.test('keeps archived records readable, in one line with the others', async ({ backend }) => {
    const journal = await withTen(backend);
    const before = await recordEntries(journal.read());
    await journal.archiveBefore(11);
    await appendNumbers(journal, 11, 12);
    assert.deepEqual(await contents(journal), numbers(11, 12));
    const all = await recordEntries(journal.read({ archived: true }));
    assert.deepEqual(all.slice(0, 10), before);
    assert.deepEqual(
      all.map((entry) => entry.seq),
      numbers(1, 12).map(({ n }) => n),
    );
  });

  suite.test('never reuses a number', async ({ backend }) => {
    const journal = await withTen(backend);
    await journal.archiveBefore(11);
    await journal.archiveBefore(11);
    assert.equal((await journal.head()).seq, 10);
    assert.equal((await journal.append([{ n: 11 }], { expectedSeq: 10 })).seq, 11);
  });

  suite.test('does nothing when no record comes before seq', async ({ backend }) => {
    const journal = await withTen(backend);
    await journal.archiveBefore(1);
    await journal.archiveBefore(0);
    assert.deepEqual(await contents(journal), numbers(1, 10));
  });

  suite.test('keeps cursors of archived records good', async ({ backend }) => {
    const journal = await withTen(backend);
    const all = await recordEntries(journal.read());
    await journal.archiveBefore(11);
    const { cursor } = all[3]!;
    assert.deepEqual(await recordEntries(journal.read({ cursor, archived: true })), all.slice(3));
  });

  suite.test(
    'removes for good what removeBefore sets aside, and nothing from seq on',
    async ({ backend }) => {
      const journal = await withTen(backend);
      await journal.archiveBefore(3);
      await journal.removeBefore(11);
      await appendNumbers(journal, 11, 14);
      await journal.removeBefore(13);
      const all = await recordEntries(journal.read({ archived: true }));
      assert.deepEqual(
        all.slice(-2).map((entry) => entry.record),
        numbers(13, 14),
      );
      assert.ok(all.every((entry) => entry.seq > 10));
      assert.deepEqual(await recordEntries(journal.readBackward()), all.reverse());
    },
  );

  suite.persistent(
    'continues the numbers after all was removed and the store opened again',
    async (store) => {
      const before = await withTen(store.backend);
      const head = await before.head();
      await before.removeBefore(11);
      assert.equal((await before.head()).crc, head.crc);
      const journal = await (await store.reopen()).openJournal<Numbered>(NAME);
      assert.equal((await journal.head()).seq, 10);
      assert.deepEqual(await collect(journal.read({ archived: true })), []);
      assert.equal((await journal.append([{ n: 11 }])).seq, 11);
    },
  );

  suite.persistent('continues the numbers after the store was opened again', async (store) => {
    const before = await withTen(store.backend);
    await before.archiveBefore(11);
    const journal = await (await store.reopen()).openJournal<Numbered>(NAME);
    assert.equal((await journal.head()).seq, 10);
    assert.deepEqual(await collect(journal.read()), []);
    assert.equal((await journal.append([{ n: 11 }])).seq, 11);
    assert.deepEqual(
      (await recordEntries(journal.read({ archived: true }))).map((entry) => entry.record),
      numbers(1, 11),
    );
  });
}

function continueTests(suite: Suite): void {
  suite.test('begins after a number, as if those before had been removed', async ({ backend }) => {
    const journal = await backend.openJournal<Numbered>(NAME);
    await journal.continueAfter(7);
    assert.equal((await journal.head()).seq, 7);
    assert.equal((await journal.append([{ n: 8 }], { expectedSeq: 7 })).seq, 8);
    assert.deepEqual(await seqs(journal.read({ archived: true })), [8]);
    assert.deepEqual(await contents(journal), numbers(8, 8));
  });

  suite.test('is refused with JOURNAL_CONFLICT where there are, or were, records', async ({ backend }) => {
    const journal = await withTen(backend);
    await assertRejects(journal.continueAfter(20), 'JOURNAL_CONFLICT');
    await journal.removeBefore(11);
    await assertRejects(journal.continueAfter(20), 'JOURNAL_CONFLICT');
    assert.equal((await journal.append([{ n: 11 }])).seq, 11);
  });

  suite.persistent(
    'holds when the store is opened again, with and without a record after it',
    async (store) => {
      for (const last of ['with', 'without']) {
        const journal = await store.backend.openJournal<Numbered>(['journals', last]);
        await journal.continueAfter(7);
        if (last === 'with') await journal.append([{ n: 8 }]);
      }
      const again = await store.reopen();
      assert.equal(
        (await again.openJournal(['journals', 'with'], { readOnly: true })).openingDamage().length,
        0,
      );
      const journal = await again.openJournal<Numbered>(['journals', 'with']);
      assert.deepEqual(await contents(journal), numbers(8, 8));
      assert.equal((await journal.append([{ n: 9 }])).seq, 9);
      const empty = await again.openJournal<Numbered>(['journals', 'without']);
      assert.equal((await empty.head()).seq, 7);
      assert.equal((await empty.append([{ n: 8 }])).seq, 8);
    },
  );
}

function readOnlyTests(suite: Suite): void {
  suite.test('refuses to write with JOURNAL_CLOSED', async ({ backend }) => {
    await (await withTen(backend)).close();
    const reader = await backend.openJournal<Numbered>(NAME, { readOnly: true });
    await assertRejects(reader.append([{ n: 11 }]), 'JOURNAL_CLOSED');
    await assertRejects(reader.archiveBefore(5), 'JOURNAL_CLOSED');
    await assertRejects(reader.removeBefore(5), 'JOURNAL_CLOSED');
    assert.deepEqual(await contents(reader), numbers(1, 10));
  });

  suite.test('needs no lease, and leaves the writer alone', async ({ backend }) => {
    const journal = await withTen(backend);
    const reader = await backend.openJournal<Numbered>(NAME, { readOnly: true });
    assert.deepEqual(await reader.head(), await journal.head());
    assert.equal((await journal.append([{ n: 11 }])).seq, 11);
    await reader.close();
    assert.equal((await journal.append([{ n: 12 }])).seq, 12);
  });

  suite.test('sees what the writer appends later', async ({ backend }) => {
    const reader = await backend.openJournal<Numbered>(NAME, { readOnly: true });
    const journal = await withTen(backend);
    assert.deepEqual(await contents(reader), numbers(1, 10));
    await appendNumbers(journal, 11, 12);
    assert.deepEqual(await contents(reader), numbers(1, 12));
    assert.deepEqual(await recordEntries(reader.readBackward()), await recordEntries(journal.readBackward()));
    assert.deepEqual(await reader.head(), await journal.head());
  });

  suite.test('makes nothing when there is no journal', async ({ backend }) => {
    const reader = await backend.openJournal(NAME, { readOnly: true });
    assert.deepEqual(await collect(reader.read()), []);
    assert.deepEqual(await reader.head(), { seq: 0, cursor: null, crc: null });
    await reader.close();
    assert.deepEqual(await backend.listNames(['agents']), []);
  });

  suite.multiProcess('follows a writer of another process', async (store) => {
    const journal = await withTen(store.backend);
    const reader = await (await store.openAnother()).openJournal<Numbered>(NAME, { readOnly: true });
    assert.deepEqual(await contents(reader), numbers(1, 10));
    await journal.append([{ n: 11 }]);
    assert.deepEqual(await contents(reader), numbers(1, 11));
  });
}
