/**
 * Documents as files. A document is written to a temporary file next to the target (random name, exclusive), synced and
 * renamed, and the folder is synced. `cache` skips the syncs. Implemented here, because the available libraries
 * acknowledge short writes.
 */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonValue } from '../../core/json.js';
import {
  assertDocumentSize,
  decodeDocument,
  documentConflict,
  encodeDocument,
  versionOf,
} from '../document-encoding.js';
import { errnoOf, type FileSystem, type OpenFile } from '../file-system.js';
import { encodeNameSegment } from '../name-encoding.js';
import type { DocumentDurability, Documents, DocumentWriteOptions, Name } from '../ports.js';
import { SerialCalls } from '../serial-calls.js';
import { openExisting, readWhole, renameIfSame, writeFully } from './file-io.js';
import { assertOwnersAlone, assertPlainFile, type FilePaths } from './file-paths.js';
import { labelled } from './storage-errors.js';
import { writeThenPlace } from './temporary-file.js';

const BUSY = new Set(['EPERM', 'EACCES', 'EBUSY']);
const RENAME_TRIES = 8;
const NEW_MODE = 0o600;
const NO_MODES = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']);

export class FileDocuments implements Documents {
  readonly #fs: FileSystem;
  readonly #paths: FilePaths;
  readonly #syncAncestors: (folder: string) => Promise<void>;
  /** One write at a time per path, so that `ifVersion` holds within this process. */
  readonly #writes = new SerialCalls();
  /** Sizes of the files that this process wrote last, so that appending needs no `stat`. */
  readonly #sizes = new Map<string, number>();
  /** Descriptors that are being closed. */
  readonly #closing = new Set<Promise<void>>();

  constructor(fs: FileSystem, paths: FilePaths, syncAncestors: (folder: string) => Promise<void>) {
    this.#fs = fs;
    this.#paths = paths;
    this.#syncAncestors = syncAncestors;
  }

  async read(name: Name): Promise<{ value: JsonValue; version: string } | null> {
    const bytes = await this.#readBytes(name, (size) => assertDocumentSize(name, size));
    if (!bytes) return null;
    return decodeDocument(name, bytes);
  }

  async write(
    name: Name,
    value: JsonValue,
    options: DocumentWriteOptions = {},
  ): Promise<{ version: string }> {
    const bytes = encodeDocument(value);
    await this.writeBytes(name, bytes, options);
    return { version: versionOf(bytes) };
  }

  assertPrivate(name: Name): Promise<void> {
    return labelled(`look at ${name.join('/')}`, async () => {
      const file = await this.#paths.resolve(name, { make: false });
      const stat = await assertPlainFile(this.#fs, file);
      if (stat) assertOwnersAlone(file, stat);
    });
  }

  readBytes(name: Name): Promise<Buffer | null> {
    return this.#readBytes(name);
  }

  async writeBytes(name: Name, bytes: Uint8Array, options: DocumentWriteOptions = {}): Promise<void> {
    await this.#serially(name, { make: true }, async (target) => {
      const mode = (await assertPlainFile(this.#fs, target))?.mode ?? NEW_MODE;
      const { ifVersion, durability = 'durable' } = options;
      const place = async (made: string) => {
        if (mode !== NEW_MODE) await this.#keepMode(made, mode);
        if (ifVersion === undefined) return this.#rename(made, target);
        // Checked again just before the rename: a person may save while the new file is being synced.
        await this.#renameIfVersion(name, made, target, ifVersion);
      };
      if (ifVersion !== undefined) await this.#assertVersion(name, target, ifVersion);
      this.#sizes.delete(target);
      await this.#replace(target, bytes, durability, place);
      this.#sizes.set(target, bytes.length);
    });
  }

  async overwriteTail(name: Name, offset: number, bytes: Uint8Array): Promise<void> {
    await this.#serially(name, { make: false }, async (target) => {
      const file = await openExisting(this.#fs, target, 'update');
      if (!file) throw documentConflict(name, 'it is absent');
      try {
        const size = this.#sizes.get(target) ?? (await file.sizeBytes());
        if (size < offset) throw documentConflict(name, `it has only ${size} bytes`);
        this.#sizes.delete(target);
        await writeFully(file, bytes, offset);
        if (offset + bytes.length < size) await file.truncate(offset + bytes.length);
        this.#sizes.set(target, offset + bytes.length);
      } finally {
        this.#closeLater(file); // nothing depends on it: the write is not synced anyway
      }
    });
  }

