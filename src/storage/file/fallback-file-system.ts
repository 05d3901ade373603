/**
 * A file system with missing features: each is replaced by the next best one, and reported once.
 *
 * - Without `link(2)` (exFAT, some container and phone file systems) a hard link becomes an exclusively created copy.
 *   One of several contenders still wins, but for a moment the new name exists without its content. See
 *   `docs/formats/lease.md`.
 * - Without folder sync (some network and FUSE file systems) names rely on the file system's own order.
 */
import path from 'node:path';
import { errnoOf, type FileStat, type FileSystem, type OpenFile, type OpenMode } from '../file-system.js';
import { readWhole, renameIfSame, withFile, writeFully } from './file-io.js';
import type { StorageWarning } from './storage-errors.js';

const NO_LINK = new Set(['EPERM', 'EACCES', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']);
const NO_FOLDER_SYNC = new Set(['EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EBADF', 'EISDIR']);

export class FallbackFileSystem implements FileSystem {
  readonly #inner: FileSystem;
  readonly #warn: (warning: StorageWarning) => void;
  #canLink = true;
  #canSyncFolders = true;

  constructor(inner: FileSystem, warn: (warning: StorageWarning) => void) {
    this.#inner = inner;
    this.#warn = warn;
  }

  async link(existing: string, name: string): Promise<void> {
    if (!this.#canLink) return this.#copy(existing, name);
    try {
      await this.#inner.link(existing, name);
    } catch (thrown) {
      if (!NO_LINK.has(errnoOf(thrown) ?? '')) throw thrown;
      await this.#copy(existing, name); // a folder without write permission rejects the copy too
      this.#canLink = false;
      this.#warn({
        code: 'REKINDLE_NO_LINKS',
        place: path.dirname(name),
        message: `The file system of ${path.dirname(name)} has no hard links. Files are made exclusively instead; nothing is less safe, and a process that is killed while it takes a lease keeps others out for up to 15 seconds.`,
      });
    }
  }

  async #copy(existing: string, name: string): Promise<void> {
    const bytes = await readWhole(this.#inner, existing);
    if (bytes === null) throw Object.assign(new RangeError(`no such file: ${existing}`), { code: 'ENOENT' });
    const stat = await this.#inner.stat(existing);
    const file = await this.#inner.open(name, 'create');
    try {
      await withFile(file, async () => {
        await writeFully(file, bytes, 0);
        await file.datasync();
      });
      if (stat) await this.#inner.touch(name, stat.modifiedMs);
    } catch (thrown) {
      await this.#inner.unlink(name).catch(() => {}); // the first error is the one to report
      throw thrown;
    }
  }

  async syncFolder(folder: string): Promise<void> {
    if (!this.#canSyncFolders) return;
    try {
      await this.#inner.syncFolder(folder);
    } catch (thrown) {
      if (!NO_FOLDER_SYNC.has(errnoOf(thrown) ?? '')) throw thrown;
      this.#canSyncFolders = false;
      this.#warn({
        code: 'REKINDLE_NO_FOLDER_SYNC',
        place: folder,
        message: `The file system of ${folder} cannot sync folders (${errnoOf(thrown)}). The content of files survives power loss; the name of a file that was made in the last moments may not. Use a local disk where that matters.`,
      });
    }
  }

  open(file: string, mode: OpenMode): Promise<OpenFile> {
    return this.#inner.open(file, mode);
  }

  rename(from: string, to: string): Promise<void> {
    return this.#inner.rename(from, to);
  }

  renameOver(from: string, to: string, seen: FileStat | null): Promise<boolean> {
    return renameIfSame(this.#inner, from, to, seen);
  }

  unlink(file: string): Promise<void> {
    return this.#inner.unlink(file);
  }

  makeFolder(folder: string): Promise<void> {
    return this.#inner.makeFolder(folder);
  }

  list(folder: string): Promise<string[]> {
    return this.#inner.list(folder);
  }

  stat(entry: string): Promise<FileStat | null> {
    return this.#inner.stat(entry);
  }

  touch(file: string, modifiedMs: number): Promise<void> {
    return this.#inner.touch(file, modifiedMs);
  }

  setMode(file: string, mode: number): Promise<void> {
    return this.#inner.setMode(file, mode);
  }

  realPath(entry: string): Promise<string> {
    return this.#inner.realPath(entry);
  }
}
