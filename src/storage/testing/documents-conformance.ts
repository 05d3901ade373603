/** The contract of `Documents`. */
import assert from 'node:assert/strict';
import { AWKWARD_NAMES, AWKWARD_VALUES, REFUSED_NAMES } from './awkward-samples.js';
import { assertRejects, type Suite } from './conformance-kit.js';

const NAME = ['agents', 'one', 'state.json'];

export function documentsConformance(suite: Suite): void {
  suite.group('documents: read and write', () => readWriteTests(suite));
  suite.group('documents: ifVersion', () => versionTests(suite));
  suite.group('documents: bytes', () => byteTests(suite));
  suite.group('documents: overwriteTail', () => overwriteTests(suite));
  suite.group('documents: setAside, delete, list', () => nameTests(suite));
  suite.group('documents: awkward names', () => awkwardNameTests(suite));
}

function readWriteTests(suite: Suite): void {
  suite.test('reads null where there is none', async ({ backend }) => {
    assert.equal(await backend.documents.read(NAME), null);
    assert.equal(await backend.documents.readBytes(NAME), null);
  });

  suite.test('reads what was written, with the version that write returned', async ({ backend }) => {
    const { version } = await backend.documents.write(NAME, { a: [1, 2] });
    assert.deepEqual(await backend.documents.read(NAME), { value: { a: [1, 2] }, version });
  });

  suite.test('replaces the whole value, also by a shorter one', async ({ backend }) => {
    await backend.documents.write(NAME, { long: 'x'.repeat(10_000) });
    await backend.documents.write(NAME, []);
    assert.deepEqual((await backend.documents.read(NAME))?.value, []);
  });

  for (const [title, value] of Object.entries(AWKWARD_VALUES)) {
    suite.test(`returns ${title} exactly`, async ({ backend }) => {
      await backend.documents.write(NAME, value);
      const read = await backend.documents.read(NAME);
      assert.equal(JSON.stringify(read?.value), JSON.stringify(value));
    });
  }

  suite.test('returns a text, a number and null as they are', async ({ backend }) => {
    for (const value of ['text', 0, -1.5, true, null]) {
      await backend.documents.write(NAME, value);
      assert.equal((await backend.documents.read(NAME))?.value, value);
    }
  });

  suite.test('gives fresh copies and keeps none of the caller', async ({ backend }) => {
    const value = { list: [1] };
    await backend.documents.write(NAME, value);
    value.list.push(2);
    const read = (await backend.documents.read(NAME))!.value as { list: number[] };
    read.list.push(3);
    assert.deepEqual((await backend.documents.read(NAME))?.value, { list: [1] });
  });

  suite.test('ends concurrent writes with one of them, whole', async ({ backend }) => {
    const values = Array.from({ length: 20 }, (_, n) => ({ n, text: String(n).repeat(1_000) }));
    await Promise.all(values.map((value) => backend.documents.write(NAME, value)));
    const read = (await backend.documents.read(NAME))!.value as { n: number };
    assert.deepEqual(read, values[read.n]);
  });

  suite.test('accepts the durability of a cache', async ({ backend }) => {
    await backend.documents.write(NAME, { n: 1 }, { durability: 'cache' });
    assert.deepEqual((await backend.documents.read(NAME))?.value, { n: 1 });
  });

  suite.test('refuses to read what is no JSON with DOCUMENT_DAMAGED, and leaves it', async ({ backend }) => {
    const bytes = Buffer.from('{"a":');
    await backend.documents.writeBytes(NAME, bytes);
    await assertRejects(backend.documents.read(NAME), 'DOCUMENT_DAMAGED');
    assert.deepEqual(Buffer.from((await backend.documents.readBytes(NAME))!), bytes);
  });

  suite.persistent('keeps value and version when the store is opened again', async (store) => {
    const { version } = await store.backend.documents.write(NAME, { a: 1 });
    const again = await store.reopen();
    assert.deepEqual(await again.documents.read(NAME), { value: { a: 1 }, version });
  });
}

