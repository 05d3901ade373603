/** Objects as files below a folder. Each file is complete before it has its name. */
import path from 'node:path';
import { FilePaths } from '../file/file-paths.js';
import { FileStorage } from '../file/file-storage.js';
import { NodeFileSystem } from '../file/node-file-system.js';
import { labelled } from '../file/storage-errors.js';
import type { FileSystem } from '../file-system.js';
import type { Name } from '../ports.js';
import { type FolderEntry, namesInFolder, walkFolders } from './folder-walk.js';
import { LocalConditional, type LocalMachine } from './local-conditional.js';
import type { ConditionalObjects, ObjectEntry, ObjectInfo, ObjectStorage } from './object-storage.js';

/** An object store in a local folder. Object names become paths below `root`. */
export class LocalObjects implements ObjectStorage {
  readonly #fs: FileSystem;
  readonly #paths: FilePaths;
  readonly #storage: FileStorage;
  readonly #turns: LocalConditional;
  readonly conditional: ConditionalObjects;

  /** @param root created by the first `put` @param machine for tests: another disk, clock or process identity */
  constructor(root: string, machine: LocalMachine = {}) {
    this.#fs = machine.fileSystem ?? new NodeFileSystem();
    this.#paths = new FilePaths(this.#fs, root);
    this.#storage = new FileStorage(root, { ...machine, fileSystem: this.#fs });
    const { documents } = this.#storage;
    this.#turns = new LocalConditional(root, { fs: this.#fs, paths: this.#paths, documents, machine });
    this.conditional = this.#turns;
  }

  async put(name: Name, bytes: Uint8Array): Promise<void> {
    await this.#storage.documents.writeBytes(name, bytes);
  }

  get(name: Name): Promise<Uint8Array | null> {
    return this.#storage.documents.readBytes(name);
  }

  stat(name: Name): Promise<ObjectInfo | null> {
    return labelled(`look at ${name.join('/')}`, async () => {
      const stat = await this.#fs.stat(await this.#paths.resolve(name, { make: false }));
      if (stat?.kind !== 'file') return null;
      return { size: stat.sizeBytes, modifiedMs: Math.max(stat.modifiedMs, stat.changedMs) };
    });
  }

  async delete(name: Name): Promise<boolean> {
    return this.#storage.documents.delete(name);
  }

  async *list(prefix: Name): AsyncGenerator<ObjectEntry> {
    yield* walkFolders((below) => this.#entries([...prefix, ...below]));
  }

  names(prefix: Name): Promise<string[]> {
    return namesInFolder((below) => this.#entries([...prefix, ...below]));
  }

  async #entries(folder: Name): Promise<FolderEntry[]> {
    const segments = await this.#storage.documents.list(folder);
    const entries = await Promise.all(segments.map((segment) => this.#entry(folder, segment)));
    return entries.filter((entry) => entry !== null);
  }

  /** Anything that is not a file counts as a folder: a link is rejected when it is opened. */
  async #entry(folder: Name, segment: string): Promise<FolderEntry | null> {
    const object = await this.stat([...folder, segment]);
    if (object) return { segment, object };
    const parent = await this.#paths.folder(folder, { make: false });
    const foreign = (await this.#fs.stat(path.join(parent, segment)))?.kind === 'file';
    return foreign ? null : { segment, object: null };
  }

  async close(): Promise<void> {
    await this.#turns.close();
    await this.#storage.close();
  }
}
