/** The contract of `Journal`. See also `journal-read-conformance.ts` and `journal-fencing-conformance.ts`. */
import assert from 'node:assert/strict';
import type { JsonObject } from '../../core/json.js';
import { RECORD_BYTES_MAX } from '../../core/limits.js';
import { awkwardRecords } from './awkward-samples.js';
import {
  appendNumbers,
  assertRejects,
  contents,
  type Numbered,
  numbers,
  recordEntries,
  type Suite,
} from './conformance-kit.js';

const NAME = ['agents', 'one', 'traces'];

export function journalConformance(suite: Suite): void {
  suite.group('journal: append', () => appendTests(suite));
  suite.group('journal: expectedSeq', () => expectedSeqTests(suite));
  suite.group('journal: what is no record', () => refusalTests(suite));
  suite.group('journal: values', () => valueTests(suite));
  suite.group('journal: secure', () => secureTests(suite));
  suite.group('journal: close', () => closeTests(suite));
}

function secureTests(suite: Suite): void {
  suite.test('makes durable what is there, and changes nothing', async ({ backend }) => {
    const journal = await backend.openJournal<Numbered>(NAME);
    await journal.secure();
    assert.equal((await journal.head()).seq, 0);
    await appendNumbers(journal, 1, 2);
    await journal.secure();
    await journal.append([{ n: 3 }]);
    assert.deepEqual(await contents(journal), numbers(1, 3));
  });

  suite.persistent('makes durable what an owner before left, and is refused to readers', async (store) => {
    await appendNumbers(await store.backend.openJournal<Numbered>(NAME), 1, 2);
    const again = await store.reopen();
    const reader = await again.openJournal<Numbered>(NAME, { readOnly: true });
    await assertRejects(reader.secure(), 'JOURNAL_CLOSED');
    const journal = await again.openJournal<Numbered>(NAME);
    await journal.secure();
    assert.deepEqual(await contents(journal), numbers(1, 2));
    assert.equal((await journal.append([{ n: 3 }])).seq, 3);
  });
}

