/**
 * Blobs as files: `<scope>/<first two digits>/<digest>`. A blob is complete before its name exists, so a name implies
 * good bytes.
 */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { RekindleError } from '../../core/errors.js';
import { assertDigest, digestOf, isDigest } from '../blob-digest.js';
import { errnoOf, type FileSystem } from '../file-system.js';
import type { BlobInfo, Blobs, Name, StoredBlob } from '../ports.js';
import { ensureFolder, readWhole } from './file-io.js';
import type { FilePaths } from './file-paths.js';
import { labelled, storageError } from './storage-errors.js';
import { writeThenPlace } from './temporary-file.js';

export class FileBlobs implements Blobs {
  readonly #fs: FileSystem;
  readonly #paths: FilePaths;
  readonly #scope: Name;
  readonly #syncAncestors: (folder: string) => Promise<void>;

  constructor(
    fs: FileSystem,
    paths: FilePaths,
    scope: Name,
    syncAncestors: (folder: string) => Promise<void>,
  ) {
    this.#fs = fs;
    this.#paths = paths;
    this.#scope = scope;
    this.#syncAncestors = syncAncestors;
  }

  put(bytes: Uint8Array): Promise<BlobInfo> {
    const digest = digestOf(bytes);
    return labelled(`store an artifact`, async () => {
      const scope = await this.#paths.folder(this.#scope, { make: true });
      const folder = path.join(scope, digest.slice(0, 2));
      await ensureFolder(this.#fs, folder);
      const target = path.join(folder, digest);
      if (!(await this.#isStored(target, digest))) {
        const place = (made: string) => this.#fs.rename(made, target);
        await writeThenPlace(this.#fs, scope, bytes, { sync: true, place }); // placed in the scope, so one listing finds leftovers
      }
      // Also for existing blobs: their writer may have crashed before the sync.
      await this.#syncAncestors(folder);
      await this.#fs.syncFolder(folder);
      return { digest, size: bytes.length };
    });
  }

  /** The name alone proves nothing: damaged bytes are moved aside, and a link is rejected. */
  async #isStored(target: string, digest: string): Promise<boolean> {
    const bytes = await readWhole(this.#fs, target);
    if (bytes === null) return false;
    if (digestOf(bytes) === digest) return true;
    await this.#fs.rename(target, `${target}.damaged-${randomBytes(4).toString('hex')}`);
    return false;
  }

  get(digest: string): Promise<Uint8Array | null> {
    return labelled(`read artifact ${digest}`, async () => {
      const bytes = await readWhole(this.#fs, await this.#path(digest));
      if (bytes && digestOf(bytes) !== digest) {
        throw new RekindleError('BLOB_DAMAGED', `Artifact ${digest} does not match its digest.`, {
          details: { digest },
        });
      }
      return bytes;
    });
  }

  has(digest: string): Promise<boolean> {
    return labelled(
      `look for artifact ${digest}`,
      async () => (await this.#fs.stat(await this.#path(digest))) !== null,
    );
  }

  delete(digest: string): Promise<boolean> {
    return labelled(`delete artifact ${digest}`, async () => {
      try {
        await this.#fs.unlink(await this.#path(digest));
        return true;
      } catch (thrown) {
        if (errnoOf(thrown) === 'ENOENT') return false;
        throw thrown;
      }
    });
  }

  async *list(): AsyncGenerator<StoredBlob> {
    try {
      const scope = await this.#paths.folder(this.#scope, { make: false });
      for (const shard of (await this.#names(scope)).filter((name) => /^[0-9a-f]{2}$/.test(name)).sort()) {
        for (const digest of (await this.#names(path.join(scope, shard))).filter(isDigest).sort()) {
          const stat = await this.#fs.stat(path.join(scope, shard, digest));
          if (stat?.kind === 'file') yield { digest, size: stat.sizeBytes, storedMs: stat.modifiedMs };
        }
      }
    } catch (thrown) {
      throw storageError(thrown, 'list artifacts');
    }
  }

  async #path(digest: string): Promise<string> {
    return path.join(
      await this.#paths.folder(this.#scope, { make: false }),
      assertDigest(digest).slice(0, 2),
      digest,
    );
  }

  async #names(folder: string): Promise<string[]> {
    try {
      return await this.#fs.list(folder);
    } catch (thrown) {
      if (errnoOf(thrown) === 'ENOENT') return [];
      throw thrown;
    }
  }
}
