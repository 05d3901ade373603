/** The file backend: one folder that a person can read. */
import path from 'node:path';
import { type Clock, systemClock } from '../../core/clock.js';
import type { JsonObject } from '../../core/json.js';
import { errnoOf, type FileSystem } from '../file-system.js';
import { decodeNameSegment } from '../name-encoding.js';
import type {
  Blobs,
  DurabilityMode,
  Journal,
  JournalOptions,
  Lease,
  Name,
  StorageBackend,
  StorageChange,
  StoredName,
  StoredPlace,
} from '../ports.js';
import { type ProcessIdentity, systemIdentity } from '../process-identity.js';
import { STORE_DOCUMENT, storeSealed } from '../sealing/sealed-names.js';
import { FallbackFileSystem } from './fallback-file-system.js';
import { FileBlobs } from './file-blobs.js';
import { contentsOf } from './file-contents.js';
import { FileDocuments } from './file-documents.js';
import { FileJournal } from './file-journal.js';
import { FileLeases } from './file-leases.js';
import { assertName, FilePaths } from './file-paths.js';
import { placesBelow, removeFilesBelow } from './file-tree.js';
import { removeSegments } from './journal-removal.js';
import { SegmentFiles } from './journal-segments.js';
import { NodeFileSystem } from './node-file-system.js';
import { emitStorageWarning, labelled, type StorageWarning, storageError } from './storage-errors.js';
import { sweepTemporary } from './temporary-file.js';

/** Longer than the time (50 ms) in which chokidar does not report further changes of a file. */
const TELL_AGAIN_MS = 100;
const OTHERS_WRITE = 0o002;

/** Options of `FileStorage`. All are optional. */
export interface FileStorageOptions {
  /** When an append is acknowledged. Default `durable`. */
  readonly durability?: DurabilityMode;
  /** Milliseconds for which `batched` gathers appends. Default 5. */
  readonly batchMs?: number;
  /** A live journal file is sealed when it is larger than this, in bytes. Default: the journal's own setting, else 64 MiB. */
  readonly segmentBytesMax?: number;
  /** Receives warnings about the folder. Default: a warning of the process. */
  readonly onWarning?: (warning: StorageWarning) => void;
  /** For tests: another disk, clock or process identity. */
  readonly fileSystem?: FileSystem;
  readonly clock?: Clock;
  readonly identity?: ProcessIdentity;
}

/**
 * Stores everything as readable files in one folder: JSONL journals, JSON documents, blobs by digest. For one machine
 * and any number of its processes. Nothing is created before the first write.
 * ```ts
 * const storage = new FileStorage('memory');
 * ```
 */
export class FileStorage implements StorageBackend {
  readonly capabilities = { persistent: true, multiProcess: true, multiProcessDocuments: false } as const;
  readonly documents: FileDocuments;
  readonly leases: FileLeases;
  readonly root: string;
  readonly place: string;
  readonly #fs: FileSystem;
  readonly #warn: (warning: StorageWarning) => void;
  readonly #paths: FilePaths;
  readonly #options: FileStorageOptions;
  readonly #synced = new Set<string>();
  readonly #open = new Set<Journal<JsonObject>>();
  readonly #watchers = new Set<() => Promise<void>>();
  #sealedAllowed = false;

  constructor(root: string, options: FileStorageOptions = {}) {
    this.root = path.resolve(root);
    this.place = this.root;
    this.#options = options;
    this.#warn = options.onWarning ?? emitStorageWarning;
    this.#fs = new FallbackFileSystem(options.fileSystem ?? new NodeFileSystem(), this.#warn);
    this.#paths = new FilePaths(this.#fs, this.root, (root) => this.#lookAtRoot(root));
    this.documents = new FileDocuments(this.#fs, this.#paths, (folder) => this.#syncAncestors(folder));
    const identity = options.identity ?? systemIdentity;
    this.leases = new FileLeases(this.#fs, this.#paths, {
      clock: options.clock ?? systemClock,
      identity,
      syncAncestors: (folder) => this.#syncAncestors(folder),
    });
  }

  async openJournal<R extends JsonObject>(name: Name, options: JournalOptions = {}): Promise<Journal<R>> {
    assertName(name);
    const readOnly = options.readOnly ?? false;
    const own = readOnly || options.lease ? null : await this.leases.acquire(ownLeaseName(name));
    try {
      return await this.#openJournal<R>(name, options, own);
    } catch (thrown) {
      await own?.release().catch(() => {}); // the first error is the one to report
      throw thrown;
    }
  }

