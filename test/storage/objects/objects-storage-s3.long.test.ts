/** The whole contract over an S3 server, and what happens to it when answers are lost. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../../src/core/json.js';
import { ObjectsStorage, type ObjectsStorageOptions, S3Objects } from '../../../src/storage/objects/index.js';
import type { Journal } from '../../../src/storage/ports.js';
import { runStorageConformance } from '../../../src/storage/testing/index.js';
import { FaultyHttpProxy, type ProxiedRequest } from '../../support/faulty-http-proxy.js';
import { startS3Server } from '../../support/s3-server.js';
import { objectsTarget } from './objects-storage-targets.js';
import { s3Fixture } from './s3-fixture.js';

const fixture = s3Fixture();
let places = 0;

function openS3(prefix: string, retries = { attempts: 5, firstDelayMs: 2 }, timeoutMs = 30_000): S3Objects {
  const { bucket, accessKeyId, secretAccessKey } = fixture.server();
  const connection = { endpoint: fixture.proxy().url, forcePathStyle: true, accessKeyId, secretAccessKey };
  return new S3Objects({ bucket, prefix, ...connection, retries, timeoutMs });
}

runStorageConformance(
  { describe, it },
  objectsTarget('ObjectsStorage in S3', async () => {
    const prefix = `conformance-${++places}`;
    return { openObjects: () => openS3(prefix), remove: async () => {} };
  }),
);

const NAME = ['agents', 'one', 'traces'];
const isCommit = ({ method, url }: ProxiedRequest) => method === 'PUT' && /\/journals\/.*\.\d{4}\?/.test(url);
const isLease = ({ method, url }: ProxiedRequest) => method === 'PUT' && url.includes('/leases/');
const isDocument = ({ method, url }: ProxiedRequest) => method === 'PUT' && url.includes('/documents/');

function openStore(
  options: ObjectsStorageOptions & { readonly prefix?: string; readonly timeoutMs?: number } = {},
) {
  const { prefix = `faults-${++places}`, timeoutMs, ...rest } = options;
  const storage = new ObjectsStorage(openS3(prefix, undefined, timeoutMs), { place: prefix, ...rest });
  onTestFinished(() => storage.close());
  return { storage, prefix };
}

async function numbersIn(journal: Journal<JsonObject>): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const entry of journal.read({ archived: true }))
    found.push(entry.kind === 'record' ? entry.record['n'] : entry.reason);
  return found;
}

describe('a commit in S3', () => {
  it('whose answer is lost is found stored, and is there once', async () => {
    const { storage } = openStore();
    const journal = await storage.openJournal<JsonObject>(NAME);
    await journal.append([{ n: 1 }]);
    fixture.proxy().fail({ kind: 'half-body' }, 1, isCommit);
    expect((await journal.append([{ n: 2 }], { expectedSeq: 1 })).seq).toBe(2);
    expect((await journal.append([{ n: 3 }], { expectedSeq: 2 })).seq).toBe(3);
    expect(await numbersIn(journal)).toEqual([1, 2, 3]);
  });

  it.each([429, 500, 503])('is tried again after an answer %i', async (status) => {
    const { storage } = openStore();
    const journal = await storage.openJournal<JsonObject>(NAME);
    fixture.proxy().fail({ kind: 'status', status }, 2, isCommit);
    expect((await journal.append([{ n: 1 }])).seq).toBe(1);
    expect(await numbersIn(journal)).toEqual([1]);
  });

  it('that gets no answer at all has an unknown outcome, and the next append finds out', async () => {
    const { storage } = openStore();
    const journal = await storage.openJournal<JsonObject>(NAME);
    await journal.append([{ n: 1 }]);
    fixture.proxy().fail({ kind: 'half-body' }, 1, isCommit);
    fixture.proxy().fail({ kind: 'reset' }, 4, isCommit);
    await expect(journal.append([{ n: 2 }])).rejects.toMatchObject({ code: 'JOURNAL_OUTCOME_UNKNOWN' });
    expect((await journal.append([{ n: 3 }])).seq).toBe(3);
    fixture.proxy().fail({ kind: 'reset' }, 5, isCommit);
    await expect(journal.append([{ n: 4 }])).rejects.toMatchObject({ code: 'JOURNAL_OUTCOME_UNKNOWN' });
    expect((await journal.append([{ n: 5 }])).seq).toBe(4);
    expect(await numbersIn(journal)).toEqual([1, 2, 3, 5]);
  });

  it('with slow answers holds its order', async () => {
    const { storage } = openStore();
    const journal = await storage.openJournal<JsonObject>(NAME);
    fixture.proxy().delayMs = 30;
    const appends = Array.from({ length: 20 }, (_, n) => journal.append([{ n }]));
    await Promise.all(appends);
    expect(await numbersIn(journal)).toEqual(Array.from({ length: 20 }, (_, n) => n));
  });

  it('of an owner that was fenced off while it waited is refused with LEASE_LOST, and a seal keeps it out', async () => {
    const { storage, prefix } = openStore();
    const other = openStore({ prefix }).storage;
    const lease = await storage.leases.acquire(['agents', 'one']);
    const journal = await storage.openJournal<JsonObject>(NAME, { lease });
    await journal.append([{ n: 1 }]);
    const stolen = await other.leases.acquire(['agents', 'one'], { force: true });
    const next = await other.openJournal<JsonObject>(NAME, { lease: stolen });
    await expect(journal.append([{ n: 9 }])).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect((await next.append([{ n: 2 }], { expectedSeq: 1 })).seq).toBe(2);
    expect(await numbersIn(next)).toEqual([1, 2]);
    expect(lease.held).toBe(false);
  });

  it('is refused with LEASE_LOST when the new owner has not opened the journal', async () => {
    const { storage, prefix } = openStore();
    const lease = await storage.leases.acquire(['agents', 'one']);
    const journal = await storage.openJournal<JsonObject>(NAME, { lease });
    await openStore({ prefix }).storage.leases.acquire(['agents', 'one'], { force: true });
    await expect(journal.append([{ n: 9 }])).rejects.toMatchObject({ code: 'LEASE_LOST' });
  });
});

describe('a lease in S3', () => {
  it('whose answer is lost is taken once, and beats and is released in the same way', async () => {
    const { storage, prefix } = openStore();
    fixture.proxy().fail({ kind: 'half-body' }, 1, isLease);
    const lease = await storage.leases.acquire(['agents', 'one']);
    expect(lease.fence).toBe(1);
    fixture.proxy().fail({ kind: 'half-body' }, 1, isLease);
    await lease.renew();
    fixture.proxy().fail({ kind: 'half-body' }, 1, isLease);
    await lease.release();
    const next = await openStore({ prefix }).storage.leases.acquire(['agents', 'one']);
    expect([next.fence, next.takenOver]).toEqual([2, false]);
  });

  it('of a silent owner on another machine ends after its time', async () => {
    const away = { pid: 1, processStart: null, host: 'elsewhere', nonce: 'a' };
    const identity = { owner: () => away, state: () => 'unknown' as const };
    const prefix = `faults-${++places}`;
    const objects = openS3(prefix);
    const storage = new ObjectsStorage(objects, { place: prefix, identity });
    onTestFinished(() => storage.close());
    await storage.leases.acquire(['agents', 'one'], { ttlMs: 60_000 });
    const other = openStore({ prefix }).storage;
    await expect(other.leases.acquire(['agents', 'one'])).rejects.toMatchObject({ code: 'LEASE_HELD' });
    const short = await storage.leases.acquire(['agents', 'two'], { ttlMs: 600 });
    const { writeIf } = objects.conditional;
    objects.conditional.writeIf = () => Promise.reject(new Error('this machine is cut off'));
    const taken = await other.leases.acquire(['agents', 'two'], { waitMs: 20_000 });
    expect([taken.fence, taken.takenOver]).toEqual([2, true]);
    objects.conditional.writeIf = writeIf;
    await expect(short.check()).rejects.toMatchObject({ code: 'LEASE_LOST' });
  });
});

describe('a document in S3', () => {
  it('whose answer is lost is written once, and its version holds', async () => {
    const { storage } = openStore();
    fixture.proxy().fail({ kind: 'half-body' }, 1, isDocument);
    const first = await storage.documents.write(['plan'], { n: 1 }, { ifVersion: null });
    fixture.proxy().fail({ kind: 'half-body' }, 1, isDocument);
    const second = await storage.documents.write(['plan'], { n: 2 }, { ifVersion: first.version });
    expect(await storage.documents.read(['plan'])).toEqual({ value: { n: 2 }, version: second.version });
  });

  it('is changed by one of two stores that know the same version', async () => {
    const { storage, prefix } = openStore();
    const other = openStore({ prefix }).storage;
    const { version } = await storage.documents.write(['plan'], 0);
    await other.documents.read(['plan']);
    const results = await Promise.allSettled([
      storage.documents.write(['plan'], 1, { ifVersion: version }),
      other.documents.write(['plan'], 2, { ifVersion: version }),
    ]);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('as a cache is acknowledged at once, and there for the next owner of a lease', async () => {
    const { storage, prefix } = openStore();
    const lease = await storage.leases.acquire(['agents', 'one']);
    await storage.documents.writeBytes(['cache'], Buffer.from('0'));
    fixture.proxy().requests.length = 0;
    for (let n = 1; n <= 50; n += 1) await storage.documents.overwriteTail(['cache'], n, Buffer.from('x'));
    expect(fixture.proxy().requests.filter(isDocument)).toEqual([]);
    await lease.release();
    expect(fixture.proxy().requests.filter(isDocument)).toHaveLength(1);
    const read = await openStore({ prefix }).storage.documents.readBytes(['cache']);
    expect(Buffer.from(read!).toString()).toBe(`0${'x'.repeat(50)}`);
  });

  it('that was deleted by another store is not written again by a cache', async () => {
    const { storage, prefix } = openStore();
    await storage.documents.writeBytes(['cache'], Buffer.from('a'));
    await storage.documents.overwriteTail(['cache'], 0, Buffer.from('b'));
    const other = openStore({ prefix }).storage;
    await other.documents.delete(['cache']);
    await storage.close();
    expect(await other.documents.readBytes(['cache'])).toBeNull();
  });
});

it('a server that ignores conditions is refused before anything is written', async () => {
  const server = await startS3Server({ conditions: false });
  const proxy = await FaultyHttpProxy.start(server.url);
  const { bucket, accessKeyId, secretAccessKey } = server;
  const connection = { endpoint: proxy.url, forcePathStyle: true, accessKeyId, secretAccessKey };
  const storage = new ObjectsStorage(new S3Objects({ bucket, ...connection }));
  onTestFinished(async () => {
    await storage.close();
    await proxy.close();
    await server.close();
  });
  const refused = { code: 'STORAGE_FAILED', message: expect.stringContaining('If-None-Match') };
  await expect(storage.leases.acquire(['agents', 'one'])).rejects.toMatchObject(refused);
  expect(proxy.requests.some(({ url }) => url.includes('/leases/'))).toBe(true);
  expect(proxy.requests.some(isLease)).toBe(false);
});