function appendTests(suite: Suite): void {
  suite.test('numbers records from 1 without gaps', async ({ backend }) => {
    const journal = await backend.openJournal<Numbered>(NAME);
    const results = [];
    for (const n of [1, 2, 3]) results.push(await journal.append([{ n }]));
    assert.deepEqual(
      results.map((result) => result.seq),
      [1, 2, 3],
    );
  });

  suite.test('gives several records of one call consecutive numbers and returns the last', async (store) => {
    const journal = await store.backend.openJournal<Numbered>(NAME);
    assert.equal((await journal.append(numbers(1, 3))).seq, 3);
    assert.equal((await journal.append(numbers(4, 5))).seq, 5);
    const entries = await recordEntries(journal.read());
    assert.deepEqual(
      entries.map((entry) => [entry.seq, entry.record.n]),
      [1, 2, 3, 4, 5].map((n) => [n, n]),
    );
  });

  suite.test('keeps the order in which concurrent calls were made', async ({ backend }) => {
    const journal = await backend.openJournal<Numbered>(NAME);
    const results = await Promise.all(numbers(1, 200).map((record) => journal.append([record])));
    assert.deepEqual(
      results.map((result) => result.seq),
      numbers(1, 200).map(({ n }) => n),
    );
    assert.deepEqual(await contents(journal), numbers(1, 200));
  });

  suite.test('returns the place and the checksum under which the record is read', async ({ backend }) => {
    const journal = await backend.openJournal<Numbered>(NAME);
    await appendNumbers(journal, 1, 3);
    const result = await journal.append([{ n: 4 }, { n: 5 }]);
    const last = (await recordEntries(journal.read())).at(-1)!;
    assert.deepEqual({ seq: last.seq, cursor: last.cursor, crc: last.crc }, { ...result });
  });

  suite.test('has the last acknowledged record as its head', async ({ backend }) => {
    const journal = await backend.openJournal<Numbered>(NAME);
    assert.deepEqual(await journal.head(), { seq: 0, cursor: null, crc: null });
    const result = await journal.append([{ n: 1 }, { n: 2 }]);
    assert.deepEqual({ ...(await journal.head()) }, { ...result });
  });

  suite.test('keeps what the record was when append was called', async ({ backend }) => {
    const journal = await backend.openJournal<JsonObject>(NAME);
    const record = { list: ['before'] };
    const appended = journal.append([record]);
    record.list.push('after');
    await appended;
    assert.deepEqual(await contents(journal), [{ list: ['before'] }]);
  });

  suite.test('shares nothing between journals of different names', async ({ backend }) => {
    const names = [NAME, ['agents', 'one', 'other'], ['agents', 'two', 'traces'], ['traces']];
    for (const name of names) {
      const journal = await backend.openJournal<JsonObject>(name);
      assert.equal((await journal.append([{ name }])).seq, 1);
    }
    for (const name of names) {
      const reader = await backend.openJournal<JsonObject>(name, { readOnly: true });
      assert.deepEqual(await contents(reader), [{ name }]);
    }
  });

  suite.test('has no damage to report after a clean opening', async ({ backend }) => {
    const journal = await backend.openJournal<Numbered>(NAME);
    await appendNumbers(journal, 1, 2);
    await journal.close();
    assert.deepEqual((await backend.openJournal(NAME)).openingDamage(), []);
  });

  suite.persistent('continues where it was when it is opened again', async (store) => {
    const before = await store.backend.openJournal<Numbered>(NAME);
    await appendNumbers(before, 1, 3);
    const head = await before.head();
    const after = await (await store.reopen()).openJournal<Numbered>(NAME);
    assert.deepEqual(await after.head(), head);
    assert.equal((await after.append([{ n: 4 }])).seq, 4);
    assert.deepEqual(await contents(after), numbers(1, 4));
  });
}

function expectedSeqTests(suite: Suite): void {
  suite.test('appends when expectedSeq is the head', async ({ backend }) => {
    const journal = await backend.openJournal<Numbered>(NAME);
    assert.equal((await journal.append([{ n: 1 }], { expectedSeq: 0 })).seq, 1);
    assert.equal((await journal.append([{ n: 2 }], { expectedSeq: 1 })).seq, 2);
  });

  suite.test('refuses with JOURNAL_CONFLICT, and writes nothing, when it is not', async ({ backend }) => {
    const journal = await backend.openJournal<Numbered>(NAME);
    await appendNumbers(journal, 1, 2);
    for (const expectedSeq of [0, 1, 3]) {
      await assertRejects(journal.append([{ n: 9 }], { expectedSeq }), 'JOURNAL_CONFLICT');
    }
    assert.deepEqual(await contents(journal), numbers(1, 2));
    assert.equal((await journal.append([{ n: 3 }])).seq, 3);
  });

  suite.test('counts appends that were called before', async ({ backend }) => {
    const journal = await backend.openJournal<Numbered>(NAME);
    const [first, refused, second] = await Promise.allSettled([
      journal.append(numbers(1, 2), { expectedSeq: 0 }),
      journal.append([{ n: 9 }], { expectedSeq: 0 }),
      journal.append([{ n: 3 }], { expectedSeq: 2 }),
    ]);
    assert.deepEqual([first.status, refused.status, second.status], ['fulfilled', 'rejected', 'fulfilled']);
    assert.deepEqual(await contents(journal), numbers(1, 3));
  });
}