  async #openJournal<R extends JsonObject>(
    name: Name,
    { readOnly = false, lease, segmentBytes }: JournalOptions,
    own: Lease | null,
  ): Promise<Journal<R>> {
    const segmentBytesMax = this.#options.segmentBytesMax ?? segmentBytes;
    const plainPath = await labelled(`open ${name.join('/')}`, () =>
      this.#paths.resolve(name, { make: !readOnly }),
    );
    const journal = await FileJournal.open<R>(this.#fs, plainPath, {
      lease: lease ?? own,
      readOnly,
      durability: this.#options.durability ?? 'durable',
      batchMs: this.#options.batchMs ?? 5,
      ...(segmentBytesMax === undefined ? {} : { segmentBytesMax }),
      syncAncestors: () => this.#syncAncestors(path.dirname(plainPath)),
      onClose: async () => {
        this.#open.delete(journal as unknown as Journal<JsonObject>);
        await own?.release();
      },
    });
    this.#open.add(journal as unknown as Journal<JsonObject>);
    return journal;
  }

  removeJournal(name: Name, lease: Lease): Promise<boolean> {
    assertName(name);
    return labelled(`remove ${name.join('/')}`, async () => {
      const files = new SegmentFiles(await this.#paths.resolve(name, { make: false }));
      await lease.check();
      return removeSegments(this.#fs, files);
    });
  }

  blobs(scope: Name): Blobs {
    return new FileBlobs(this.#fs, this.#paths, scope, (folder) => this.#syncAncestors(folder));
  }

  listNames(prefix: Name): Promise<string[]> {
    return labelled(`list ${prefix.join('/')}`, () => this.#paths.list(prefix));
  }

  async *contents(prefix: Name): AsyncGenerator<StoredName> {
    try {
      yield* contentsOf(this.#fs, await this.#paths.folder(prefix, { make: false }), prefix);
    } catch (thrown) {
      throw storageError(thrown, `list ${prefix.join('/')}`);
    }
  }

  async *places(prefix: Name): AsyncGenerator<StoredPlace> {
    const folder = await labelled(`look at ${prefix.join('/')}`, () =>
      this.#paths.folder(prefix, { make: false }),
    );
    yield* await labelled(`list ${prefix.join('/')}`, () => placesBelow(this.#fs, folder, prefix.join('/')));
  }

  removeBelow(prefix: Name, lease: Lease): Promise<void> {
    assertName(prefix);
    return labelled(`remove ${prefix.join('/')}`, async () =>
      removeFilesBelow(this.#fs, await this.#paths.folder(prefix, { make: false }), lease),
    );
  }

  /** A deleted file is gone; the layers below the file system are out of scope. */
  async scrub(): Promise<void> {}

  sweep(scope: Name, options: { readonly shared?: boolean } = {}): Promise<number> {
    return labelled(`sweep ${scope.join('/')}`, async () =>
      sweepTemporary(this.#fs, await this.#paths.folder(scope, { make: false }), options),
    );
  }

  /** chokidar is loaded only if something is watched. Temporary and lease files are not reported. */
  async watch(prefix: Name, onChange: (change: StorageChange) => void): Promise<() => Promise<void>> {
    const folder = await labelled(`watch ${prefix.join('/')}`, () =>
      this.#paths.folder(prefix, { make: true }),
    );
    const { watch } = await import('chokidar');
    const watcher = watch(folder, {
      ignoreInitial: true,
      ignored: (file) => /[\\/](?:\.tmp-[^\\/]*|lease)(?:[\\/]|$)/.test(file.slice(folder.length)),
    });
    // If the system runs out of watches there is one error per file. The first is reported, and none may end the process.
    const ready = new Promise<void>((resolve, reject) => watcher.once('ready', resolve).on('error', reject));
    await ready.catch(async (thrown: unknown) => {
      await watcher.close();
      throw storageError(thrown, `watch ${prefix.join('/')}`);
    });
    // The last of several quick changes may go unreported, so each change is reported again a moment later.
    const again = new Map<string, NodeJS.Timeout>();
    watcher.on('all', (_event, file) => {
      const tell = () => onChange({ path: namesOf(path.relative(folder, file)).join('/') });
      const later = () => {
        again.delete(file);
        tell();
      };
      clearTimeout(again.get(file));
      again.set(file, setTimeout(later, TELL_AGAIN_MS));
      tell();
    });
    const end = async () => {
      this.#watchers.delete(end);
      for (const timer of again.values()) clearTimeout(timer);
      again.clear();
      await watcher.close();
    };
    this.#watchers.add(end);
    return end;
  }

  async close(): Promise<void> {
    const ends = [...this.#watchers].map((end) => end());
    const results = await Promise.allSettled([...ends, ...[...this.#open].map((journal) => journal.close())]);
    await this.documents.close();
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw storageError(failed.reason, 'close the store');
  }

  /** See `StorageBackend.allowSealed`. */
  allowSealed(): void {
    this.#sealedAllowed = true;
  }

  async #lookAtRoot(root: string): Promise<void> {
    const marker = path.join(root, ...STORE_DOCUMENT);
    if (!this.#sealedAllowed && (await this.#fs.stat(marker))) throw storeSealed(this.place);
    const { mode = 0 } = (await this.#fs.stat(root)) ?? {};
    if (process.platform === 'win32' || (mode & OTHERS_WRITE) === 0) return;
    this.#warn({
      code: 'REKINDLE_OPEN_TO_ALL',
      place: root,
      message: `Every user of this machine can change what is in ${root} (mode ${mode.toString(8)}). Close it: chmod o-w ${root}`,
    });
  }

  /** Makes a folder's own name durable, up to the root: its maker may have crashed before that sync. */
  async #syncAncestors(folder: string): Promise<void> {
    const root = await this.#paths.root();
    for (let current = folder; current.length >= root.length; current = path.dirname(current)) {
      if (this.#synced.has(current)) return;
      await this.#syncParent(current, current === root);
      this.#synced.add(current);
    }
  }

  /** The folder above the root is not ours. If it cannot be opened, its names are its owner's concern. */
  async #syncParent(folder: string, isRoot: boolean): Promise<void> {
    try {
      await this.#fs.syncFolder(path.dirname(folder));
    } catch (thrown) {
      if (!isRoot || !['EACCES', 'EPERM', 'EROFS', 'EINVAL'].includes(errnoOf(thrown) ?? '')) throw thrown;
    }
  }
}

/** The names as callers gave them: `watch` reports names, not their encoding on disk. */
function namesOf(relative: string): string[] {
  return relative.split(path.sep).map((part) => decodeNameSegment(part) ?? part);
}

function ownLeaseName(name: Name): Name {
  return [...name.slice(0, -1), `${name[name.length - 1]}.lease`];
}
