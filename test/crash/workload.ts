/** What the crash explorer runs: see `explorer.ts`. */
import type { ManualClock } from '../../src/core/clock.js';
import { FileStorage, type FileStorageOptions } from '../../src/storage/file/file-storage.js';
import type { FileSystem } from '../../src/storage/file-system.js';
import type { StorageBackend } from '../../src/storage/ports.js';
import type { ProcessIdentity } from '../../src/storage/process-identity.js';
import type { FaultyFileSystem } from '../../src/storage/simulated/faulty-file-system.js';
import type { SimulatedDisk } from '../../src/storage/simulated/simulated-disk.js';
import type { Fact, History } from './history.js';

/** Makes the storage under test; replaced to plant a bug. */
export type OpenStorage = (fs: FileSystem, options: FileStorageOptions) => StorageBackend;

/** One process on one disk. */
export interface Process {
  readonly disk: SimulatedDisk;
  /** What the storage is given: the disk, perhaps with faults and planted bugs around it. */
  readonly fs: FileSystem;
  readonly clock: ManualClock;
  readonly identity: ProcessIdentity;
  readonly openStorage: OpenStorage;
}

export interface RunningProcess extends Process {
  readonly faults: FaultyFileSystem;
  readonly history: History;
}

export interface RebootedProcess extends Process {
  /** What had been begun and acknowledged before the crash. */
  readonly facts: readonly Fact[];
  /** True for one state in four: also check what is dear. Same state, same answer. */
  readonly thorough: boolean;
  /** The next process, on this disk after another power cut that keeps nothing un-synced. */
  next(): RebootedProcess;
}

export interface Session {
  /** Does one operation of the alphabet, telling the history. A rejection that it does not expect is a violation. */
  apply(operation: string): Promise<void>;
  /** Ends timers; called when all crash states were checked. */
  dispose(): Promise<void>;
}

export interface Workload {
  readonly name: string;
  /** Operations; all sequences up to three are tried, then random longer ones. */
  readonly alphabet: readonly string[];
  /** Writes what is on the disk, durably, before the workload starts; returns what is then known to be there. */
  prepare?(disk: SimulatedDisk): Promise<readonly Fact[]>;
  /** Opens the storage, as the first process or as the one after a crash. */
  start(process: RunningProcess): Promise<Session>;
  /** Recovers after a crash and checks. @throws Violation, or whatever recovery throws: both are violations. */
  check(process: RebootedProcess): Promise<void>;
}

/** Tokens that every alphabet has: the process dies in the middle of the operation before, or the power goes. */
export const KILL = '!kill';
export const POWER = '!power';

export class Violation extends Error {
  override readonly name = 'Violation';
}

export function demand(condition: boolean, message: () => string): void {
  if (!condition) throw new Violation(message());
}

export const STORE = '/store';

export function openStorage(process: Process, options: FileStorageOptions = {}): StorageBackend {
  const { fs, clock, identity } = process;
  return process.openStorage(fs, { fileSystem: fs, clock, identity, ...options });
}

/** One process's use of the storage, from opening to closing: then no timer of it decides what is on the disk. */
export async function withStorage<T extends { close(): Promise<void> }, Result>(
  process: Process,
  make: (storage: StorageBackend) => T,
  run: (made: T) => Promise<Result>,
  options: FileStorageOptions = {},
  open: (process: Process, options: FileStorageOptions) => StorageBackend = openStorage,
): Promise<Result> {
  const storage = open(process, options);
  const made = make(storage);
  try {
    return await run(made);
  } finally {
    await made.close();
    await storage.close();
  }
}

export const openFileStorage: OpenStorage = (_fs, options) => new FileStorage(STORE, options);
