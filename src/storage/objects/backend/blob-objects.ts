/** Blobs as objects, named by their digest. */
import { isDigest } from '../../blob-digest.js';
import { nameOf } from '../../name-key.js';
import type { Name } from '../../ports.js';
import type { BlobRow, SqlOperations } from '../../sql/sql-engine.js';
import type { ObjectStorage } from '../object-storage.js';
import { BLOBS } from './object-places.js';

interface BlobRef {
  readonly scope: string;
  readonly digest: string;
}

export class BlobObjects {
  readonly #objects: ObjectStorage;

  constructor(objects: ObjectStorage) {
    this.#objects = objects;
  }

  /** An object is complete or absent, so its size is enough to recognize it. */
  async put(request: Parameters<SqlOperations['putBlob']>[0]): Promise<void> {
    const name = placeOf(request);
    const there = await this.#objects.stat(name);
    if (there?.size !== request.bytes.length) await this.#objects.put(name, request.bytes);
  }

  async read(request: BlobRef): Promise<{ readonly bytes: Uint8Array } | null> {
    const bytes = await this.#objects.get(placeOf(request));
    return bytes && { bytes };
  }

  async has(request: BlobRef): Promise<boolean> {
    return (await this.#objects.stat(placeOf(request))) !== null;
  }

  delete(request: BlobRef): Promise<boolean> {
    return this.#objects.delete(placeOf(request));
  }

  async list({ scope, after, limit }: Parameters<SqlOperations['listBlobs']>[0]): Promise<BlobRow[]> {
    const rows: BlobRow[] = [];
    for await (const { name, size, modifiedMs } of this.#objects.list([BLOBS, ...nameOf(scope)])) {
      const [digest, ...deeper] = name;
      if (digest === undefined || deeper.length > 0 || !isDigest(digest) || digest <= after) continue;
      rows.push({ digest, size, storedMs: modifiedMs });
      if (rows.length === limit) break;
    }
    return rows;
  }
}

function placeOf({ scope, digest }: BlobRef): Name {
  return [BLOBS, ...nameOf(scope), digest];
}