function refusalTests(suite: Suite): void {
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;
  const bad: [string, unknown][] = [
    ['a list', [1]],
    ['null', null],
    ['a text', 'text'],
    ['a number', 1],
    ['undefined', undefined],
    ['a date, which JSON makes a text', new Date(0)],
    ['an object that JSON makes a list', { toJSON: () => [1] }],
    ['an object that JSON leaves out', { toJSON: () => undefined }],
    ['an object with a cycle', cyclic],
    ['an object with a big integer', { big: 1n }],
    ['an object whose getter throws', Object.defineProperty({}, 'x', { enumerable: true, get: fail })],
    ['an object with the key _seq', { _seq: 1 }],
    ['an object with the key _crc', { n: 1, _crc: 'x' }],
    ['an object with the key _segment', { _segment: 1 }],
  ];
  for (const [title, value] of bad) {
    suite.test(`refuses ${title} with INVALID_ARGUMENT before anything is written`, async ({ backend }) => {
      const journal = await backend.openJournal<JsonObject>(NAME);
      const records = [{ n: 1 }, value] as JsonObject[];
      await assertRejects(journal.append(records), 'INVALID_ARGUMENT');
      assert.deepEqual(await contents(journal), []);
      assert.equal((await journal.append([{ n: 2 }])).seq, 1);
      assert.deepEqual(await contents(journal), [{ n: 2 }]);
    });
  }

  suite.test('refuses an append of no records', async ({ backend }) => {
    const journal = await backend.openJournal<JsonObject>(NAME);
    await assertRejects(journal.append([]), 'INVALID_ARGUMENT');
  });

  suite.test('refuses a record beyond the size limit', async ({ backend }) => {
    const journal = await backend.openJournal<JsonObject>(NAME);
    await assertRejects(journal.append([{ text: 'x'.repeat(RECORD_BYTES_MAX) }]), 'INVALID_ARGUMENT');
    assert.equal((await journal.head()).seq, 0);
  });

  suite.test('accepts the reserved keys inside a nested object', async ({ backend }) => {
    const journal = await backend.openJournal<JsonObject>(NAME);
    const record = { inner: { _seq: 7, _crc: '00000000', _segment: 1 } };
    await journal.append([record]);
    assert.deepEqual(await contents(journal), [record]);
  });
}

function valueTests(suite: Suite): void {
  for (const [title, record] of awkwardRecords()) {
    suite.test(`returns ${title} exactly`, async ({ backend }) => {
      const journal = await backend.openJournal<JsonObject>(NAME);
      await journal.append([record, { after: true }]);
      const read = await contents(journal);
      assert.deepEqual(read, [record, { after: true }]);
      assert.equal(JSON.stringify(read[0]), JSON.stringify(record));
    });
  }

  suite.persistent('returns all of them exactly after it was opened again', async (store) => {
    const records = awkwardRecords().map(([, record]) => record);
    const journal = await store.backend.openJournal<JsonObject>(NAME);
    for (const record of records) await journal.append([record]);
    const again = await (await store.reopen()).openJournal<JsonObject>(NAME);
    assert.deepEqual(JSON.stringify(await contents(again)), JSON.stringify(records));
  });
}

function closeTests(suite: Suite): void {
  suite.test('waits for appends under way', async ({ backend }) => {
    const journal = await backend.openJournal<Numbered>(NAME);
    const appended = journal.append([{ n: 1 }]);
    await journal.close();
    assert.equal((await appended).seq, 1);
  });

  suite.test('refuses appends and archiving afterwards with JOURNAL_CLOSED', async ({ backend }) => {
    const journal = await backend.openJournal<Numbered>(NAME);
    await appendNumbers(journal, 1, 2);
    await journal.close();
    await assertRejects(journal.append([{ n: 3 }]), 'JOURNAL_CLOSED');
    await assertRejects(journal.archiveBefore(3), 'JOURNAL_CLOSED');
    const reader = await backend.openJournal<Numbered>(NAME, { readOnly: true });
    assert.deepEqual(await contents(reader), numbers(1, 2));
  });

  suite.test('may be called twice', async ({ backend }) => {
    const journal = await backend.openJournal<Numbered>(NAME);
    await journal.close();
    await journal.close();
  });
}

function fail(): never {
  throw new RangeError('a getter that throws');
}
