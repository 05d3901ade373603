/** The contract of `StorageBackend` as a whole: capabilities, names, watching, closing. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StorageChange } from '../ports.js';
import { AWKWARD_NAMES, REFUSED_NAMES } from './awkward-samples.js';
import { assertRejects, collect, contents, type Suite } from './conformance-kit.js';

export function backendConformance(suite: Suite): void {
  suite.group('backend: capabilities', () => {
    suite.test('are those that the target names', async ({ backend }) => {
      assert.deepEqual({ ...backend.capabilities }, { ...suite.capabilities });
    });
  });
  suite.group('backend: listNames', () => listNamesTests(suite));
  suite.group('backend: contents', () => contentsTests(suite));
  suite.group('backend: journal names', () => journalNameTests(suite));
  suite.group('backend: sweep', () => {
    suite.test('takes nothing away that is in use', async ({ backend }) => {
      await backend.documents.write(['agents', 'one', 'state'], 1);
      const { digest } = await backend.blobs(['agents', 'one', 'artifacts']).put(Buffer.from('a'));
      assert.equal(await backend.sweep(['agents', 'one']), 0);
      assert.equal(await backend.sweep(['agents', 'absent']), 0);
      assert.equal((await backend.documents.read(['agents', 'one', 'state']))?.value, 1);
      assert.ok(await backend.blobs(['agents', 'one', 'artifacts']).has(digest));
      assert.deepEqual(await backend.listNames(['agents']), ['one']);
    });
  });
  suite.group('backend: watch', () => watchTests(suite));
  suite.group('backend: close', () => closeTests(suite));
}

function listNamesTests(suite: Suite): void {
  suite.test('tells nothing of an empty store', async ({ backend }) => {
    assert.deepEqual(await backend.listNames([]), []);
    assert.deepEqual(await backend.listNames(['agents']), []);
  });

  suite.test(
    'tells the segments under which journals, documents or blobs are, sorted',
    async ({ backend }) => {
      const journal = await backend.openJournal(['agents', 'journal', 'traces']);
      await journal.append([{ n: 1 }]);
      await backend.documents.write(['agents', 'document', 'deep', 'state'], 1);
      await backend.blobs(['agents', 'blob', 'artifacts']).put(Buffer.from('a'));
      await backend.documents.write(['others', 'x', 'state'], 1);
      assert.deepEqual(await backend.listNames(['agents']), ['blob', 'document', 'journal']);
      assert.deepEqual(await backend.listNames([]), ['agents', 'others']);
    },
  );

  suite.test('decodes awkward names', async ({ backend }) => {
    for (const name of AWKWARD_NAMES) await backend.documents.write(['agents', name, 'state'], name);
    assert.deepEqual(await backend.listNames(['agents']), [...AWKWARD_NAMES].sort());
  });

  suite.persistent('tells the same when the store is opened again', async (store) => {
    for (const name of AWKWARD_NAMES) await store.backend.documents.write(['agents', name, 'state'], name);
    assert.deepEqual(await (await store.reopen()).listNames(['agents']), [...AWKWARD_NAMES].sort());
  });
}

function contentsTests(suite: Suite): void {
  suite.test('tells nothing of an empty store', async ({ backend }) => {
    assert.deepEqual(await collect(backend.contents([])), []);
    assert.deepEqual(await collect(backend.contents(['agents', 'one'])), []);
  });

  suite.test(
    'tells every journal, document and scope of blobs, by name, and no lease',
    async ({ backend }) => {
      const journal = await backend.openJournal(['agents', 'one', 'traces']);
      await journal.append([{ n: 1 }]);
      await journal.archiveBefore(2);
      await journal.append([{ n: 2 }]);
      await backend.documents.write(['agents', 'one', 'state.json'], 1);
      await backend.documents.write(['agents', 'one', 'deep', 'er', 'state'], 1);
      await backend.blobs(['agents', 'one', 'artifacts']).put(Buffer.from('a'));
      await backend.leases.acquire(['agents', 'two']);
      await backend.documents.write(['others', 'x'], 1);
      const below = (kind: string, ...name: string[]) => ({ kind, name: ['agents', 'one', ...name] });
      const expected = [
        below('blobs', 'artifacts'),
        below('document', 'deep', 'er', 'state'),
        below('document', 'state.json'),
        below('journal', 'traces'),
      ];
      assert.deepEqual(await collect(backend.contents(['agents', 'one'])), expected);
      assert.deepEqual(await collect(backend.contents(['agents'])), expected);
      assert.deepEqual(await collect(backend.contents(['agents', 'one', 'artifacts'])), []);
      const others = { kind: 'document', name: ['others', 'x'] };
      assert.deepEqual(await collect(backend.contents([])), [...expected, others]);
    },
  );

  suite.test('tells a journal also when all its records were removed', async ({ backend }) => {
    const journal = await backend.openJournal(['agents', 'one', 'traces']);
    await journal.append([{ n: 1 }]);
    await journal.removeBefore(2);
    assert.deepEqual(await collect(backend.contents([])), [
      { kind: 'journal', name: ['agents', 'one', 'traces'] },
    ]);
  });

  suite.test('decodes awkward names', async ({ backend }) => {
    for (const name of AWKWARD_NAMES) await backend.documents.write(['docs', name, 'state'], name);
    const names = (await collect(backend.contents(['docs']))).map(({ name }) => name[1]);
    assert.deepEqual(names.sort(), [...AWKWARD_NAMES].sort());
  });
}

function journalNameTests(suite: Suite): void {
  suite.test('are kept apart, also in letter case and spelling', async ({ backend }) => {
    const lease = await backend.leases.acquire(['agents']);
    for (const name of AWKWARD_NAMES) {
      const journal = await backend.openJournal(['agents', name, name], { lease });
      await journal.append([{ name }]);
      await journal.close();
    }
    for (const name of AWKWARD_NAMES) {
      const reader = await backend.openJournal(['agents', name, name], { readOnly: true });
      assert.deepEqual(await contents(reader), [{ name }]);
    }
  });

  suite.test('that cannot be stored are refused with INVALID_NAME, and nothing is touched', async (store) => {
    for (const bad of REFUSED_NAMES) {
      for (const name of [[bad], ['agents', bad], [bad, 'traces'], ['agents', bad, 'traces']]) {
        await assertRejects(store.backend.openJournal(name), 'INVALID_NAME');
        await assertRejects(store.backend.openJournal(name, { readOnly: true }), 'INVALID_NAME');
      }
    }
    assert.deepEqual(await store.backend.listNames([]), []);
  });

  suite.test('without a segment are refused with INVALID_ARGUMENT', async ({ backend }) => {
    await assertRejects(backend.openJournal([]), 'INVALID_ARGUMENT');
    assert.deepEqual(await backend.listNames([]), []);
  });
}

function watchTests(suite: Suite): void {
  suite.test('tells a change below the prefix, and none beside it', async ({ backend }) => {
    const changes: StorageChange[] = [];
    const end = await backend.watch(['agents', 'one'], (change) => changes.push(change));
    await backend.documents.write(['agents', 'two', 'other'], 1);
    await backend.documents.write(['agents', 'one', 'state'], 1);
    await until(() => changes.some((change) => change.path === 'state'));
    assert.ok(changes.every((change) => !change.path.includes('other')));
    await end();
  });

  suite.test('tells a change of a journal', async ({ backend }) => {
    const changes: StorageChange[] = [];
    const end = await backend.watch(['agents'], (change) => changes.push(change));
    const journal = await backend.openJournal(['agents', 'one', 'traces']);
    await journal.append([{ n: 1 }]);
    await until(() => changes.some((change) => change.path.startsWith('one/traces')));
    await end();
  });

  suite.test('tells nothing after its end', async ({ backend }) => {
    const changes: StorageChange[] = [];
    const end = await backend.watch(['agents'], (change) => changes.push(change));
    await end();
    await backend.documents.write(['agents', 'one', 'state'], 1);
    await sleep(100);
    assert.deepEqual(changes, []);
  });

  suite.multiProcess('tells a change by another process', async (store) => {
    const changes: StorageChange[] = [];
    const end = await store.backend.watch(['agents'], (change) => changes.push(change));
    await (await store.openAnother()).documents.write(['agents', 'one', 'state'], 1);
    await until(() => changes.some((change) => change.path === 'one/state'));
    await end();
  });
}

function closeTests(suite: Suite): void {
  suite.test('ends journals and their own leases', async (store) => {
    const journal = await store.backend.openJournal(['agents', 'one', 'traces']);
    const appended = journal.append([{ n: 1 }]);
    await store.backend.close();
    assert.equal((await appended).seq, 1);
    await assertRejects(journal.append([{ n: 2 }]), 'JOURNAL_CLOSED');
  });

  suite.test('may be called twice', async ({ backend }) => {
    await backend.openJournal(['agents', 'one', 'traces']);
    await backend.close();
    await backend.close();
  });

  suite.persistent('keeps everything', async (store) => {
    const journal = await store.backend.openJournal(['agents', 'one', 'traces']);
    await journal.append([{ n: 1 }]);
    await store.backend.documents.write(['agents', 'one', 'state'], 'kept');
    const again = await store.reopen();
    const reopened = await again.openJournal(['agents', 'one', 'traces']);
    assert.deepEqual(await contents(reopened), [{ n: 1 }]);
    assert.equal((await again.documents.read(['agents', 'one', 'state']))?.value, 'kept');
  });
}

async function until(condition: () => boolean, limitMs = 4_000): Promise<void> {
  const start = Date.now();
  while (!condition()) {
    assert.ok(Date.now() - start < limitMs, 'the expected change was not told in time');
    await sleep(10);
  }
}
