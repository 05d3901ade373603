/** What a tenant is apart from: other tenants, the store itself, and every name that somebody can think of. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { copyStorage } from '../../../src/storage/copy-storage.js';
import { encodeNameSegment } from '../../../src/storage/name-encoding.js';
import { LocalObjects } from '../../../src/storage/objects/local-objects.js';
import { withObjects } from '../../../src/storage/objects/object-backend.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import { withRedaction } from '../../../src/storage/redacted-storage.js';
import { storeParts } from '../../../src/storage/tenants/store-parts.js';
import { listTenants, withTenant } from '../../../src/storage/tenants/tenant-storage.js';
import { AWKWARD_NAMES, REFUSED_NAMES } from '../../../src/storage/testing/awkward-samples.js';
import { collect } from '../../../src/storage/testing/conformance-kit.js';

const KEY = 'ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R';
const TRACES = ['agents', 'desk', 'raw_traces'];
const ARTIFACTS = ['agents', 'desk', 'artifacts'];

let folder: string;
let opened: StorageBackend[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rekindle-tenants-'));
  opened = [];
});
afterEach(async () => {
  for (const storage of opened) await storage.close();
  rmSync(folder, { recursive: true, force: true });
});

function open(address: string): StorageBackend {
  const storage = openStorage(address);
  opened.push(storage);
  return storage;
}

const STORES = {
  memory: () => open('memory:'),
  files: () => open(`file:${join(folder, 'store')}`),
  sqlite: () => open(`sqlite:${join(folder, 'store.db')}`),
};

/** One of every kind of data. */
async function fill(storage: StorageBackend, text: string): Promise<void> {
  const journal = await storage.openJournal(TRACES);
  await journal.append([{ text }]);
  await journal.close();
  await storage.documents.write(['state', 'doc.json'], { text });
  await storage.blobs(ARTIFACTS).put(Buffer.from(text));
}

async function everythingIn(storage: StorageBackend): Promise<unknown> {
  const journal = await storage.openJournal(TRACES, { readOnly: true });
  const records = await collect(journal.read());
  await journal.close();
  return {
    names: await storage.listNames([]),
    contents: await collect(storage.contents([])),
    places: (await collect(storage.places(['agents']))).map(({ place, kind }) => `${kind} ${place}`).sort(),
    leases: (await storage.leases.list([])).map((name) => name.join('/')).sort(),
    records: records.map((entry) => (entry.kind === 'record' ? entry.record : entry)),
    document: (await storage.documents.read(['state', 'doc.json']))?.value ?? null,
    documents: await storage.documents.list(['state']),
    blobs: (await collect(storage.blobs(ARTIFACTS).list())).map(({ digest }) => digest),
  };
}

const NOTHING = {
  ...{ names: [], contents: [], places: [], leases: [], records: [], document: null },
  ...{ documents: [], blobs: [] },
};

