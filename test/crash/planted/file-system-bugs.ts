/** Bugs planted between the storage and the disk: what the storage would do if its author had forgotten something. */
import type { FileSystem, OpenFile } from '../../../src/storage/file-system.js';

/** A file system whose calls go to another one, except those that a bug replaces. */
export function wrapFileSystem(
  inner: FileSystem,
  changes: Partial<FileSystem>,
  file: (file: OpenFile, path: string) => Partial<OpenFile> = () => ({}),
): FileSystem {
  return {
    open: async (path, mode) => {
      const opened = await inner.open(path, mode);
      return { ...boundFile(opened), ...file(opened, path) };
    },
    rename: (from, to) => inner.rename(from, to),
    link: (existing, name) => inner.link(existing, name),
    unlink: (path) => inner.unlink(path),
    makeFolder: (path) => inner.makeFolder(path),
    list: (path) => inner.list(path),
    stat: (path) => inner.stat(path),
    syncFolder: (path) => inner.syncFolder(path),
    touch: (path, modifiedMs) => inner.touch(path, modifiedMs),
    setMode: (path, mode) => inner.setMode(path, mode),
    realPath: (path) => inner.realPath(path),
    ...changes,
  };
}

function boundFile(file: OpenFile): OpenFile {
  return {
    read: (target, position) => file.read(target, position),
    write: (source, position) => file.write(source, position),
    datasync: () => file.datasync(),
    truncate: (sizeBytes) => file.truncate(sizeBytes),
    sizeBytes: () => file.sizeBytes(),
    close: () => file.close(),
  };
}

export function withoutFileSync(inner: FileSystem): FileSystem {
  return wrapFileSystem(inner, {}, () => ({ datasync: async () => {} }));
}

export function withoutFolderSync(inner: FileSystem): FileSystem {
  return wrapFileSystem(inner, { syncFolder: async () => {} });
}

/** Claims that every write took all bytes. */
export function ignoringShortWrites(inner: FileSystem): FileSystem {
  return wrapFileSystem(inner, {}, (file) => ({
    write: async (source, position) => {
      await file.write(source, position);
      return source.length;
    },
  }));
}

/** Calls a failed sync again on the same descriptor, and believes the second answer. */
export function retryingSync(inner: FileSystem): FileSystem {
  return wrapFileSystem(inner, {}, (file) => ({
    datasync: () => file.datasync().catch(() => file.datasync()),
  }));
}

/** Temporary files are synced after they got their final names. */
export function renamingBeforeSync(inner: FileSystem): FileSystem {
  const unsynced = new Map<string, OpenFile>();
  return wrapFileSystem(
    inner,
    {
      rename: async (from, to) => {
        await inner.rename(from, to);
        const file = unsynced.get(from);
        unsynced.delete(from);
        await file?.datasync();
        await file?.close();
      },
    },
    (file, path) => {
      if (!path.includes('/.tmp-') || path.includes('/lease/')) return {};
      return {
        datasync: async () => void unsynced.set(path, file),
        close: async () => {
          if (!unsynced.has(path)) await file.close();
        },
      };
    },
  );
}

/** A truncate that does nothing: what a failed write left stays. */
export function withoutTruncate(inner: FileSystem): FileSystem {
  return wrapFileSystem(inner, {}, () => ({ truncate: async () => {} }));
}

/** A sealed file whose new name is not durable before the live file is made again under the old one. */
export function withoutSyncAfterSealing(inner: FileSystem): FileSystem {
  let sealed = false;
  return wrapFileSystem(inner, {
    rename: async (from, to) => {
      await inner.rename(from, to);
      sealed ||= /\.\d{6}-\d+\.jsonl$/.test(to);
    },
    syncFolder: async (path) => {
      if (!sealed) await inner.syncFolder(path);
      sealed = false;
    },
  });
}

/** Artifacts are not synced: what stands in the context for a text is durable before the text is. */
export function withoutArtifactSync(inner: FileSystem): FileSystem {
  return wrapFileSystem(inner, {}, (_, path) =>
    path.includes('artifacts') ? { datasync: async () => {} } : {},
  );
}

/** Facts of a scope are acknowledged before they are durable. */
export function withoutScopeSync(inner: FileSystem): FileSystem {
  return wrapFileSystem(inner, {}, (_, path) =>
    path.includes('/subjects/') ? { datasync: async () => {} } : {},
  );
}
