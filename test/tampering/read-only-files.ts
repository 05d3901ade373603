/** Files of one session in memory, to be read and not written: made in no time, because a hundred thousand are. */
import path from 'node:path';
import type { FileStat, FileSystem, OpenFile, OpenMode } from '../../src/storage/file-system.js';
import type { SessionFiles } from './stores.js';

export class ReadOnlyFiles implements FileSystem {
  readonly #files = new Map<string, Buffer>();
  /** Names in each folder. */
  readonly #folders = new Map<string, Set<string>>();

  /** @param folder that of the session */
  constructor(folder: string, files: SessionFiles) {
    this.#noteEntry(folder);
    this.#folders.set(folder, new Set());
    for (const [name, bytes] of files) {
      const file = `${folder}${path.sep}${name}`;
      this.#files.set(file, bytes);
      this.#noteEntry(file);
    }
  }

  /** In its folder, and that in its own. */
  #noteEntry(entry: string): void {
    const end = entry.lastIndexOf(path.sep);
    if (end < 0) return;
    const [folder, name] = [entry.slice(0, end), entry.slice(end + 1)];
    const names = this.#folders.get(folder);
    if (names) {
      names.add(name);
      return;
    }
    this.#folders.set(folder, new Set([name]));
    this.#noteEntry(folder);
  }

  async open(file: string, mode: OpenMode): Promise<OpenFile> {
    // When it was read is noted nowhere, and that is tried only where the note can be read.
    if (mode !== 'read' || file.endsWith('access.json')) throw errno('EROFS', file);
    const bytes = this.#files.get(file);
    if (!bytes) throw errno(this.#folders.has(file) ? 'EISDIR' : 'ENOENT', file);
    return new ReadOnlyFile(file, bytes);
  }

  async list(folder: string): Promise<string[]> {
    const names = this.#folders.get(folder);
    if (!names) throw errno('ENOENT', folder);
    return [...names];
  }

  async stat(entry: string): Promise<FileStat | null> {
    const bytes = this.#files.get(entry);
    const times = { modifiedMs: 0, changedMs: 0, inode: 0, links: 1, ownerId: 0 };
    if (bytes) return { kind: 'file', sizeBytes: bytes.length, ...times, mode: 0o600 };
    return this.#folders.has(entry) ? { kind: 'folder', sizeBytes: 0, ...times, mode: 0o700 } : null;
  }

  async realPath(entry: string): Promise<string> {
    return entry;
  }

  async syncFolder(): Promise<void> {}

  async rename(from: string): Promise<void> {
    throw errno('EROFS', from);
  }

  async link(existing: string): Promise<void> {
    throw errno('EROFS', existing);
  }

  async unlink(file: string): Promise<void> {
    throw errno('EROFS', file);
  }

  async makeFolder(folder: string): Promise<void> {
    throw errno(this.#folders.has(folder) ? 'EEXIST' : 'EROFS', folder);
  }

  async touch(file: string): Promise<void> {
    throw errno('EROFS', file);
  }

  async setMode(file: string): Promise<void> {
    throw errno('EROFS', file);
  }
}

class ReadOnlyFile implements OpenFile {
  readonly #file: string;
  readonly #bytes: Buffer;

  constructor(file: string, bytes: Buffer) {
    this.#file = file;
    this.#bytes = bytes;
  }

  async read(target: Uint8Array, position: number): Promise<number> {
    return this.#bytes.copy(target, 0, position);
  }

  async write(): Promise<number> {
    throw errno('EROFS', this.#file);
  }

  async truncate(): Promise<void> {
    throw errno('EROFS', this.#file);
  }

  async datasync(): Promise<void> {}

  async sizeBytes(): Promise<number> {
    return this.#bytes.length;
  }

  async close(): Promise<void> {}
}

function errno(code: string, file: string): Error {
  return Object.assign(new RangeError(`${code}: ${file}`), { code });
}
