import { assertDigest, digestOf } from '../blob-digest.js';
import type { BlobInfo, Blobs, StoredBlob } from '../ports.js';

export interface MemoryBlob {
  readonly bytes: Uint8Array;
  readonly storedMs: number;
}

export class MemoryBlobs implements Blobs {
  readonly #blobs: Map<string, MemoryBlob>;

  constructor(blobs: Map<string, MemoryBlob>) {
    this.#blobs = blobs;
  }

  async put(bytes: Uint8Array): Promise<BlobInfo> {
    const digest = digestOf(bytes);
    if (!this.#blobs.has(digest))
      this.#blobs.set(digest, { bytes: Buffer.from(bytes), storedMs: Date.now() });
    return { digest, size: bytes.length };
  }

  async get(digest: string): Promise<Uint8Array | null> {
    const blob = this.#blobs.get(assertDigest(digest));
    return blob ? Buffer.from(blob.bytes) : null;
  }

  async has(digest: string): Promise<boolean> {
    return this.#blobs.has(assertDigest(digest));
  }

  async delete(digest: string): Promise<boolean> {
    return this.#blobs.delete(assertDigest(digest));
  }

  async *list(): AsyncGenerator<StoredBlob> {
    for (const digest of [...this.#blobs.keys()].sort()) {
      const { bytes, storedMs } = this.#blobs.get(digest)!;
      yield { digest, size: bytes.length, storedMs };
    }
  }
}
