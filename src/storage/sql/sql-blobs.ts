import { RekindleError } from '../../core/errors.js';
import { assertDigest, digestOf } from '../blob-digest.js';
import type { BlobInfo, Blobs, StoredBlob } from '../ports.js';
import type { SqlEngine } from './sql-engine.js';

const PAGE_BLOBS = 1_000;

export class SqlBlobs implements Blobs {
  readonly #engine: SqlEngine;
  readonly #scope: string;
  readonly #nowMs: () => number | null;

  constructor(engine: SqlEngine, scope: string, nowMs: () => number | null) {
    this.#engine = engine;
    this.#scope = scope;
    this.#nowMs = nowMs;
  }

  async put(bytes: Uint8Array): Promise<BlobInfo> {
    const copy = Buffer.from(bytes);
    const digest = digestOf(copy);
    await this.#engine.run('putBlob', { scope: this.#scope, digest, bytes: copy, nowMs: this.#nowMs() });
    return { digest, size: bytes.length };
  }

  async get(digest: string): Promise<Uint8Array | null> {
    const stored = await this.#engine.run('readBlob', this.#named(digest));
    if (!stored) return null;
    if (digestOf(stored.bytes) === digest) return stored.bytes;
    throw new RekindleError('BLOB_DAMAGED', 'The bytes of the blob do not match its digest.', {
      details: { digest, scope: this.#scope },
    });
  }

  async has(digest: string): Promise<boolean> {
    return this.#engine.run('hasBlob', this.#named(digest));
  }

  async delete(digest: string): Promise<boolean> {
    return this.#engine.run('deleteBlob', this.#named(digest));
  }

  async *list(): AsyncGenerator<StoredBlob> {
    let after = '';
    for (;;) {
      const rows = await this.#engine.run('listBlobs', { scope: this.#scope, after, limit: PAGE_BLOBS });
      yield* rows;
      const last = rows.at(-1);
      if (!last || rows.length < PAGE_BLOBS) return;
      after = last.digest;
    }
  }

  #named(digest: string): { readonly scope: string; readonly digest: string } {
    return { scope: this.#scope, digest: assertDigest(digest) };
  }
}
