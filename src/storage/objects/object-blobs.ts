/** Blobs of one scope: large ones are stored in an object store under their scope and digest, the others in the backend. */
import { RekindleError } from '../../core/errors.js';
import { assertDigest, digestOf, isDigest } from '../blob-digest.js';
import type { BlobInfo, Blobs, Name, StoredBlob } from '../ports.js';
import type { ObjectStorage } from './object-storage.js';

/** The `Blobs` of one scope, split by size between a backend and an object store. */
export class ObjectBlobs implements Blobs {
  readonly #small: Blobs;
  readonly #objects: ObjectStorage;
  readonly #scope: Name;
  readonly #fromBytes: number;

  constructor(small: Blobs, objects: ObjectStorage, scope: Name, fromBytes: number) {
    this.#small = small;
    this.#objects = objects;
    this.#scope = scope;
    this.#fromBytes = fromBytes;
  }

  async put(bytes: Uint8Array): Promise<BlobInfo> {
    if (bytes.length < this.#fromBytes) return this.#small.put(bytes);
    const digest = digestOf(bytes);
    const name = this.#name(digest);
    const there = await this.#objects.stat(name); // an object is complete or absent, so its size is enough
    if (there?.size !== bytes.length) await this.#objects.put(name, bytes);
    return { digest, size: bytes.length };
  }

  async get(digest: string): Promise<Uint8Array | null> {
    const name = this.#name(assertDigest(digest));
    const small = await this.#small.get(digest);
    if (small) return small;
    const bytes = await this.#objects.get(name);
    if (bytes && digestOf(bytes) !== digest) {
      throw new RekindleError('BLOB_DAMAGED', `Artifact ${digest} does not match its digest.`, {
        details: { digest },
      });
    }
    return bytes;
  }

  async has(digest: string): Promise<boolean> {
    const name = this.#name(assertDigest(digest));
    return (await this.#small.has(digest)) || (await this.#objects.stat(name)) !== null;
  }

  /** Deletes from both places: the size limit may have been different before. */
  async delete(digest: string): Promise<boolean> {
    const name = this.#name(assertDigest(digest));
    const [small, large] = await Promise.all([this.#small.delete(digest), this.#objects.delete(name)]);
    return small || large;
  }

  async *list(): AsyncGenerator<StoredBlob> {
    const objects = this.#listObjects();
    try {
      let large = await objects.next();
      for await (const small of this.#small.list()) {
        for (; !large.done && large.value.digest < small.digest; large = await objects.next())
          yield large.value;
        if (!large.done && large.value.digest === small.digest) large = await objects.next();
        yield small;
      }
      for (; !large.done; large = await objects.next()) yield large.value;
    } finally {
      await objects.return(undefined);
    }
  }

  async *#listObjects(): AsyncGenerator<StoredBlob, undefined> {
    for await (const { name, size, modifiedMs } of this.#objects.list(this.#scope)) {
      const [digest, ...deeper] = name;
      if (digest !== undefined && deeper.length === 0 && isDigest(digest))
        yield { digest, size, storedMs: modifiedMs };
    }
  }

  #name(digest: string): Name {
    return [...this.#scope, digest];
  }
}
