/** A file system of byte arrays, made anew from a picture in no time: for suites that open a store a hundred thousand times. */
import path from 'node:path';
import type { FileStat, FileSystem, OpenFile, OpenMode } from '../../src/storage/file-system.js';

export type Picture = ReadonlyMap<string, Buffer>;

/** Folders exist as far as files lie below them, or once they were made. */
const COMMON = { modifiedMs: 0, changedMs: 0, inode: 0, links: 1, ownerId: 0 };

export class MapFileSystem implements FileSystem {
  readonly #files: Map<string, Buffer>;
  readonly #folders = new Set<string>();

  constructor(picture: Picture) {
    this.#files = new Map(picture);
    for (const file of picture.keys()) this.#addFolders(path.dirname(file));
  }

  #addFolders(folder: string): void {
    for (let current = folder; !this.#folders.has(current); current = path.dirname(current)) {
      this.#folders.add(current);
    }
  }

  async open(file: string, mode: OpenMode): Promise<OpenFile> {
    if (mode === 'create') {
      if (this.#files.has(file) || this.#folders.has(file)) throw errno('EEXIST', file);
      if (!this.#folders.has(path.dirname(file))) throw errno('ENOENT', file);
      this.#files.set(file, Buffer.alloc(0));
    }
    if (this.#folders.has(file)) throw errno('EISDIR', file);
    if (!this.#files.has(file)) throw errno('ENOENT', file);
    return this.#opened(file);
  }

  #opened(file: string): OpenFile {
    const bytes = () => this.#files.get(file) ?? Buffer.alloc(0);
    return {
      read: async (target, position) => bytes().copy(target, 0, position),
      write: async (source, position) => {
        const before = bytes();
        const grown = Buffer.alloc(Math.max(before.length, position + source.length));
        before.copy(grown);
        grown.set(source, position);
        this.#files.set(file, grown);
        return source.length;
      },
      datasync: async () => {},
      truncate: async (size) => {
        const cut = Buffer.alloc(size);
        bytes().copy(cut);
        this.#files.set(file, cut);
      },
      sizeBytes: async () => bytes().length,
      close: async () => {},
    };
  }

  async rename(from: string, to: string): Promise<void> {
    const bytes = this.#files.get(from);
    if (!bytes) throw errno('ENOENT', from);
    this.#files.delete(from);
    this.#files.set(to, bytes);
  }

  async link(existing: string, name: string): Promise<void> {
    const bytes = this.#files.get(existing);
    if (!bytes) throw errno('ENOENT', existing);
    if (this.#files.has(name)) throw errno('EEXIST', name);
    this.#files.set(name, bytes);
  }

  async unlink(file: string): Promise<void> {
    if (!this.#files.delete(file)) throw errno('ENOENT', file);
  }

  async makeFolder(folder: string): Promise<void> {
    if (this.#folders.has(folder) || this.#files.has(folder)) throw errno('EEXIST', folder);
    this.#addFolders(folder);
  }

  async list(folder: string): Promise<string[]> {
    if (!this.#folders.has(folder)) throw errno('ENOENT', folder);
    const entries = [...this.#files.keys(), ...this.#folders];
    return entries
      .filter((entry) => path.dirname(entry) === folder && entry !== folder)
      .map((entry) => path.basename(entry));
  }

  async stat(entry: string): Promise<FileStat | null> {
    const bytes = this.#files.get(entry);
    if (bytes) return { ...COMMON, kind: 'file', sizeBytes: bytes.length, mode: 0o600 };
    return this.#folders.has(entry) ? { ...COMMON, kind: 'folder', sizeBytes: 0, mode: 0o700 } : null;
  }

  async syncFolder(): Promise<void> {}

  async touch(): Promise<void> {}

  async setMode(): Promise<void> {}

  async realPath(entry: string): Promise<string> {
    return entry;
  }
}

function errno(code: string, file: string): Error {
  return Object.assign(new RangeError(`${code}: ${file}`), { code });
}
