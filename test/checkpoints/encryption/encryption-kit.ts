/** Encrypted stores for these tests. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';
import type { CheckpointServiceOptions } from '../../../src/checkpoints/checkpoint-params.js';
import { CheckpointService } from '../../../src/checkpoints/checkpoint-service.js';
import type { CheckpointConfigInit } from '../../../src/checkpoints/config/checkpoint-config.js';
import { isRekindleError, type RekindleError } from '../../../src/core/errors.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import { EnvironmentKeys } from '../../../src/storage/sealing/environment-keys.js';

const made: string[] = [];
const opened: { close(): Promise<void> }[] = [];
afterAll(async () => {
  for (const one of opened) await one.close();
  for (const folder of made) await fs.rm(folder, { recursive: true, force: true });
});

export const K1 = '11'.repeat(32);
export const K2 = '22'.repeat(32);
/** Text that must not be found anywhere. */
export const CANARY = 'canary-Yb3VtZ3Q';

export async function temporaryFolder(): Promise<string> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-encryption-'));
  made.push(folder);
  return folder;
}

export function environmentKeys(current?: string, previous?: string): EnvironmentKeys {
  return new EnvironmentKeys({ REKINDLE_MASTER_KEY: current, REKINDLE_MASTER_KEY_PREVIOUS: previous });
}

export const encrypted: CheckpointConfigInit = { encryption: { enabled: true } };

/** As another process has it: it knows no key yet. Nothing is synced: what is tested here is not power loss. */
export function serviceIn(root: string, options: CheckpointServiceOptions): CheckpointService {
  const backend = options.backend ?? new FileStorage(root, { durability: 'relaxed' });
  const service = new CheckpointService({ config: encrypted, ...options, backend });
  opened.push(service);
  return service;
}

/** Every file below the folder, in which nothing but leases may change while somebody only tries. */
export async function bytesIn(root: string): Promise<Map<string, string>> {
  const bytes = new Map<string, string>();
  for (const entry of await fs.readdir(root, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (!entry.isFile() || /\.lease/.test(file)) continue;
    bytes.set(path.relative(root, file), (await fs.readFile(file)).toString('latin1'));
  }
  return bytes;
}

export function sessionFolder(root: string, session: string): string {
  return path.join(root, 'checkpoints', 'sessions', session);
}

export async function errorOf(promise: Promise<unknown>): Promise<RekindleError> {
  const thrown = await promise.then(
    () => null,
    (error: unknown) => error,
  );
  if (isRekindleError(thrown)) return thrown;
  throw thrown ?? new TypeError('expected a rejection');
}

/** All that a log could hold of it. */
export function textOf(error: RekindleError): string {
  return [JSON.stringify(error), error.message, JSON.stringify(error.details), String(error.stack)].join(
    '\n',
  );
}

/** Some KB, so that checkpoints have parts in common. */
export function contextOf(n: number): { step: number; notes: string[] } {
  const notes = Array.from({ length: 60 }, (_, at) => `${CANARY} ${at} ${Math.imul(at + 3, 2_654_435_761)}`);
  notes[n % 60] = `changed by ${n}`;
  return { step: n, notes };
}
