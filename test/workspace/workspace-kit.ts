/** Stores for the tests of the workspace. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';
import { ManualClock } from '../../src/core/clock.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import type { StorageBackend } from '../../src/storage/ports.js';
import { Workspace, type WorkspaceOptions } from '../../src/workspace/workspace.js';

const made: string[] = [];
afterAll(async () => {
  for (const folder of made) await fs.rm(folder, { recursive: true, force: true });
});

export interface Shop {
  readonly backend: StorageBackend;
  readonly clock: ManualClock;
  /** Empty for a store in memory. */
  readonly root: string;
  workspace(options?: WorkspaceOptions): Workspace;
}

function shopOver(backend: StorageBackend, root: string): Shop {
  const clock = new ManualClock();
  return { backend, clock, root, workspace: (options) => new Workspace(backend, { clock, ...options }) };
}

export async function fileShop(): Promise<Shop> {
  const root = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-workspace-'));
  made.push(root);
  return shopOver(new FileStorage(root), root);
}

export const SHOPS = [
  { name: 'files', make: fileShop },
  { name: 'memory', make: async () => shopOver(new MemoryStorage(), '') },
];
