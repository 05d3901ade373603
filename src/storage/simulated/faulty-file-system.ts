/**
 * Any file system, with faults: the k-th call fails, or writes short. It counts calls and tracks open files. So a test
 * can try k = 1, 2, 3, ... until nothing fails, and assert that no file stays open.
 */
import type { FileStat, FileSystem, OpenFile, OpenMode } from '../file-system.js';
import { DiskError } from './disk-error.js';

/** A call that can fail: of the file system, or of an open file. */
export type FaultyCall = keyof FileSystem | `file.${keyof OpenFile}`;

/** A fault to inject. */
export interface Fault {
  /** Number of the failing call, counted from 1 among those that `only` accepts. */
  readonly at: number;
  /** `EIO`, `ENOSPC`, `EMFILE`, `EACCES`, ...; or `short`: a read or write handles half of its bytes, without an error. */
  readonly kind: 'EIO' | 'ENOSPC' | 'EMFILE' | 'EACCES' | 'EROFS' | 'EINTR' | 'short';
  /** Every call from `at` on fails. Default: only that one. */
  readonly sticky?: boolean;
  readonly only?: (call: FaultyCall, path: string) => boolean;
  /**
   * What a failing call does nevertheless. `nothing` (default); `half`: half of the bytes are written; `all`: it
   * succeeds, but is reported as failed.
   */
  readonly effect?: 'nothing' | 'half' | 'all';
  /**
   * After a failed folder sync the names are also marked clean, so that no later sync makes them durable. Default
   * false: file systems with a journal become read-only instead.
   */
  readonly forgetsNames?: boolean;
}

/** How the simulated disk marks pages clean after a failed sync; other file systems lack it. */
interface LosesUnsynced {
  loseUnsynced(): Promise<void>;
}

interface LosesUnsyncedNames {
  loseUnsyncedNames(path: string): Promise<void>;
}

/**
 * Wraps a file system and injects faults into its calls. For tests.
 * ```ts
 * const faulty = new FaultyFileSystem(new SimulatedDisk());
 * faulty.setFault({ at: 3, kind: 'ENOSPC' });
 * ```
 */
export class FaultyFileSystem implements FileSystem {
  readonly #inner: FileSystem;
  readonly #opened = new Set<FaultyFile>();
  #fault: Fault | null;
  #calls = 0;
  #matched = 0;
  #injected = 0;

  constructor(inner: FileSystem, fault: Fault | null = null) {
    this.#inner = inner;
    this.#fault = fault;
  }

  /** Calls made so far, including those on open files. */
  get calls(): number {
    return this.#calls;
  }

  /** Faults injected so far. */
  get injected(): number {
    return this.#injected;
  }

