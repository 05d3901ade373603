/**
 * Blobs whose bytes are sealed. Features know a blob by the SHA-256 of its plain bytes, and a reader of the disk could test guesses
 * with it. So the stored name is that digest, encrypted: equal bytes still have one name, and only the key gives the digest back.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import { RekindleError } from '../../core/errors.js';
import { assertDigest, digestOf, isDigest } from '../blob-digest.js';
import { keyOf } from '../name-key.js';
import type { BlobInfo, Blobs, Name, StorageBackend, StoredBlob } from '../ports.js';
import type { DataKey, DataKeys } from './data-keys.js';
import { keyUnavailable } from './master-keys.js';
import { openBlocks, parseSealed, sealedBytes } from './sealed-blocks.js';
import { assertNotSealing, SEALED_BLOBS } from './sealed-names.js';

export class SealedBlobs implements Blobs {
  readonly #inner: StorageBackend;
  readonly #scope: Name;
  readonly #keys: DataKeys;
  readonly #ready: (how: 'read' | 'write') => Promise<void>;

  constructor(
    inner: StorageBackend,
    scope: Name,
    keys: DataKeys,
    ready: (how: 'read' | 'write') => Promise<void>,
  ) {
    keyOf(scope);
    assertNotSealing(scope);
    this.#inner = inner;
    this.#scope = scope;
    this.#keys = keys;
    this.#ready = ready;
  }

  async put(bytes: Uint8Array): Promise<BlobInfo> {
    const plain = Buffer.from(bytes); // at once: the caller may change the bytes
    const info = { digest: digestOf(plain), size: plain.length };
    await this.#ready('write');
    const key = await this.#keys.forWriting(this.#folder);
    const name = [...this.#folder, hidden(key, info.digest), String(info.size)];
    // Also where there is one: it may be damaged, or not durable yet.
    await this.#inner.documents.writeBytes(name, sealedBytes(key, this.#boundTo(info.digest), plain));
    return info;
  }

  async get(digest: string): Promise<Uint8Array | null> {
    const stored = await this.#find(digest);
    const bytes = stored && (await this.#inner.documents.readBytes(stored.name));
    if (!bytes) return null;
    const sealed = parseSealed(bytes);
    const plain = sealed && openBlocks(stored.key, this.#boundTo(digest), sealed);
    if (plain && digestOf(plain) === digest) return plain;
    throw new RekindleError('BLOB_DAMAGED', `The blob ${digest} was changed after it was sealed.`, {
      details: { digest, place: stored.name.join('/') },
    });
  }

  async has(digest: string): Promise<boolean> {
    return (await this.#find(digest)) !== null;
  }

  async delete(digest: string): Promise<boolean> {
    const stored = await this.#find(digest);
    return stored !== null && this.#inner.documents.delete(stored.name);
  }

  async *list(): AsyncGenerator<StoredBlob> {
    const key = await this.#key();
    if (!key) return;
    const blobs = (await this.#inner.listNames(this.#folder))
      .filter(isDigest)
      .map((name) => ({ name, digest: shown(key, name) }))
      .sort((a, b) => (a.digest < b.digest ? -1 : 1));
    for (const { name, digest } of blobs) {
      for (const size of await this.#inner.documents.list([...this.#folder, name])) {
        const storedMs = await this.#inner.documents.modifiedMs([...this.#folder, name, size]);
        if (storedMs !== null) yield { digest, size: Number(size), storedMs };
      }
    }
  }

  get #folder(): Name {
    return [...this.#scope, SEALED_BLOBS];
  }

  #boundTo(digest: string): Name {
    return [...this.#scope, digest];
  }

  async #find(digest: string): Promise<{ readonly name: Name; readonly key: DataKey } | null> {
    assertDigest(digest);
    const key = await this.#key();
    if (!key) return null;
    const folder = [...this.#folder, hidden(key, digest)];
    const [size] = await this.#inner.documents.list(folder);
    return size === undefined ? null : { name: [...folder, size], key };
  }

  /** Null if nothing was sealed here. @throws KEY_UNAVAILABLE if there are blobs, and their key is gone */
  async #key(): Promise<DataKey | null> {
    await this.#ready('read');
    const key = await this.#keys.ofScope(this.#folder);
    if (key) return key;
    for await (const { name } of this.#inner.contents(this.#folder))
      throw keyUnavailable(`The data key of ${this.#scope.join('/')} is not in the store.`, {
        name: [...name],
        reason: 'missing',
      });
    return null;
  }
}

/** A digest is random to those who do not know the bytes, so that its two blocks need no chaining and no nonce. */
function hidden(key: DataKey, digest: string): string {
  const cipher = createCipheriv('aes-256-ecb', key.for('blob names'), null).setAutoPadding(false);
  return Buffer.concat([cipher.update(Buffer.from(digest, 'hex')), cipher.final()]).toString('hex');
}

function shown(key: DataKey, name: string): string {
  const decipher = createDecipheriv('aes-256-ecb', key.for('blob names'), null).setAutoPadding(false);
  return Buffer.concat([decipher.update(Buffer.from(name, 'hex')), decipher.final()]).toString('hex');
}
