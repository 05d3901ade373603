/**
 * Maps names to paths below one root.
 *
 * The root itself may be reached through a link (resolved once). Below it, links are rejected. A folder that another
 * tool made under its plain name (`Ada`, `Software Engineer_4771`) is found too, if the encoded name does not exist.
 */
import path from 'node:path';
import { RekindleError } from '../../core/errors.js';
import { errnoOf, type FileStat, type FileSystem } from '../file-system.js';
import { encodeNameSegment, isPlainName, segmentOfEntry } from '../name-encoding.js';
import type { Name } from '../ports.js';
import { ensureFolder } from './file-io.js';

export class FilePaths {
  readonly #fs: FileSystem;
  readonly #given: string;
  readonly #onRoot: (root: string) => Promise<void>;
  #root: string | null = null;
  #checking: Promise<void> | null = null;
  readonly #checked = new Map<string, string>();

  /** @param onRoot called once the root exists */
  constructor(fs: FileSystem, root: string, onRoot: (root: string) => Promise<void> = async () => {}) {
    this.#fs = fs;
    this.#onRoot = onRoot;
    this.#given = path.resolve(root);
  }

  /** The same key for the same name below the same root, computed synchronously: for code that must keep the order of calls. */
  keyOf(name: Name): string {
    return path.join(this.#given, ...name.map(encodeNameSegment));
  }

  /** The path of a name. All segments but the last are folders, which are checked (and created with `make`). */
  async resolve(name: Name, options: { readonly make: boolean; readonly suffix?: string }): Promise<string> {
    assertName(name);
    const folder = await this.folder(name.slice(0, -1), options);
    return path.join(folder, encodeNameSegment(name[name.length - 1]!) + (options.suffix ?? ''));
  }

  /** The folder of a name. Links on the way are rejected. */
  async folder(name: Name, options: { readonly make: boolean }): Promise<string> {
    for (const segment of name) encodeNameSegment(segment); // all of them, before the first folder is made
    let folder = await this.#rootFolder(options.make);
    for (const segment of name) folder = await this.#child(folder, segment, options.make);
    await this.#assertInPlace(folder);
    return folder;
  }

  /** A folder that was checked earlier may have been replaced by a link. */
  async #assertInPlace(folder: string): Promise<void> {
    if (this.#root === null) return;
    const real = await this.#fs.realPath(folder).catch((thrown: unknown) => {
      if (errnoOf(thrown) === 'ENOENT') return null;
      throw thrown;
    });
    if (real === null && folder.length > this.#root.length) return this.#assertInPlace(path.dirname(folder));
    if (real !== null && real !== folder) throw refusedPath(folder, 'link');
  }

  /** The root with links resolved. */
  root(): Promise<string> {
    return this.#rootFolder(false);
  }

  /** The segments stored directly under a name, decoded and sorted. */
  async list(name: Name): Promise<string[]> {
    const entries = await this.#entries(await this.folder(name, { make: false }));
    return [...new Set(entries.map(segmentOfEntry).filter((segment) => segment !== null))].sort();
  }

  async #rootFolder(make: boolean): Promise<string> {
    if (this.#root !== null) return this.#root;
    if (make) await ensureFolder(this.#fs, await this.#throughLinks(this.#given));
    try {
      const root = await this.#fs.realPath(this.#given);
      // Once for all calls that wait. A refused root is refused again by the next call.
      this.#checking ??= this.#onRoot(root).finally(() => (this.#checking = null));
      await this.#checking;
      this.#root = root;
      return root;
    } catch (thrown) {
      if (errnoOf(thrown) === 'ENOENT') return this.#given;
      throw thrown;
    }
  }

  async #throughLinks(folder: string): Promise<string> {
    try {
      return await this.#fs.realPath(folder);
    } catch (thrown) {
      if (errnoOf(thrown) !== 'ENOENT') throw thrown;
      const parent = path.dirname(folder);
      return parent === folder ? folder : path.join(await this.#throughLinks(parent), path.basename(folder));
    }
  }

  async #child(parent: string, segment: string, make: boolean): Promise<string> {
    const encoded = path.join(parent, encodeNameSegment(segment));
    const known = this.#checked.get(encoded);
    if (known !== undefined) return known;
    let found = encoded;
    let stat = await this.#fs.stat(encoded);
    if (!stat && isPlainName(segment) && (await this.#entries(parent)).includes(segment)) {
      found = path.join(parent, segment);
      stat = await this.#fs.stat(found);
    }
    if (stat && stat.kind !== 'folder') throw refusedPath(found, stat.kind);
    if (!stat && make) await ensureFolder(this.#fs, found);
    if (stat || make) this.#checked.set(encoded, found);
    return found;
  }

  async #entries(folder: string): Promise<string[]> {
    try {
      return await this.#fs.list(folder);
    } catch (thrown) {
      if (errnoOf(thrown) === 'ENOENT') return [];
      throw thrown;
    }
  }
}

/** @throws INVALID_ARGUMENT, INVALID_NAME */
export function assertName(name: Name): void {
  if (name.length === 0) throw new RekindleError('INVALID_ARGUMENT', 'A name needs at least one segment.');
  for (const segment of name) encodeNameSegment(segment);
}

/** Rejects anything but a plain file; null and plain files pass. */
export async function assertPlainFile(fs: FileSystem, file: string): Promise<FileStat | null> {
  const stat = await fs.stat(file);
  if (stat && stat.kind !== 'file') throw refusedPath(file, stat.kind);
  return stat;
}

/** Permission bits for group and others. */
const OTHERS = 0o077;

/** For secrets: only this user may read or change the file. @throws PATH_REFUSED */
export function assertOwnersAlone(file: string, { mode, ownerId }: FileStat): void {
  if (process.platform === 'win32') return;
  const self = process.getuid?.() ?? 0;
  const isOurs = ownerId === self || ownerId === 0;
  if (isOurs && (mode & OTHERS) === 0) return;
  const problem = isOurs
    ? `others can read or change it (mode ${mode.toString(8)}); chmod it to 600`
    : `it belongs to another user (uid ${ownerId}, not ${self})`;
  throw new RekindleError('PATH_REFUSED', `${file} is not used: ${problem}.`, { details: { file, problem } });
}

/** With a second hard link, something else may read or write the file. @throws PATH_REFUSED */
export async function assertOneName(fs: FileSystem, file: string): Promise<void> {
  const { links = 1 } = (await fs.stat(file)) ?? {};
  if (links <= 1) return;
  const problem = 'a hard link elsewhere is the same file; copy it, and put the copy in its place';
  throw new RekindleError('PATH_REFUSED', `${file} is not written to: ${problem}.`, {
    details: { file, links },
  });
}

function refusedPath(entry: string, kind: string): RekindleError {
  return new RekindleError(
    'PATH_REFUSED',
    `${entry} is a ${kind === 'other' ? 'special file' : kind}, and is refused.`,
    {
      details: { path: entry, kind },
    },
  );
}
