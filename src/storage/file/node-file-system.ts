/** The file-system port over `node:fs`. Callback functions on plain descriptors need fewer allocations than `FileHandle`. */
import fs from 'node:fs';
import path from 'node:path';
import { type FileStat, type FileSystem, isSameFile, type OpenFile, type OpenMode } from '../file-system.js';

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
/** Absent on Windows, where the earlier `stat` detects links. */
const NO_FOLLOW = fs.constants.O_NOFOLLOW ?? 0;
/** Prevents a hang when the path is a pipe. */
const NON_BLOCK = fs.constants.O_NONBLOCK ?? 0;

const FLAGS: Record<OpenMode, number> = {
  read: fs.constants.O_RDONLY | NO_FOLLOW | NON_BLOCK,
  update: fs.constants.O_RDWR | NO_FOLLOW | NON_BLOCK,
  create: fs.constants.O_RDWR | fs.constants.O_CREAT | fs.constants.O_EXCL | NO_FOLLOW,
};

type Done<T> = (error: NodeJS.ErrnoException | null, value: T) => void;

function call<T>(run: (done: Done<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    run((error, value) => (error ? reject(error) : resolve(value)));
  });
}

export class NodeFileSystem implements FileSystem {
  async open(file: string, mode: OpenMode): Promise<OpenFile> {
    const fd = await call<number>((done) => fs.open(file, FLAGS[mode], FILE_MODE, done));
    // An update needs no check of the kind: the flag rejects links, and a positioned write rejects pipes.
    if (mode === 'update') return new NodeOpenFile(fd, null);
    let sizeAtOpen = 0;
    try {
      const stat = await call<fs.Stats>((done) => fs.fstat(fd, done));
      sizeAtOpen = stat.size;
      if (!stat.isFile()) throw errno('EINVAL', `not a regular file: ${file}`);
      // The umask removed bits from a new file, or a file system without modes added some.
      if (mode === 'create') await call<void>((done) => fs.fchmod(fd, FILE_MODE, done as fs.NoParamCallback));
    } catch (thrown) {
      await call<void>((done) => fs.close(fd, done as fs.NoParamCallback)).catch(() => {});
      if (mode === 'create') await this.unlink(file).catch(() => {});
      throw thrown;
    }
    return new NodeOpenFile(fd, sizeAtOpen);
  }

  rename(from: string, to: string): Promise<void> {
    return call<void>((done) => fs.rename(from, to, done as fs.NoParamCallback));
  }

  /**
   * The check and the rename run without a turn of the event loop in between, so only microseconds remain in which
   * another program may save.
   */
  async renameOver(from: string, to: string, seen: FileStat | null): Promise<boolean> {
    const stat = fs.lstatSync(to, { throwIfNoEntry: false });
    if (!isSameFile(stat ? toFileStat(stat) : null, seen)) return false;
    fs.renameSync(from, to);
    return true;
  }

  link(existing: string, name: string): Promise<void> {
    return call<void>((done) => fs.link(existing, name, done as fs.NoParamCallback));
  }

  unlink(file: string): Promise<void> {
    return call<void>((done) => fs.unlink(file, done as fs.NoParamCallback));
  }

  async makeFolder(folder: string): Promise<void> {
    await call<void>((done) => fs.mkdir(folder, FOLDER_MODE, done as fs.NoParamCallback));
    await call<void>((done) => fs.chmod(folder, FOLDER_MODE, done as fs.NoParamCallback));
  }

  list(folder: string): Promise<string[]> {
    return call<string[]>((done) => fs.readdir(folder, done));
  }

  stat(entry: string): Promise<FileStat | null> {
    return new Promise((resolve, reject) => {
      fs.lstat(entry, (error, stat) => {
        if (!error) resolve(toFileStat(stat));
        else if (error.code === 'ENOENT' || error.code === 'ENOTDIR') resolve(null);
        else reject(error);
      });
    });
  }

  async syncFolder(folder: string): Promise<void> {
    if (process.platform === 'win32') return; // Windows has no sync for folders; NTFS journals its names.
    const fd = await call<number>((done) => fs.open(folder, fs.constants.O_RDONLY, done));
    try {
      await call<void>((done) => fs.fsync(fd, done as fs.NoParamCallback));
    } finally {
      await call<void>((done) => fs.close(fd, done as fs.NoParamCallback));
    }
  }

  touch(file: string, modifiedMs: number): Promise<void> {
    return call<void>((done) =>
      fs.utimes(file, modifiedMs / 1000, modifiedMs / 1000, done as fs.NoParamCallback),
    );
  }

  setMode(file: string, mode: number): Promise<void> {
    return call<void>((done) => fs.chmod(file, mode, done as fs.NoParamCallback));
  }

  realPath(entry: string): Promise<string> {
    return call<string>((done) => fs.realpath.native(path.resolve(entry), done));
  }
}

class NodeOpenFile implements OpenFile {
  readonly #fd: number;
  /** Size at opening, until this descriptor changes the file. Saves a system call. */
  #knownSize: number | null;

  constructor(fd: number, sizeAtOpen: number | null) {
    this.#fd = fd;
    this.#knownSize = sizeAtOpen;
  }

  read(target: Uint8Array, position: number): Promise<number> {
    return call<number>((done) => fs.read(this.#fd, target, 0, target.length, position, done));
  }

  write(source: Uint8Array, position: number): Promise<number> {
    this.#knownSize = null;
    return call<number>((done) => fs.write(this.#fd, source, 0, source.length, position, done));
  }

  datasync(): Promise<void> {
    return call<void>((done) => fs.fdatasync(this.#fd, done as fs.NoParamCallback));
  }

  truncate(sizeBytes: number): Promise<void> {
    this.#knownSize = null;
    return call<void>((done) => fs.ftruncate(this.#fd, sizeBytes, done as fs.NoParamCallback));
  }

  async sizeBytes(): Promise<number> {
    return this.#knownSize ?? (await call<fs.Stats>((done) => fs.fstat(this.#fd, done))).size;
  }

  close(): Promise<void> {
    return call<void>((done) => fs.close(this.#fd, done as fs.NoParamCallback));
  }
}

function toFileStat(stat: fs.Stats): FileStat {
  const kind = stat.isFile()
    ? 'file'
    : stat.isDirectory()
      ? 'folder'
      : stat.isSymbolicLink()
        ? 'link'
        : 'other';
  const { size: sizeBytes, mtimeMs: modifiedMs, ctimeMs: changedMs, ino: inode, nlink: links } = stat;
  const mode = stat.mode & 0o777;
  return { kind, sizeBytes, modifiedMs, changedMs, inode, mode, links, ownerId: stat.uid };
}

function errno(code: string, message: string): NodeJS.ErrnoException {
  return Object.assign(new TypeError(message), { code });
}
