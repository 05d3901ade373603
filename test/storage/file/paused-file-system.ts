/** A real file system that stops before a chosen call until told to go on: a process that is suspended just there. */

import { NodeFileSystem } from '../../../src/storage/file/node-file-system.js';
import type { FileSystem, OpenFile, OpenMode } from '../../../src/storage/file-system.js';

export interface Pause {
  /** Resolves when the call was reached. */
  readonly reached: Promise<void>;
  goOn(): void;
}

export class PausedFileSystem extends NodeFileSystem {
  #wanted: { call: string; path: RegExp; reach: () => void; go: Promise<void> } | null = null;

  /** Stops before the next call of this name on such a path. */
  pauseBefore(call: keyof FileSystem | 'write' | 'datasync' | 'truncate', path: RegExp): Pause {
    let goOn: () => void = () => {};
    let reach: () => void = () => {};
    const go = new Promise<void>((resolve) => (goOn = resolve));
    const reached = new Promise<void>((resolve) => (reach = resolve));
    this.#wanted = { call, path, reach, go };
    return { reached, goOn };
  }

  async meet(call: string, path: string): Promise<void> {
    const wanted = this.#wanted;
    if (!wanted || wanted.call !== call || !wanted.path.test(path)) return;
    this.#wanted = null;
    wanted.reach();
    await wanted.go;
  }

  override async open(path: string, mode: OpenMode): Promise<OpenFile> {
    await this.meet('open', path);
    const file = await super.open(path, mode);
    return {
      read: (target, position) => file.read(target, position),
      write: async (source, position) => {
        await this.meet('write', path);
        return file.write(source, position);
      },
      datasync: async () => {
        await this.meet('datasync', path);
        return file.datasync();
      },
      truncate: async (size) => {
        await this.meet('truncate', path);
        return file.truncate(size);
      },
      sizeBytes: () => file.sizeBytes(),
      close: () => file.close(),
    };
  }

  override async rename(from: string, to: string): Promise<void> {
    await this.meet('rename', to);
    return super.rename(from, to);
  }

  override async unlink(path: string): Promise<void> {
    await this.meet('unlink', path);
    return super.unlink(path);
  }
}
