/**
 * The file-system port: the few calls that the file backend makes.
 *
 * There are two implementations: `NodeFileSystem` (the real one) and `SimulatedDisk` (every unsynced write is volatile;
 * crashes are explored). Tests also wrap it to inject faults. Paths are absolute.
 *
 * Contract for every call: rejects with an `Error` that has a `code` (`ENOENT`, `EEXIST`, `ENOSPC`, ...), as `node:fs`
 * does. `open` never follows links: it rejects a symlink with `ELOOP`.
 */
export type OpenMode =
  /** Existing regular file, for reading. */
  | 'read'
  /** Existing regular file, for reading and writing. */
  | 'update'
  /** New file, for reading and writing; `EEXIST` if the name is taken. Mode 0600 regardless of the umask. */
  | 'create';

/** Facts about a file or folder. */
export interface FileStat {
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  /** Last change of content, name, place or mode. */
  readonly changedMs: number;
  /** Differs between two files, even if they had the same name. */
  readonly inode: number;
  /** Permission bits, such as 0o600. */
  readonly mode: number;
  /** Number of hard links. */
  readonly links: number;
  /** The owning user; 0 for root, and on systems without users. */
  readonly ownerId: number;
}

/** An open file. Positions and sizes are in bytes. */
export interface OpenFile {
  /** Reads into `target` from `position`. Returns the count, which may be short; 0 at the end of the file. */
  read(target: Uint8Array, position: number): Promise<number>;
  /** Writes `source` at `position`. Returns the count, which may be short. Volatile until `datasync`. */
  write(source: Uint8Array, position: number): Promise<number>;
  /** When it resolves, the file's bytes and its size survive power loss. */
  datasync(): Promise<void>;
  truncate(sizeBytes: number): Promise<void>;
  sizeBytes(): Promise<number>;
  close(): Promise<void>;
}

/** The calls that `FileStorage` makes to a file system. */
export interface FileSystem {
  open(path: string, mode: OpenMode): Promise<OpenFile>;
  /** Replaces `to` atomically. Volatile until `syncFolder` of the folder. */
  rename(from: string, to: string): Promise<void>;
  /**
   * Like `rename`, but only if `to` is unchanged since `seen` (`null`: absent); otherwise returns false and changes
   * nothing. Optional, for file systems that can check and rename in one step; see `renameIfSame`.
   */
  renameOver?(from: string, to: string, seen: FileStat | null): Promise<boolean>;
  /** Creates a hard link; `EEXIST` if the name is taken, so one of several contenders wins. */
  link(existing: string, name: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** Creates one folder, mode 0700 regardless of the umask; `EEXIST` if the name is taken. */
  makeFolder(path: string): Promise<void>;
  /** The names in a folder, in any order. */
  list(path: string): Promise<string[]>;
  /** The entry itself, links not followed; null if there is none. */
  stat(path: string): Promise<FileStat | null>;
  /** When it resolves, the names in the folder survive power loss. A no-op on platforms without it. */
  syncFolder(path: string): Promise<void>;
  /** Sets the modification time; used for heartbeats. */
  touch(path: string, modifiedMs: number): Promise<void>;
  /** Sets the permission bits of a file. */
  setMode(path: string, mode: number): Promise<void>;
  /** The path with links resolved. */
  realPath(path: string): Promise<string>;
}

/** The same file, unchanged since. */
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