  /** Paths of files that were opened and not closed. */
  openFiles(): string[] {
    return [...this.#opened].map((file) => file.path);
  }

  /** Sets the fault, and restarts counting; null for no fault. */
  setFault(fault: Fault | null): void {
    this.#fault = fault;
    this.#matched = 0;
  }

  async open(path: string, mode: OpenMode): Promise<OpenFile> {
    const inner = await this.call('open', path, () => this.#inner.open(path, mode), closeQuietly);
    const file = new FaultyFile(this, inner, path, () => this.#opened.delete(file));
    this.#opened.add(file);
    return file;
  }

  rename(from: string, to: string): Promise<void> {
    return this.call('rename', to, () => this.#inner.rename(from, to));
  }

  link(existing: string, name: string): Promise<void> {
    return this.call('link', name, () => this.#inner.link(existing, name));
  }

  unlink(path: string): Promise<void> {
    return this.call('unlink', path, () => this.#inner.unlink(path));
  }

  makeFolder(path: string): Promise<void> {
    return this.call('makeFolder', path, () => this.#inner.makeFolder(path));
  }

  list(path: string): Promise<string[]> {
    return this.call('list', path, () => this.#inner.list(path));
  }

  stat(path: string): Promise<FileStat | null> {
    return this.call('stat', path, () => this.#inner.stat(path));
  }

  async syncFolder(path: string): Promise<void> {
    const fault = this.due('syncFolder', path);
    if (!fault || fault.kind === 'short') return this.#inner.syncFolder(path);
    if (fault.forgetsNames && losesNames(this.#inner)) await this.#inner.loseUnsyncedNames(path);
    throw new DiskError(fault.kind, 'syncFolder', path);
  }

  touch(path: string, modifiedMs: number): Promise<void> {
    return this.call('touch', path, () => this.#inner.touch(path, modifiedMs));
  }

  setMode(path: string, mode: number): Promise<void> {
    return this.call('setMode', path, () => this.#inner.setMode(path, mode));
  }

  realPath(path: string): Promise<string> {
    return this.call('realPath', path, () => this.#inner.realPath(path));
  }

  /** Counts a call and returns its fault, if any. Only for this module. */
  due(call: FaultyCall, path: string): Fault | null {
    this.#calls++;
    const fault = this.#fault;
    if (!fault || (fault.only && !fault.only(call, path))) return null;
    this.#matched++;
    if (this.#matched < fault.at || (this.#matched > fault.at && !fault.sticky)) return null;
    this.#injected++;
    return fault;
  }

  /** Makes a call without bytes, which cannot be half done. Only for this module. */
  async call<T>(
    name: FaultyCall,
    path: string,
    act: () => Promise<T>,
    undo?: (done: T) => Promise<void>,
  ): Promise<T> {
    const fault = this.due(name, path);
    if (!fault || fault.kind === 'short') return act();
    if (fault.effect === 'all') {
      const done = await act();
      await undo?.(done);
    }
    throw new DiskError(fault.kind, name, path);
  }
}

class FaultyFile implements OpenFile {
  readonly path: string;
  readonly #system: FaultyFileSystem;
  readonly #inner: OpenFile;
  readonly #onClose: () => void;

  constructor(system: FaultyFileSystem, inner: OpenFile, path: string, onClose: () => void) {
    this.#system = system;
    this.#inner = inner;
    this.path = path;
    this.#onClose = onClose;
  }

  async read(target: Uint8Array, position: number): Promise<number> {
    const fault = this.#system.due('file.read', this.path);
    if (fault && fault.kind !== 'short') throw new DiskError(fault.kind, 'read', this.path);
    return this.#inner.read(fault ? half(target) : target, position);
  }

  async write(source: Uint8Array, position: number): Promise<number> {
    const fault = this.#system.due('file.write', this.path);
    if (!fault) return this.#inner.write(source, position);
    if (fault.kind === 'short') return this.#inner.write(half(source), position);
    if (fault.effect === 'half') await this.#inner.write(half(source), position);
    if (fault.effect === 'all') await this.#inner.write(source, position);
    throw new DiskError(fault.kind, 'write', this.path);
  }

  async datasync(): Promise<void> {
    const fault = this.#system.due('file.datasync', this.path);
    if (!fault || fault.kind === 'short') return this.#inner.datasync();
    if (losesBytes(this.#inner)) await this.#inner.loseUnsynced();
    throw new DiskError(fault.kind, 'datasync', this.path);
  }

  truncate(sizeBytes: number): Promise<void> {
    return this.#system.call('file.truncate', this.path, () => this.#inner.truncate(sizeBytes));
  }

  sizeBytes(): Promise<number> {
    return this.#system.call('file.sizeBytes', this.path, () => this.#inner.sizeBytes());
  }

  /** As in the kernel: the descriptor is gone even if closing reports an error. */
  async close(): Promise<void> {
    const fault = this.#system.due('file.close', this.path);
    this.#onClose();
    await this.#inner.close();
    if (fault && fault.kind !== 'short') throw new DiskError(fault.kind, 'close', this.path);
  }
}

function half(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, Math.max(1, bytes.length >> 1));
}

async function closeQuietly(file: OpenFile): Promise<void> {
  await file.close();
}

function losesBytes(file: OpenFile): file is OpenFile & LosesUnsynced {
  return 'loseUnsynced' in file;
}

function losesNames(system: FileSystem): system is FileSystem & LosesUnsyncedNames {
  return 'loseUnsyncedNames' in system;
}
