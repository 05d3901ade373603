/**
 * Compare-and-set on files. Creating is one `link(2)`, so that one contender wins. Replacing compares and renames under a
 * lease of the folder, so that all processes of the machine take turns.
 */
import path from 'node:path';
import { type Clock, systemClock } from '../../core/clock.js';
import { isRekindleError } from '../../core/errors.js';
import { versionOf } from '../document-encoding.js';
import type { FilePaths } from '../file/file-paths.js';
import { FileStorage, type FileStorageOptions } from '../file/file-storage.js';
import { labelled } from '../file/storage-errors.js';
import { writeThenPlace } from '../file/temporary-file.js';
import { errnoOf, type FileSystem } from '../file-system.js';
import type { Documents, Name } from '../ports.js';
import { SharedLease } from '../shared-lease.js';
import type { ConditionalObjects, VersionedObject, WriteCondition } from './object-storage.js';

/** For tests: another disk, clock or process identity. */
export type LocalMachine = Pick<FileStorageOptions, 'fileSystem' | 'clock' | 'identity'>;

interface LocalParts {
  readonly fs: FileSystem;
  readonly paths: FilePaths;
  readonly documents: Documents;
  readonly machine: LocalMachine;
}

/** A hidden folder: no listing shows it. */
const LOCKS = '.locks';

export class LocalConditional implements ConditionalObjects {
  readonly #fs: FileSystem;
  readonly #paths: FilePaths;
  readonly #documents: Documents;
  readonly #clock: Clock;
  readonly #turns: FolderTurns;
  /** Folders whose names are durable. */
  readonly #synced = new Set<string>();

  constructor(root: string, { fs, paths, documents, machine }: LocalParts) {
    this.#fs = fs;
    this.#paths = paths;
    this.#documents = documents;
    this.#clock = machine.clock ?? systemClock;
    this.#turns = FolderTurns.of(path.resolve(root), machine, this);
  }

  async read(name: Name): Promise<VersionedObject | null> {
    const bytes = await this.#documents.readBytes(name);
    const modifiedMs = bytes && (await this.#documents.modifiedMs(name));
    if (!bytes || modifiedMs === null) return null;
    return { bytes, version: versionOf(bytes), ageMs: Math.max(0, this.#clock.nowMs() - modifiedMs) };
  }

  async writeIf(name: Name, bytes: Uint8Array, condition: WriteCondition): Promise<string | null> {
    const version = versionOf(bytes);
    if (condition.ifAbsent) return (await this.#create(name, bytes)) ? version : null;
    const options = condition.ifMatch === undefined ? {} : { ifVersion: condition.ifMatch };
    await this.#paths.resolve(name, { make: true }); // refuses a bad name, and makes the folder that holds the lease
    return this.#turns.lease.run(async (lease) => {
      try {
        await lease.check();
        await this.#documents.writeBytes(name, bytes, options);
        return version;
      } catch (thrown) {
        if (isRekindleError(thrown, 'DOCUMENT_CONFLICT')) return null;
        throw thrown;
      }
    });
  }

  /** The content is complete and durable before the name exists. */
  #create(name: Name, bytes: Uint8Array): Promise<boolean> {
    return labelled(`write ${name.join('/')}`, async () => {
      const target = await this.#paths.resolve(name, { make: true });
      const folder = path.dirname(target);
      const place = async (made: string) => {
        const created = await this.#fs.link(made, target).then(
          () => true,
          (thrown: unknown) => {
            if (errnoOf(thrown) !== 'EEXIST') throw thrown;
            return false;
          },
        );
        await this.#fs.unlink(made);
        return created;
      };
      const created = await writeThenPlace(this.#fs, folder, bytes, { sync: true, place });
      if (created) await this.#syncNames(folder);
      return created;
    });
  }

  async #syncNames(folder: string): Promise<void> {
    await this.#fs.syncFolder(folder);
    const root = await this.#paths.root();
    for (
      let at = folder;
      at !== root && at.startsWith(root) && !this.#synced.has(at);
      at = path.dirname(at)
    ) {
      await this.#fs.syncFolder(path.dirname(at));
      this.#synced.add(at);
    }
  }

  close(): Promise<void> {
    return this.#turns.leave(this);
  }
}

/** The turns of one folder: all its users in this process share them, because they would wait for each other. */
class FolderTurns {
  static readonly #all = new Map<string, FolderTurns>();
  readonly lease: SharedLease;
  readonly #folder: string;
  readonly #locks: FileStorage;
  readonly #users = new Set<object>();

  private constructor(folder: string, machine: LocalMachine) {
    this.#folder = folder;
    this.#locks = new FileStorage(path.join(folder, LOCKS), machine);
    this.lease = new SharedLease(this.#locks.leases, ['objects']);
  }

  static of(folder: string, machine: LocalMachine, user: object): FolderTurns {
    const isOther = machine.fileSystem !== undefined; // the same path on another disk
    let turns = isOther ? undefined : FolderTurns.#all.get(folder);
    if (!turns) turns = new FolderTurns(folder, machine);
    if (!isOther) FolderTurns.#all.set(folder, turns);
    turns.#users.add(user);
    return turns;
  }

  async leave(user: object): Promise<void> {
    if (!this.#users.delete(user) || this.#users.size > 0) return;
    if (FolderTurns.#all.get(this.#folder) === this) FolderTurns.#all.delete(this.#folder);
    await this.lease.close();
    await this.#locks.close();
  }
}