describe.each(Object.entries(STORES))('a tenant of a store of %s', (_kind, make) => {
  it('sees nothing of another tenant or of the store, by any listing or the same names', async () => {
    const store = make();
    await fill(store, 'of the store');
    await fill(withTenant(store, 'acme'), 'of acme');
    expect(await everythingIn(withTenant(store, 'other'))).toStrictEqual(NOTHING);
    expect(await everythingIn(withTenant(store, 'ACME'))).toStrictEqual(NOTHING);
    expect(await everythingIn(withTenant(withTenant(store, 'acme'), 'acme'))).toStrictEqual(NOTHING);
    expect(await everythingIn(withTenant(store, 'acme'))).toMatchObject({
      names: ['agents', 'state'],
      records: [{ text: 'of acme' }],
      document: { text: 'of acme' },
      contents: [
        { kind: 'blobs', name: ARTIFACTS },
        { kind: 'journal', name: TRACES },
        { kind: 'document', name: ['state', 'doc.json'] },
      ],
    });
  });

  it('changes nothing of another tenant: writes, removals, erasures and sweeps of the same names', async () => {
    const store = make();
    await fill(store, 'of the store');
    await fill(withTenant(store, 'acme'), 'of acme');
    const before = [await everythingIn(store), await everythingIn(withTenant(store, 'acme'))];
    const other = withTenant(store, 'other');
    await fill(other, 'of another');
    const lease = await other.leases.acquire(['agents', 'desk']);
    await other.removeJournal(TRACES, lease);
    await other.removeBelow(['agents'], lease);
    await other.documents.delete(['state', 'doc.json']);
    await other.sweep([]);
    await lease.release();
    const [ofStore, ofAcme] = [await everythingIn(store), await everythingIn(withTenant(store, 'acme'))];
    expect(ofAcme).toStrictEqual(before[1]);
    expect(ofStore).toMatchObject({ records: [{ text: 'of the store' }] });
    expect((await collect(other.contents([]))).length).toBe(0);
  });

  it('has leases of its own', async () => {
    const store = make();
    const held = await withTenant(store, 'acme').leases.acquire(['agents', 'desk']);
    const other = withTenant(store, 'other');
    expect(await other.leases.inspect(['agents', 'desk'])).toBeNull();
    await (await other.leases.acquire(['agents', 'desk'])).release();
    await held.release();
  });

  it('is told its own changes, and none of the others', async () => {
    const store = make();
    const acme = withTenant(store, 'acme');
    const told: string[] = [];
    const end = await acme.watch([], ({ path }) => void told.push(path));
    await fill(store, 'of the store');
    await fill(withTenant(store, 'other'), 'of another');
    await fill(withTenant(acme, 'inner'), 'of an inner one');
    await acme.documents.write(['mine'], 1);
    await vi.waitFor(() => expect(told).toContain('mine'), { timeout: 5_000 });
    await sleep(30);
    await end();
    // A tenant of the tenant is a part of it.
    expect(told.filter((path) => path !== 'mine' && !/^tenants(\/inner|$)/.test(path))).toStrictEqual([]);
  });

  it('is a part of the whole store, and of a copy of it', async () => {
    const store = make();
    await fill(store, 'of the store');
    await fill(withTenant(store, 'acme'), 'of acme');
    await fill(withTenant(withTenant(store, 'acme'), 'in ner'), 'of a tenant of acme');
    expect(await listTenants(store)).toStrictEqual(['acme']);
    expect((await storeParts(store)).map(({ tenant }) => tenant)).toStrictEqual([
      null,
      'acme',
      'acme/in ner',
    ]);
    expect(await store.listNames([])).toStrictEqual(['agents', 'state', 'tenants']);
    const copy = open('memory:');
    await copyStorage(store, copy);
    for (const of of [(s: StorageBackend) => s, (s: StorageBackend) => withTenant(s, 'acme')])
      expect(await collect(of(copy).contents([]))).toStrictEqual(await collect(of(store).contents([])));
    expect((await withTenant(copy, 'acme').documents.read(['state', 'doc.json']))?.value).toStrictEqual({
      text: 'of acme',
    });
  });

  it('is copied to a store, or to another tenant, as a store of its own', async () => {
    const store = make();
    await fill(withTenant(store, 'acme'), 'of acme');
    const copy = open('memory:');
    await copyStorage(withTenant(store, 'acme'), copy);
    await copyStorage(copy, withTenant(store, 'other'));
    for (const made of [copy, withTenant(store, 'other')])
      expect(await everythingIn(made)).toMatchObject({
        names: ['agents', 'state'],
        document: { text: 'of acme' },
      });
  });

  it('names its own data in errors and places, without its folder', async () => {
    const tenant = withTenant(make(), 'Ac me');
    const held = await tenant.leases.acquire(['agents', 'desk']);
    const refused = await tenant.leases.acquire(['agents', 'desk']).catch((thrown: unknown) => thrown);
    expect(refused).toMatchObject({
      code: 'LEASE_HELD',
      message: expect.stringMatching(/^Agent desk is/),
      details: { name: 'agents/desk' },
    });
    await held.release();
    await tenant.documents.write(['state', 'doc.json'], 1);
    const conflict = tenant.documents.write(['state', 'doc.json'], 2, { ifVersion: null });
    await expect(conflict).rejects.toMatchObject({
      code: 'DOCUMENT_CONFLICT',
      message: expect.stringMatching(/^state\/doc\.json /),
      details: { name: ['state', 'doc.json'] },
    });
    expect((await collect(tenant.places(['state'])))[0]?.place).toBe('state/doc.json');
  });
});