function versionTests(suite: Suite): void {
  suite.test('writes when the version is the stored one', async ({ backend }) => {
    const first = await backend.documents.write(NAME, 1, { ifVersion: null });
    const second = await backend.documents.write(NAME, 2, { ifVersion: first.version });
    assert.notEqual(second.version, first.version);
    assert.equal((await backend.documents.read(NAME))?.value, 2);
  });

  suite.test('refuses another version with DOCUMENT_CONFLICT, and writes nothing', async ({ backend }) => {
    const first = await backend.documents.write(NAME, 1);
    await backend.documents.write(NAME, 2);
    await assertRejects(backend.documents.write(NAME, 3, { ifVersion: first.version }), 'DOCUMENT_CONFLICT');
    await assertRejects(backend.documents.write(NAME, 3, { ifVersion: 'made up' }), 'DOCUMENT_CONFLICT');
    assert.equal((await backend.documents.read(NAME))?.value, 2);
  });

  suite.test('takes null for "must not exist"', async ({ backend }) => {
    await backend.documents.write(NAME, 1, { ifVersion: null });
    await assertRejects(backend.documents.write(NAME, 2, { ifVersion: null }), 'DOCUMENT_CONFLICT');
    await backend.documents.delete(NAME);
    await backend.documents.write(NAME, 3, { ifVersion: null });
    assert.equal((await backend.documents.read(NAME))?.value, 3);
  });

  suite.test('refuses a version of a document that is gone', async ({ backend }) => {
    const { version } = await backend.documents.write(NAME, 1);
    await backend.documents.delete(NAME);
    await assertRejects(backend.documents.write(NAME, 2, { ifVersion: version }), 'DOCUMENT_CONFLICT');
    assert.equal(await backend.documents.read(NAME), null);
  });

  suite.test('lets one of many writers with the same version win', async ({ backend }) => {
    const { version } = await backend.documents.write(NAME, -1);
    const writes = Array.from({ length: 10 }, (_, n) =>
      backend.documents.write(NAME, n, { ifVersion: version }),
    );
    const results = await Promise.allSettled(writes);
    const won = results.map((result) => result.status).indexOf('fulfilled');
    assert.equal(results.filter((result) => result.status === 'fulfilled').length, 1);
    assert.equal((await backend.documents.read(NAME))?.value, won);
  });

  suite.test('counts a change of bytes too', async ({ backend }) => {
    const { version } = await backend.documents.write(NAME, { a: 1 });
    await backend.documents.overwriteTail(NAME, 0, Buffer.from('{"a":2}'));
    await assertRejects(backend.documents.write(NAME, 3, { ifVersion: version }), 'DOCUMENT_CONFLICT');
  });
}

function byteTests(suite: Suite): void {
  suite.test('returns bytes exactly, none and all values among them', async ({ backend }) => {
    const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    for (const bytes of [new Uint8Array(0), all, Buffer.alloc(100_000, 'ab')]) {
      await backend.documents.writeBytes(NAME, bytes);
      assert.deepEqual(Buffer.from((await backend.documents.readBytes(NAME))!), Buffer.from(bytes));
    }
  });

  suite.test('keeps its own copy of the bytes', async ({ backend }) => {
    const bytes = Buffer.from('before');
    await backend.documents.writeBytes(NAME, bytes);
    bytes.fill('x');
    (await backend.documents.readBytes(NAME))!.fill(0);
    assert.equal(Buffer.from((await backend.documents.readBytes(NAME))!).toString(), 'before');
  });

  suite.test('reads bytes as JSON when they are, with or without a byte order mark', async ({ backend }) => {
    await backend.documents.writeBytes(NAME, Buffer.from('{"a":1}'));
    assert.deepEqual((await backend.documents.read(NAME))?.value, { a: 1 });
    await backend.documents.writeBytes(NAME, Buffer.from('\ufeff{"a":2}'));
    assert.deepEqual((await backend.documents.read(NAME))?.value, { a: 2 });
  });
}

function overwriteTests(suite: Suite): void {
  const text = async (store: { backend: Parameters<typeof bytesOf>[0] }) => bytesOf(store.backend);

  suite.test('keeps the first bytes and replaces the rest by more, as much, or less', async (store) => {
    for (const [tail, result] of [
      ['56789abc', '012345' + '6789abc'],
      ['xyz', '01234xyz'],
      ['!', '01234!'],
      ['', '01234'],
    ] as const) {
      await store.backend.documents.writeBytes(NAME, Buffer.from('01234567'));
      await store.backend.documents.overwriteTail(NAME, 5, Buffer.from(tail));
      assert.equal(await text(store), result);
    }
  });

  suite.test('appends at the end and replaces from the start', async (store) => {
    await store.backend.documents.writeBytes(NAME, Buffer.from('abc'));
    await store.backend.documents.overwriteTail(NAME, 3, Buffer.from('def'));
    assert.equal(await text(store), 'abcdef');
    await store.backend.documents.overwriteTail(NAME, 0, Buffer.from('x'));
    assert.equal(await text(store), 'x');
  });

  suite.test('refuses an absent or shorter document with DOCUMENT_CONFLICT', async (store) => {
    const { documents } = store.backend;
    await assertRejects(documents.overwriteTail(NAME, 0, Buffer.from('x')), 'DOCUMENT_CONFLICT');
    assert.equal(await documents.readBytes(NAME), null);
    await documents.writeBytes(NAME, Buffer.from('abc'));
    await assertRejects(documents.overwriteTail(NAME, 4, Buffer.from('x')), 'DOCUMENT_CONFLICT');
    assert.equal(await text(store), 'abc');
  });

  suite.test('takes effect in the order of the calls', async (store) => {
    await store.backend.documents.writeBytes(NAME, Buffer.from('0'));
    const calls = [1, 2, 3, 4, 5].map((n) =>
      store.backend.documents.overwriteTail(NAME, n, Buffer.from(String(n))),
    );
    await Promise.all(calls);
    assert.equal(await text(store), '012345');
  });
}

