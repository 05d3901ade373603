/**
 * The file-system port: the few calls that the file backend makes.
 *
 * Two implementations: `NodeFileSystem` (the real one) and `SimulatedDisk` (every un-synced write is
 * volatile; crashes are explored). Tests also wrap it to inject faults. Paths are absolute.
 *
 * Contract for every call: rejects with an `Error` that carries `code` (`ENOENT`, `EEXIST`, `ENOSPC`, ...),
 * as `node:fs` does. Links are never followed by `open`: a symlink is refused with `ELOOP`.
 */
export type OpenMode =
  /** Existing regular file, for reading. */
  | 'read'
  /** Existing regular file, for reading and writing. */
  | 'update'
  /** New file, for reading and writing; `EEXIST` when the name is taken. Mode 0600 whatever the umask. */
  | 'create';

export interface FileStat {
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  /** When anything of it changed, its name and place among it. */
  readonly changedMs: number;
  /** Another number for another file, also of the same name. */
  readonly inode: number;
  /** Permission bits, such as 0o600. */
  readonly mode: number;
  /** How many names a file has. */
  readonly links: number;
  /** The user that it belongs to; 0 for root, and where the system has no such thing. */
  readonly ownerId: number;
}

export interface OpenFile {
  /** Reads into `target` from `position`; returns the count, which may be short; 0 at the end of the file. */
  read(target: Uint8Array, position: number): Promise<number>;
  /** Writes `source` at `position`; returns the count, which may be short. Volatile until `datasync`. */
  write(source: Uint8Array, position: number): Promise<number>;
  /** When it resolves, the file's bytes and its size survive power loss. */
  datasync(): Promise<void>;
  truncate(sizeBytes: number): Promise<void>;
  sizeBytes(): Promise<number>;
  close(): Promise<void>;
}

export interface FileSystem {
  open(path: string, mode: OpenMode): Promise<OpenFile>;
  /** Replaces `to` in one step. Volatile until `syncFolder` of the folder. */
  rename(from: string, to: string): Promise<void>;
  /**
   * As `rename`, unless `to` is not as it was seen (`null`: absent): then false, and nothing is changed. Where a file system can look and
   * rename in one go, the two lie closer together; see `renameIfSame`.
   */
  renameOver?(from: string, to: string, seen: FileStat | null): Promise<boolean>;
  /** A second name for a file; `EEXIST` when taken, so that one of several contenders wins. */
  link(existing: string, name: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** One folder, mode 0700 whatever the umask; `EEXIST` when the name is taken. */
  makeFolder(path: string): Promise<void>;
  /** The names in a folder, in no order. */
  list(path: string): Promise<string[]>;
  /** The entry itself, links not followed; null when there is none. */
  stat(path: string): Promise<FileStat | null>;
  /** When it resolves, the names in the folder survive power loss. A no-op where the platform has none. */
  syncFolder(path: string): Promise<void>;
  /** Sets the modification time; a heartbeat. */
  touch(path: string, modifiedMs: number): Promise<void>;
  /** The permission bits of a file. */
  setMode(path: string, mode: number): Promise<void>;
  /** The path with links resolved. */
  realPath(path: string): Promise<string>;
}

/** The same file, not changed since. */
export function isSameFile(a: FileStat | null, b: FileStat | null): boolean {
  if (a === null || b === null) return a === b;
  return (
    a.inode === b.inode &&
    a.sizeBytes === b.sizeBytes &&
    a.modifiedMs === b.modifiedMs &&
    a.changedMs === b.changedMs
  );
}

export function errnoOf(thrown: unknown): string | undefined {
  const code =
    typeof thrown === 'object' && thrown !== null ? (thrown as { code?: unknown }).code : undefined;
  return typeof code === 'string' ? code : undefined;
}