describe('the name of a tenant', () => {
  const HOSTILE = [...REFUSED_NAMES, 'tenants/acme', './acme', 'acme/../other', 'x.archive'];

  it.each(HOSTILE.map((name) => [JSON.stringify(name).slice(0, 40), name]))(
    '%s is refused before anything is touched',
    (_shown, name) => {
      const storage = open(`file:${join(folder, 'store')}`);
      expect(() => withTenant(storage, name)).toThrow(expect.objectContaining({ code: 'INVALID_NAME' }));
      if (name.isWellFormed())
        expect(() => open(`file:${join(folder, 'store')}?tenant=${encodeURIComponent(name)}`)).toThrow(
          expect.objectContaining({ code: 'INVALID_NAME' }),
        );
      expect(readdirSync(folder)).toStrictEqual([]);
    },
  );

  it('that is not text is refused', () => {
    for (const name of [undefined, null, 7, ['a'], {}])
      expect(() => withTenant(open('memory:'), name as never)).toThrow(
        expect.objectContaining({ code: 'INVALID_NAME' }),
      );
  });

  it('given twice in an address is refused', () => {
    expect(() => open('memory:?tenant=a&tenant=b')).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
    );
  });

  it('that is awkward has a folder of its own, and nothing of it is anywhere else', async () => {
    const root = join(folder, 'store');
    const store = open(`file:${root}`);
    for (const name of AWKWARD_NAMES) await fill(withTenant(store, name), name);
    for (const name of AWKWARD_NAMES)
      expect((await withTenant(store, name).documents.read(['state', 'doc.json']))?.value).toStrictEqual({
        text: name,
      });
    expect(readdirSync(folder)).toStrictEqual(['store']);
    expect(readdirSync(root)).toStrictEqual(['tenants']);
    expect(readdirSync(join(root, 'tenants')).sort()).toStrictEqual(
      AWKWARD_NAMES.map(encodeNameSegment).sort(),
    );
    expect(await listTenants(store)).toStrictEqual([...AWKWARD_NAMES].sort());
  });

  it.each(REFUSED_NAMES)('is not left by a name below it: %j', async (bad) => {
    const store = open(`file:${join(folder, 'store')}`);
    const tenant = withTenant(store, 'acme');
    for (const name of [[bad], ['agents', bad], [bad, 'x'], ['..', 'other', 'agents']]) {
      await expect(tenant.documents.write(name, 1)).rejects.toMatchObject({ code: 'INVALID_NAME' });
      await expect(tenant.leases.acquire(name)).rejects.toMatchObject({ code: 'INVALID_NAME' });
      await expect(tenant.listNames(name)).rejects.toMatchObject({ code: 'INVALID_NAME' });
      expect(() => tenant.blobs(name)).toThrow(expect.objectContaining({ code: 'INVALID_NAME' }));
    }
    expect(readdirSync(folder)).toStrictEqual([]);
  });
});

