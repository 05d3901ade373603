/** The backends that the conformance suite is run against. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { ManualClock } from '../../src/core/clock.js';
import { FileStorage, type FileStorageOptions } from '../../src/storage/file/file-storage.js';
import { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import type { StorageTarget } from '../../src/storage/testing/conformance-kit.js';

export function fileTarget(name: string, options: FileStorageOptions = {}): StorageTarget {
  const capabilities = { persistent: true, multiProcess: true, multiProcessDocuments: false };
  const open = async () => {
    const root = await mkdtemp(path.join(os.tmpdir(), 'rekindle-conformance-'));
    const clock = new ManualClock(Date.now());
    const opened: FileStorage[] = [];
    const openOne = () => {
      const storage = new FileStorage(root, { ...options, clock });
      opened.push(storage);
      return storage;
    };
    const closeAll = async () => {
      for (const storage of opened.splice(0)) await storage.close();
    };
    return {
      backend: openOne(),
      reopen: async () => {
        await closeAll();
        return openOne();
      },
      openAnother: async () => openOne(),
      passTime: (ms: number) => clock.advance(ms),
      destroy: async () => {
        await closeAll();
        await rm(root, { recursive: true, force: true });
      },
    };
  };
  return { name, capabilities, open };
}

export function memoryTarget(): StorageTarget {
  const capabilities = { persistent: false, multiProcess: false, multiProcessDocuments: false };
  const open = async () => {
    const clock = new ManualClock();
    const backend = new MemoryStorage({ clock });
    return {
      backend,
      reopen: async () => backend,
      openAnother: async () => backend,
      passTime: (ms: number) => clock.advance(ms),
      destroy: () => backend.close(),
    };
  };
  return { name: 'MemoryStorage', capabilities, open };
}
