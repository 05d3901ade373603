/**
 * Stores the data of one session's checkpoints: compressed, sealed if there is a key, and named by the
 * SHA-256 of the stored bytes.
 */
import { canonicalJson } from '../../core/canonical-json.js';
import { isRekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import type { Blobs } from '../../storage/ports.js';
import { open, seal } from '../../storage/sealing/aes-seal.js';
import { type CompressionOptions, compress, decompress } from '../content/compression.js';
import { decodePack, type Pack } from '../content/pack.js';
import type { DataKey, SessionKeys } from '../encryption/session-keys.js';
import { readWithin, withinTime } from '../within-time.js';
import type { StoredPack } from './checkpoint-record.js';
import { damaged } from './damaged.js';

export interface PackStoreOptions {
  readonly session: string;
  readonly blobs: Blobs;
  readonly keys: SessionKeys;
  readonly compression: CompressionOptions;
  readonly timeoutMs: number;
}

/** A pack to store: its size is known before anything is written. */
export interface PreparedPack {
  readonly stored: Omit<StoredPack, 'digest'>;
  readonly bytes: Uint8Array;
}

export class PackStore {
  readonly #options: PackStoreOptions;

  constructor(options: PackStoreOptions) {
    this.#options = options;
  }

  async prepare(number: number, raw: Uint8Array, key: DataKey | null): Promise<PreparedPack> {
    const { type, bytes } = await compress(raw, this.#options.compression);
    const about = { raw: raw.length, compression: type, ...(key ? { key: key.id } : {}) };
    const sealed = key ? seal(key.seal, bytes, this.#boundTo(number, about)) : bytes;
    return { stored: { ...about, bytes: sealed.length }, bytes: sealed };
  }

  /** Durable when it resolves. @throws STORAGE_FULL, STORAGE_FAILED, STORAGE_UNAVAILABLE */
  async put({ stored, bytes }: PreparedPack): Promise<StoredPack> {
    const { blobs, timeoutMs } = this.#options;
    const { digest } = await withinTime(timeoutMs, 'write the data of a checkpoint', blobs.put(bytes));
    return { digest, ...stored };
  }

  /**
   * Whether the stored bytes are unchanged. Reads them again, because a disk may corrupt them while the
   * process runs. @throws STORAGE_UNAVAILABLE
   */
  async isWhole(number: number, { digest, bytes }: StoredPack): Promise<boolean> {
    try {
      return (await this.#bytesOf(number, digest))?.length === bytes;
    } catch (thrown) {
      if (isRekindleError(thrown, 'CHECKPOINT_DAMAGED')) return false;
      throw thrown;
    }
  }

  /** @throws CHECKPOINT_DAMAGED, KEY_UNAVAILABLE, STORAGE_UNAVAILABLE */
  async get(number: number, stored: StoredPack): Promise<Pack> {
    const bytes = await this.#bytesOf(number, stored.digest);
    if (!bytes) throw damaged(this.#options.session, number, 'its data is missing');
    if (bytes.length !== stored.bytes)
      throw damaged(this.#options.session, number, 'its data has another length');
    const plain = stored.key === undefined ? bytes : await this.#opened(number, stored, bytes);
    return decodePack(number, await decompress({ type: stored.compression, bytes: plain }, stored.raw));
  }

  async #bytesOf(number: number, digest: string): Promise<Uint8Array | null> {
    const { blobs, timeoutMs } = this.#options;
    try {
      return await readWithin(timeoutMs, 'read the data of a checkpoint', () => blobs.get(digest));
    } catch (thrown) {
      if (!isRekindleError(thrown, 'BLOB_DAMAGED')) throw thrown;
      throw damaged(this.#options.session, number, 'its data does not match its digest', thrown);
    }
  }

  async #opened(number: number, stored: StoredPack, bytes: Uint8Array): Promise<Buffer> {
    const { key: keyId = '', raw, compression } = stored;
    const key = await this.#options.keys.get(keyId);
    const plain = open(key.seal, bytes, this.#boundTo(number, { raw, compression, key: keyId }));
    if (plain) return plain;
    throw damaged(this.#options.session, number, 'its data was changed, or belongs to another checkpoint');
  }

  /** The context that the data is sealed for, so that it cannot replace any other data. */
  #boundTo(number: number, about: JsonObject): string {
    return canonicalJson(['rekindle checkpoint', 1, this.#options.session, number, about]);
  }
}