describe('an address with a tenant', () => {
  it('opens the tenant alone, whatever the backend', async () => {
    for (const base of [`file:${join(folder, 'store')}`, `sqlite:${join(folder, 'store.db')}`]) {
      await fill(open(`${base}?tenant=Ac%20me`), 'of acme');
      expect(await everythingIn(open(`${base}?tenant=ac%20me`))).toStrictEqual(NOTHING);
      expect(await everythingIn(withTenant(open(base), 'Ac me'))).toMatchObject({
        document: { text: 'of acme' },
      });
    }
  });

  it('is the place of the tenant: its folder, or the address again', () => {
    const file = join(folder, 'store');
    expect(open(`file:${file}?tenant=Ada`).place).toBe(join(file, 'tenants', '%41da'));
    expect(open(`sqlite:${file}.db?tenant=a%26b`).place).toBe(`sqlite:${file}.db?tenant=a%26b`);
    expect(open('memory:?tenant=a&redact=credentials').place).toBe('memory:?tenant=a');
  });

  it('combines with redaction', async () => {
    const tenant = open(`file:${join(folder, 'store')}?tenant=acme&redact=credentials`);
    await fill(tenant, `key ${KEY}`);
    expect(await everythingIn(tenant)).toMatchObject({ records: [{ text: 'key [redacted:github-token]' }] });
  });
});

describe('a tenant with other wrappers, in any order', () => {
  it.each([
    ['redaction over a tenant', (s: StorageBackend) => withRedaction(withTenant(s, 'acme'))],
    ['a tenant over redaction', (s: StorageBackend) => withTenant(withRedaction(s), 'acme')],
  ])('keeps no credential: %s', async (_order, wrap) => {
    const store = open('memory:');
    const wrapped = wrap(store);
    expect(wrapped.redactor).toBeTruthy();
    await fill(wrapped, `key ${KEY}`);
    const stored = await everythingIn(withTenant(store, 'acme'));
    expect(stored).toMatchObject({ records: [{ text: 'key [redacted:github-token]' }] });
    const [digest] = (stored as { blobs: string[] }).blobs;
    const bytes = await withTenant(store, 'acme').blobs(ARTIFACTS).get(digest!);
    expect(Buffer.from(bytes!).toString()).toBe('key [redacted:github-token]');
  });

  it('keeps large blobs apart in an object store, at one place whatever the order', async () => {
    const store = open('memory:');
    const objects = new LocalObjects(join(folder, 'objects'));
    const inside = (name: string) => withObjects(withTenant(store, name), objects, { fromBytes: 0 });
    const outside = (name: string) => withTenant(withObjects(store, objects, { fromBytes: 0 }), name);
    const { digest } = await inside('acme').blobs(ARTIFACTS).put(Buffer.from('of acme'));
    for (const make of [inside, outside]) {
      expect(await make('acme').blobs(ARTIFACTS).has(digest)).toBe(true);
      expect(await collect(make('acme').contents([]))).toStrictEqual([{ kind: 'blobs', name: ARTIFACTS }]);
      expect(await make('acme').listNames(['agents'])).toStrictEqual(['desk']);
      expect((await collect(make('acme').places(['agents'])))[0]).toMatchObject({
        place: 'agents/desk/artifacts',
      });
      expect(await make('other').blobs(ARTIFACTS).has(digest)).toBe(false);
      expect(await collect(make('other').contents([]))).toStrictEqual([]);
      expect(await make('other').blobs(ARTIFACTS).delete(digest)).toBe(false);
      const lease = await make('other').leases.acquire(['agents', 'desk']);
      await make('other').removeBelow(['agents', 'desk'], lease);
      await lease.release();
    }
    expect(await collect(withObjects(store, objects, { fromBytes: 0 }).contents([]))).toStrictEqual([
      { kind: 'blobs', name: ['tenants', 'acme', ...ARTIFACTS] },
    ]);
    const lease = await inside('acme').leases.acquire(['agents', 'desk']);
    await inside('acme').removeBelow(['agents', 'desk'], lease);
    await lease.release();
    expect(await outside('acme').blobs(ARTIFACTS).has(digest)).toBe(false);
  });
});
