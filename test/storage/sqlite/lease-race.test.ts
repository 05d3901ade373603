import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.js';

it('a lease that several ask for at once goes to one of them, under one fence', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'rekindle-sqlite-'));
  const stores = [1, 2, 3].map(() => new SqliteStorage(path.join(folder, 'store.db')));
  try {
    for (const name of ['a', 'b', 'c']) {
      const asked = await Promise.allSettled(stores.map(({ leases }) => leases.acquire([name])));
      const given = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value.fence] : []));
      expect(given).toEqual([1]);
      const refused = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
      expect(refused.map(({ code }) => code)).toEqual(['LEASE_HELD', 'LEASE_HELD']);
    }
  } finally {
    for (const store of stores) await store.close();
    await rm(folder, { recursive: true, force: true });
  }
});
