import { assertDigest, digestOf } from '../blob-digest.js';
import type { BlobInfo, Blobs } from '../ports.js';

export class MemoryBlobs implements Blobs {
  readonly #blobs: Map<string, Uint8Array>;

  constructor(blobs: Map<string, Uint8Array>) {
    this.#blobs = blobs;
  }

  async put(bytes: Uint8Array): Promise<BlobInfo> {
    const digest = digestOf(bytes);
    if (!this.#blobs.has(digest)) this.#blobs.set(digest, Buffer.from(bytes));
    return { digest, size: bytes.length };
  }

  async get(digest: string): Promise<Uint8Array | null> {
    const bytes = this.#blobs.get(assertDigest(digest));
    return bytes ? Buffer.from(bytes) : null;
  }

  async has(digest: string): Promise<boolean> {
    return this.#blobs.has(assertDigest(digest));
  }

  async delete(digest: string): Promise<boolean> {
    return this.#blobs.delete(assertDigest(digest));
  }

  async *list(): AsyncGenerator<BlobInfo> {
    for (const digest of [...this.#blobs.keys()].sort())
      yield { digest, size: this.#blobs.get(digest)!.length };
  }
}
