/** An open file of the simulated disk. It works on the inode, so it stays usable after an unlink or a rename. */
import type { OpenFile } from '../file-system.js';
import { DiskError } from './disk-error.js';
import type { DiskEvent } from './disk-event.js';
import type { LiveFile } from './live-inode.js';

/** The functions that a file needs of its disk. */
export interface FileHost {
  nowMs(): number;
  /** Logs the event and resolves a moment later: a sync that is called in between does not cover it. */
  logged(event: DiskEvent): Promise<void>;
  sync(kind: 'datasync', inode: number, failed: boolean): Promise<void>;
  closed(file: SimulatedFile): void;
}

export class SimulatedFile implements OpenFile {
  readonly path: string;
  readonly #host: FileHost;
  readonly #file: LiveFile;
  readonly #writable: boolean;
  #open = true;

  constructor(host: FileHost, file: LiveFile, path: string, writable: boolean) {
    this.#host = host;
    this.#file = file;
    this.path = path;
    this.#writable = writable;
  }

  async read(target: Uint8Array, position: number): Promise<number> {
    this.#check('read');
    return this.#file.read(target, position);
  }

  async write(source: Uint8Array, position: number): Promise<number> {
    this.#check('write');
    const bytes = new Uint8Array(source); // a copy; `slice` of a Buffer would share memory
    const atMs = this.#host.nowMs();
    this.#file.write(bytes, position);
    this.#file.modifiedMs = atMs;
    await this.#host.logged({ kind: 'write', inode: this.#file.inode, offset: position, bytes, atMs });
    return bytes.length;
  }

  async datasync(): Promise<void> {
    this.#check('datasync');
    await this.#host.sync('datasync', this.#file.inode, false);
  }

  async truncate(sizeBytes: number): Promise<void> {
    this.#check('truncate');
    const atMs = this.#host.nowMs();
    this.#file.truncate(sizeBytes);
    this.#file.modifiedMs = atMs;
    await this.#host.logged({ kind: 'truncate', inode: this.#file.inode, size: sizeBytes, atMs });
  }

  async sizeBytes(): Promise<number> {
    this.#check('fstat');
    return this.#file.size;
  }

  async close(): Promise<void> {
    this.#check('close');
    this.#open = false;
    this.#host.closed(this);
  }

  /** The effect of a failed sync: pages are marked clean. Reads still see the bytes, but no later sync makes them durable. */
  async loseUnsynced(): Promise<void> {
    await this.#host.sync('datasync', this.#file.inode, true);
  }

  #check(syscall: string): void {
    if (!this.#open) throw new DiskError('EBADF', syscall, this.path);
    if (!this.#writable && (syscall === 'write' || syscall === 'truncate')) {
      throw new DiskError('EBADF', syscall, this.path);
    }
  }
}
