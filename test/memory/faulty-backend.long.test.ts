import path from 'node:path';
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.js';
import { survivor, tempFolder } from './memory-kit.js';
import { memoryUnderFaults } from './memory-under-faults.js';

memoryUnderFaults('SQLite', async () => {
  const file = path.join(await tempFolder(), 'store.db');
  return { storage: () => new SqliteStorage(file, { identity: survivor }) };
});