  #closeLater(file: OpenFile): void {
    const closing = file
      .close()
      .catch(() => {})
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  /** Waits for descriptors that are being closed. */
  async close(): Promise<void> {
    await Promise.all(this.#closing);
  }

  modifiedMs(name: Name): Promise<number | null> {
    return labelled(`look at ${name.join('/')}`, async () => {
      const stat = await this.#fs.stat(await this.#paths.resolve(name, { make: false }));
      // A file that was moved here, or copied with its old time, counts as changed when it was placed here.
      return stat?.kind === 'file' ? Math.max(stat.modifiedMs, stat.changedMs) : null;
    });
  }

  async setAside(name: Name, label: string): Promise<string | null> {
    const aside = `${name.at(-1)}.${label}-${randomBytes(4).toString('hex')}`;
    const moved = await this.#change(name, (target) =>
      this.#fs.rename(target, path.join(path.dirname(target), encodeNameSegment(aside))),
    );
    return moved ? aside : null;
  }

  delete(name: Name): Promise<boolean> {
    return this.#change(name, (target) => this.#fs.unlink(target));
  }

  /** False if there was nothing to change. Synced even then: a killed process may have deleted it without a sync. */
  #change(name: Name, change: (target: string) => Promise<void>): Promise<boolean> {
    return this.#serially(name, { make: false }, async (target) => {
      this.#sizes.delete(target);
      const changed = await change(target).then(
        () => true,
        (thrown: unknown) => {
          if (errnoOf(thrown) === 'ENOENT') return false;
          throw thrown;
        },
      );
      await this.#syncIfThere(path.dirname(target));
      return changed;
    });
  }

  async #syncIfThere(folder: string): Promise<void> {
    await this.#fs.syncFolder(folder).catch((thrown: unknown) => {
      if (errnoOf(thrown) !== 'ENOENT') throw thrown;
    });
  }

  list(prefix: Name): Promise<string[]> {
    return labelled(`list ${prefix.join('/')}`, () => this.#paths.list(prefix));
  }

  #readBytes(name: Name, onSize?: (bytes: number) => void): Promise<Buffer | null> {
    return labelled(`read ${name.join('/')}`, async () =>
      readWhole(this.#fs, await this.#paths.resolve(name, { make: false }), onSize),
    );
  }

  async #assertVersion(name: Name, target: string, expected: string | null): Promise<void> {
    const bytes = await readWhole(this.#fs, target);
    const version = bytes ? versionOf(bytes) : null;
    if (version !== expected)
      throw documentConflict(name, `its version is ${version ?? 'none'}, not ${expected ?? 'none'}`);
  }

  async #replace(
    target: string,
    bytes: Uint8Array,
    durability: DocumentDurability,
    place: (made: string) => Promise<void>,
  ): Promise<void> {
    const folder = path.dirname(target);
    const sync = durability === 'durable';
    await writeThenPlace(this.#fs, folder, bytes, { sync, place });
    if (sync) {
      await this.#syncAncestors(folder);
      await this.#fs.syncFolder(folder);
    }
  }

  /** Keeps the mode that a person set. On a file system without modes there is nothing to keep. */
  async #keepMode(made: string, mode: number): Promise<void> {
    await this.#fs.setMode(made, mode).catch((thrown: unknown) => {
      if (!NO_MODES.has(errnoOf(thrown) ?? '')) throw thrown;
    });
  }

  /** The check of the file's times and size comes last, directly before the rename. */
  async #renameIfVersion(name: Name, from: string, to: string, expected: string | null): Promise<void> {
    for (let tried = 1; ; tried += 1) {
      const seen = await this.#fs.stat(to);
      await this.#assertVersion(name, to, expected);
      if (await this.#tryRename(() => renameIfSame(this.#fs, from, to, seen))) return;
      if (tried === RENAME_TRIES) throw documentConflict(name, 'it is changed again and again');
    }
  }

  #rename(from: string, to: string): Promise<void> {
    return this.#tryRename(() => this.#fs.rename(from, to));
  }

  /** Virus scanners and indexers on Windows hold files open for moments. No other system needs a second try. */
  async #tryRename<T>(rename: () => Promise<T>): Promise<T> {
    for (let tried = 1; ; tried += 1) {
      try {
        return await rename();
      } catch (thrown) {
        const again = process.platform === 'win32' && BUSY.has(errnoOf(thrown) ?? '') && tried < RENAME_TRIES;
        if (!again) throw thrown;
        await sleep(2 ** tried);
      }
    }
  }

  async #serially<T>(
    name: Name,
    options: { readonly make: boolean },
    run: (target: string) => Promise<T>,
  ): Promise<T> {
    // Queued before the path is resolved: lookups may finish in another order than they started.
    const resolveAndRun = async () => run(await this.#paths.resolve(name, options));
    return labelled(`write ${name.join('/')}`, () =>
      this.#writes.run(this.#paths.keyOf(name), resolveAndRun),
    );
  }
}
