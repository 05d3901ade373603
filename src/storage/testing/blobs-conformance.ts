/** The contract of `Blobs`. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { AWKWARD_NAMES, REFUSED_NAMES } from './awkward-samples.js';
import { assertRejects, collect, type Suite } from './conformance-kit.js';

const SCOPE = ['agents', 'one', 'artifacts'];
const ABSENT = 'ab'.repeat(32);

export function blobsConformance(suite: Suite): void {
  suite.group('blobs: put and get', () => putTests(suite));
  suite.group('blobs: has, delete, list', () => listTests(suite));
  suite.group('blobs: digests and scopes', () => digestTests(suite));
}

function putTests(suite: Suite): void {
  suite.test('names bytes by their SHA-256 and returns them exactly', async ({ backend }) => {
    const blobs = backend.blobs(SCOPE);
    const samples = [
      new Uint8Array(0),
      Buffer.from('text'),
      Uint8Array.from({ length: 256 }, (_, byte) => byte),
      Buffer.alloc(1_000_000, 'abc'),
    ];
    for (const bytes of samples) {
      const info = await blobs.put(bytes);
      assert.deepEqual({ ...info }, { digest: sha256(bytes), size: bytes.length });
      assert.deepEqual(Buffer.from((await blobs.get(info.digest))!), Buffer.from(bytes));
    }
  });

  suite.test('stores equal bytes once, also when put at the same time', async ({ backend }) => {
    const blobs = backend.blobs(SCOPE);
    const infos = await Promise.all(Array.from({ length: 10 }, () => blobs.put(Buffer.from('same'))));
    infos.push(await blobs.put(Buffer.from('same')));
    assert.equal(new Set(infos.map((info) => info.digest)).size, 1);
    const listed = (await collect(blobs.list())).map(({ digest, size }) => ({ digest, size }));
    assert.deepEqual(listed, [{ digest: sha256(Buffer.from('same')), size: 4 }]);
  });

  suite.test('keeps its own copy of the bytes', async ({ backend }) => {
    const blobs = backend.blobs(SCOPE);
    const bytes = Buffer.from('before');
    const { digest } = await blobs.put(bytes);
    bytes.fill('x');
    (await blobs.get(digest))!.fill(0);
    assert.equal(Buffer.from((await blobs.get(digest))!).toString(), 'before');
  });

  suite.test('gives null for what is absent', async ({ backend }) => {
    assert.equal(await backend.blobs(SCOPE).get(ABSENT), null);
  });

  suite.persistent('keeps them when the store is opened again', async (store) => {
    const { digest } = await store.backend.blobs(SCOPE).put(Buffer.from('kept'));
    const again = (await store.reopen()).blobs(SCOPE);
    assert.equal(Buffer.from((await again.get(digest))!).toString(), 'kept');
  });
}

function listTests(suite: Suite): void {
  suite.test('tells whether there is one', async ({ backend }) => {
    const blobs = backend.blobs(SCOPE);
    const { digest } = await blobs.put(Buffer.from('a'));
    assert.equal(await blobs.has(digest), true);
    assert.equal(await blobs.has(ABSENT), false);
  });

  suite.test('deletes, and tells whether there was something', async ({ backend }) => {
    const blobs = backend.blobs(SCOPE);
    assert.equal(await blobs.delete(ABSENT), false);
    const { digest } = await blobs.put(Buffer.from('a'));
    assert.equal(await blobs.delete(digest), true);
    assert.equal(await blobs.get(digest), null);
    assert.equal(await blobs.delete(digest), false);
    await blobs.put(Buffer.from('a'));
    assert.equal(await blobs.has(digest), true);
  });

  suite.test('lists digests, sizes and when they were stored, sorted', async ({ backend }) => {
    const blobs = backend.blobs(SCOPE);
    assert.deepEqual(await collect(blobs.list()), []);
    const put = [];
    const before = Date.now();
    for (let size = 0; size < 20; size += 1) put.push(await blobs.put(Buffer.alloc(size, 'z')));
    const sorted = put.toSorted((a, b) => (a.digest < b.digest ? -1 : 1));
    const listed = await collect(blobs.list());
    assert.deepEqual(
      listed.map(({ digest, size }) => ({ digest, size })),
      sorted,
    );
    // A file system may store only whole seconds, or have a slightly slow clock.
    for (const { storedMs } of listed) assert.ok(storedMs > before - 2_000 && storedMs < Date.now() + 2_000);
  });
}

function digestTests(suite: Suite): void {
  const bad = ['', 'abc', '../x', `${'a'.repeat(62)}/x`, ABSENT.toUpperCase(), `${ABSENT}0`, `${ABSENT}\n`];
  suite.test('refuses what is no digest with INVALID_ARGUMENT', async ({ backend }) => {
    const blobs = backend.blobs(SCOPE);
    for (const digest of [...bad, null as unknown as string]) {
      await assertRejects(blobs.get(digest), 'INVALID_ARGUMENT');
      await assertRejects(blobs.has(digest), 'INVALID_ARGUMENT');
      await assertRejects(blobs.delete(digest), 'INVALID_ARGUMENT');
    }
  });

  suite.test('keeps scopes apart', async ({ backend }) => {
    const { digest } = await backend.blobs(SCOPE).put(Buffer.from('a'));
    const other = backend.blobs(['agents', 'two', 'artifacts']);
    assert.equal(await other.get(digest), null);
    assert.equal(await other.delete(digest), false);
    assert.equal(await backend.blobs(SCOPE).has(digest), true);
  });

  suite.test('accepts awkward scopes and keeps them apart', async ({ backend }) => {
    for (const name of AWKWARD_NAMES) await backend.blobs(['agents', name]).put(Buffer.from(name));
    for (const name of AWKWARD_NAMES) {
      const [info, ...more] = await collect(backend.blobs(['agents', name]).list());
      assert.equal(info?.digest, sha256(Buffer.from(name)));
      assert.deepEqual(more, []);
    }
  });

  suite.test(
    'refuses a scope that cannot be stored with INVALID_NAME, and touches nothing',
    async (store) => {
      for (const name of REFUSED_NAMES) {
        const put = async () => store.backend.blobs(['agents', name]).put(Buffer.from('a'));
        await assertRejects(put(), 'INVALID_NAME');
      }
      assert.deepEqual(await store.backend.listNames([]), []);
    },
  );
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