function nameTests(suite: Suite): void {
  suite.test('tells when a document was last written, and null where there is none', async ({ backend }) => {
    assert.equal(await backend.documents.modifiedMs(NAME), null);
    await backend.documents.write(NAME, 1);
    const first = await backend.documents.modifiedMs(NAME);
    assert.ok(first !== null && first > 0);
    await backend.documents.write(NAME, 2);
    assert.ok((await backend.documents.modifiedMs(NAME))! >= first);
    await backend.documents.delete(NAME);
    assert.equal(await backend.documents.modifiedMs(NAME), null);
  });

  suite.test('sets a document aside under a free name beside it', async ({ backend }) => {
    const asides: string[] = [];
    for (const n of [1, 2]) {
      await backend.documents.write(NAME, n);
      asides.push((await backend.documents.setAside(NAME, 'damaged'))!);
      assert.equal(await backend.documents.read(NAME), null);
    }
    assert.notEqual(asides[0], asides[1]);
    for (const [index, aside] of asides.entries()) {
      assert.ok(aside.includes('damaged'));
      assert.equal((await backend.documents.read(['agents', 'one', aside]))?.value, index + 1);
    }
  });

  suite.test('sets aside nothing where there is nothing', async ({ backend }) => {
    assert.equal(await backend.documents.setAside(NAME, 'damaged'), null);
    assert.deepEqual(await backend.listNames([]), []);
  });

  suite.test('deletes, and tells whether there was something', async ({ backend }) => {
    assert.equal(await backend.documents.delete(NAME), false);
    assert.deepEqual(await backend.listNames([]), []);
    await backend.documents.write(NAME, 1);
    assert.equal(await backend.documents.delete(NAME), true);
    assert.equal(await backend.documents.read(NAME), null);
    assert.equal(await backend.documents.delete(NAME), false);
  });

  suite.test('lists the last segments directly under a prefix, sorted', async ({ backend }) => {
    for (const name of ['b', 'a', 'B', 'c.json']) await backend.documents.write(['docs', name], 1);
    await backend.documents.write(['other', 'x'], 1);
    await backend.documents.write(['docs-more', 'y'], 1);
    assert.deepEqual(await backend.documents.list(['docs']), ['B', 'a', 'b', 'c.json']);
    assert.deepEqual(await backend.documents.list(['none']), []);
  });

  suite.persistent(
    'keeps deletions and set-aside documents when the store is opened again',
    async (store) => {
      await store.backend.documents.write(['docs', 'gone'], 1);
      await store.backend.documents.write(['docs', 'aside'], 2);
      await store.backend.documents.delete(['docs', 'gone']);
      const aside = await store.backend.documents.setAside(['docs', 'aside'], 'old');
      assert.deepEqual(await (await store.reopen()).documents.list(['docs']), [aside]);
    },
  );
}

function awkwardNameTests(suite: Suite): void {
  suite.test('keeps documents of different names apart, also in letter case and spelling', async (store) => {
    const { documents } = store.backend;
    for (const name of AWKWARD_NAMES) await documents.write(['docs', name], name);
    for (const name of AWKWARD_NAMES) assert.equal((await documents.read(['docs', name]))?.value, name);
    assert.deepEqual(await documents.list(['docs']), [...AWKWARD_NAMES].sort());
  });

  suite.test('accepts them as folders too, and sets aside and deletes under them', async (store) => {
    const { documents } = store.backend;
    for (const name of AWKWARD_NAMES) await documents.write(['docs', name, name], name);
    assert.deepEqual(await store.backend.listNames(['docs']), [...AWKWARD_NAMES].sort());
    for (const name of AWKWARD_NAMES) {
      const aside = await documents.setAside(['docs', name, name], 'old');
      assert.equal((await documents.read(['docs', name, aside!]))?.value, name);
      assert.equal(await documents.delete(['docs', name, aside!]), true);
    }
  });

  suite.test('refuses a name that cannot be stored with INVALID_NAME, and touches nothing', async (store) => {
    const { documents } = store.backend;
    for (const bad of REFUSED_NAMES) {
      for (const name of [[bad], ['docs', bad], [bad, 'doc'], ['docs', bad, 'doc']]) {
        await assertRejects(documents.write(name, 1), 'INVALID_NAME');
        await assertRejects(documents.read(name), 'INVALID_NAME');
        await assertRejects(documents.overwriteTail(name, 0, Buffer.from('x')), 'INVALID_NAME');
        await assertRejects(documents.setAside(name, 'old'), 'INVALID_NAME');
        await assertRejects(documents.delete(name), 'INVALID_NAME');
      }
      await assertRejects(documents.list(['docs', bad]), 'INVALID_NAME');
    }
    assert.deepEqual(await store.backend.listNames([]), []);
  });

  suite.test('refuses an empty name with INVALID_ARGUMENT', async ({ backend }) => {
    await assertRejects(backend.documents.write([], 1), 'INVALID_ARGUMENT');
    await assertRejects(backend.documents.read([]), 'INVALID_ARGUMENT');
  });
}

async function bytesOf(backend: {
  documents: { readBytes(name: readonly string[]): Promise<Uint8Array | null> };
}) {
  return Buffer.from((await backend.documents.readBytes(NAME))!).toString();
}
