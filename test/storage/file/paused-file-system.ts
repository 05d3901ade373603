/** A real file system that stops before a chosen call until told to go on: a process that is suspended just there. */

import { NodeFileSystem } from '../../../src/storage/file/node-file-system.js';
import type { FileStat, FileSystem, OpenFile, OpenMode } from '../../../src/storage/file-system.js';

export interface Pause {
  /** Resolves when the call was reached. */
  readonly reached: Promise<void>;
  goOn(): void;
}

type Call = keyof FileSystem | keyof OpenFile;

export class PausedFileSystem implements FileSystem {
  readonly #inner = new NodeFileSystem();
  #wanted: {
    readonly fits: (call: Call, path: string) => boolean;
    readonly meet: () => Promise<void>;
  } | null = null;
  #calls = 0;

  /** Calls made so far. */
  get calls(): number {
    return this.#calls;
  }

  /** Stops before the next call of this name on such a path. */
  pauseBefore(call: Call, path: RegExp): Pause {
    return this.#pause((name, place) => name === call && path.test(place));
  }

  /** Stops before the call after `count` more. */
  pauseAfterCalls(count: number): Pause {
    const at = this.#calls + count + 1;
    return this.#pause(() => this.#calls === at);
  }

  #pause(fits: (call: Call, path: string) => boolean): Pause {
    let goOn: () => void = () => {};
    let reach: () => void = () => {};
    const go = new Promise<void>((resolve) => (goOn = resolve));
    const reached = new Promise<void>((resolve) => (reach = resolve));
    const meet = () => {
      this.#wanted = null;
      reach();
      return go;
    };
    this.#wanted = { fits, meet };
    return { reached, goOn };
  }

  async #call<T>(call: Call, path: string, act: () => Promise<T>): Promise<T> {
    this.#calls += 1;
    const wanted = this.#wanted;
    if (wanted?.fits(call, path)) await wanted.meet();
    return act();
  }

  async open(path: string, mode: OpenMode): Promise<OpenFile> {
    const file = await this.#call('open', path, () => this.#inner.open(path, mode));
    return {
      read: (target, position) => this.#call('read', path, () => file.read(target, position)),
      write: (source, position) => this.#call('write', path, () => file.write(source, position)),
      datasync: () => this.#call('datasync', path, () => file.datasync()),
      truncate: (size) => this.#call('truncate', path, () => file.truncate(size)),
      sizeBytes: () => this.#call('sizeBytes', path, () => file.sizeBytes()),
      close: () => this.#call('close', path, () => file.close()),
    };
  }

  rename(from: string, to: string): Promise<void> {
    return this.#call('rename', to, () => this.#inner.rename(from, to));
  }

  link(existing: string, name: string): Promise<void> {
    return this.#call('link', name, () => this.#inner.link(existing, name));
  }

  unlink(path: string): Promise<void> {
    return this.#call('unlink', path, () => this.#inner.unlink(path));
  }

  makeFolder(path: string): Promise<void> {
    return this.#call('makeFolder', path, () => this.#inner.makeFolder(path));
  }

  list(path: string): Promise<string[]> {
    return this.#call('list', path, () => this.#inner.list(path));
  }

  stat(path: string): Promise<FileStat | null> {
    return this.#call('stat', path, () => this.#inner.stat(path));
  }

  syncFolder(path: string): Promise<void> {
    return this.#call('syncFolder', path, () => this.#inner.syncFolder(path));
  }

  touch(path: string, modifiedMs: number): Promise<void> {
    return this.#call('touch', path, () => this.#inner.touch(path, modifiedMs));
  }

  setMode(path: string, mode: number): Promise<void> {
    return this.#call('setMode', path, () => this.#inner.setMode(path, mode));
  }

  realPath(path: string): Promise<string> {
    return this.#call('realPath', path, () => this.#inner.realPath(path));
  }
}
