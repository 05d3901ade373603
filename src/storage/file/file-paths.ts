/**
 * From names to paths below one root, and nowhere else.
 *
 * The root itself may be reached through a link (resolved once). Below it, a link is refused. A folder written
 * by another tool under its plain, mixed-case name is found too, when the encoded name does not exist.
 */
import path from 'node:path';
import { RekindleError } from '../../core/errors.js';
import { errnoOf, type FileSystem } from '../file-system.js';
import { decodeNameSegment, encodeNameSegment } from '../name-encoding.js';
import type { Name } from '../ports.js';
import { ensureFolder } from './file-io.js';

const PLAIN_MIXED_CASE = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

export class FilePaths {
  readonly #fs: FileSystem;
  readonly #given: string;
  #root: string | null = null;
  readonly #checked = new Map<string, string>();

  constructor(fs: FileSystem, root: string) {
    this.#fs = fs;
    this.#given = path.resolve(root);
  }

  /** The path of a name. All segments but the last are folders, which are checked (and made when `make`). */
  async resolve(name: Name, options: { readonly make: boolean; readonly suffix?: string }): Promise<string> {
    assertName(name);
    const folder = await this.folder(name.slice(0, -1), options);
    return path.join(folder, encodeNameSegment(name[name.length - 1]!) + (options.suffix ?? ''));
  }

  /** The folder of a name; links on the way are refused. */
  async folder(name: Name, options: { readonly make: boolean }): Promise<string> {
    for (const segment of name) encodeNameSegment(segment); // all, before the first is made
    let folder = await this.#rootFolder(options.make);
    for (const segment of name) folder = await this.#child(folder, segment, options.make);
    return folder;
  }

  /** The root with links resolved. */
  root(): Promise<string> {
    return this.#rootFolder(false);
  }

  /** The segments stored directly under a name, decoded and sorted. */
  async list(name: Name): Promise<string[]> {
    const entries = await this.#entries(await this.folder(name, { make: false }));
    const decoded = entries.map(
      (entry) => decodeNameSegment(entry) ?? (PLAIN_MIXED_CASE.test(entry) ? entry : null),
    );
    return [...new Set(decoded.filter((entry) => entry !== null))].sort();
  }

  async #rootFolder(make: boolean): Promise<string> {
    if (this.#root !== null) return this.#root;
    if (make) await ensureFolder(this.#fs, await this.#throughLinks(this.#given));
    try {
      return (this.#root = await this.#fs.realPath(this.#given));
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
    if (!stat && PLAIN_MIXED_CASE.test(segment) && (await this.#entries(parent)).includes(segment)) {
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

/** Refuses an entry that is not a plain file; null and plain files pass. */
export async function assertPlainFile(fs: FileSystem, file: string): Promise<void> {
  const stat = await fs.stat(file);
  if (stat && stat.kind !== 'file') throw refusedPath(file, stat.kind);
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
