/** The data keys of a sealed store: one for each scope of names, stored wrapped. */
import { hkdfSync, randomBytes } from 'node:crypto';
import { canonicalJson } from '../../core/canonical-json.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import { keyOf } from '../name-key.js';
import type { Name, StorageBackend } from '../ports.js';
import { KEY_BYTES } from './aes-seal.js';
import type { KeyProvider, WrappedDataKey } from './key-provider.js';
import { keyUnavailable } from './master-keys.js';
import { keyDocumentOf, keyScopeOf, SEALING, STORE_DOCUMENT, scopeOfKey } from './sealed-names.js';

/** A data key. What is sealed uses keys derived from it, one for each name and use. */
export class DataKey {
  readonly id: string;
  readonly #bytes: Uint8Array;
  readonly #derived = new Map<string, Buffer>();

  constructor(id: string, bytes: Uint8Array) {
    this.id = id;
    this.#bytes = bytes;
  }

  /** A key of 32 bytes for one use. Each journal and document has its own, so that the random nonces of one key stay far below 2^32. */
  for(use: string): Buffer {
    const known = this.#derived.get(use);
    if (known) return known;
    const key = Buffer.from(hkdfSync('sha256', this.#bytes, '', `rekindle store ${use}`, KEY_BYTES));
    if (this.#derived.size >= DERIVED_MAX) this.#derived.clear();
    this.#derived.set(use, key);
    return key;
  }
}

/** What may be shown of a data key. */
export interface DataKeyInfo {
  /** The names that it seals lie below this one. */
  readonly scope: Name;
  readonly id: string;
  /** The id of the master key that wraps it. */
  readonly master: string;
}

interface StoredKey extends WrappedDataKey {
  readonly id: string;
}

const DERIVED_MAX = 256;
const SCOPES_MAX = 1024;
/** A rotation holds the lease while it wraps every key. */
export const CREATION_WAIT_MS = 60_000;
export const CREATION_LEASE: Name = [SEALING, 'lease'];

export class DataKeys {
  readonly #inner: StorageBackend;
  readonly #provider: KeyProvider;
  readonly #known = new Map<string, DataKey>();

  constructor(inner: StorageBackend, provider: KeyProvider) {
    this.#inner = inner;
    this.#provider = provider;
  }

  /**
   * Whether the store has its own key: then it is sealed. Nothing is sealed with that key; it shows which master key the store needs.
   * @throws KEY_UNAVAILABLE if the master key is missing
   */
  async hasStoreKey(): Promise<boolean> {
    const stored = await this.#read(STORE_DOCUMENT);
    if (stored) await this.#unwrap(STORE_DOCUMENT, stored);
    return stored !== null;
  }

  /** Begins a sealed store. The caller holds the lease. @throws KEY_UNAVAILABLE, DOCUMENT_CONFLICT */
  async makeStoreKey(): Promise<void> {
    await this.#make(STORE_DOCUMENT, true);
  }

  /**
   * The key to write a name with; made if the scope has none. Reads the stored key, because an erasure by another process may have
   * destroyed the one that is known here. @throws KEY_UNAVAILABLE
   */
  async forWriting(name: Name): Promise<DataKey> {
    const document = keyDocumentOf(keyScopeOf(name));
    const stored = (await this.#read(document)) ?? (await this.#makeOnce(document));
    return this.#learn(document, stored);
  }

  /**
   * The key that sealed something of this name. Null if the names have another key: then nobody with the key made it.
   * @throws KEY_UNAVAILABLE if the key was destroyed, or its master key is missing
   */
  async forReading(name: Name, id: string): Promise<DataKey | null> {
    const scope = keyScopeOf(name);
    const document = keyDocumentOf(scope);
    const known = this.#known.get(idOf(document, id));
    if (known) return known;
    const stored = await this.#read(document);
    if (stored) return stored.id === id ? this.#learn(document, stored) : null;
    throw keyUnavailable(`The data key ${id} of ${scope.join('/')} is not in the store.`, {
      name: [...name],
      key: id,
      reason: 'missing',
    });
  }

  /** The key of the scope of a name; null if nothing was sealed there. @throws KEY_UNAVAILABLE */
  async ofScope(name: Name): Promise<DataKey | null> {
    const document = keyDocumentOf(keyScopeOf(name));
    const stored = await this.#read(document);
    return stored && this.#learn(document, stored);
  }

  /** Forgets everything in memory: keys may have been destroyed. */
  forget(): void {
    this.#known.clear();
  }

  /** Wraps the key in this document with the current master key. False if it was so already. @throws KEY_UNAVAILABLE */
  async rewrap(document: Name): Promise<boolean> {
    const read = await this.#inner.documents.read(document);
    if (!read) return false;
    const stored = decode(read.value, document);
    const bytes = await this.#unwrap(document, stored);
    const wrapped = await this.#provider.wrap(bytes, boundTo(document, stored.id), false);
    if (wrapped.master === stored.master) return false;
    const key = { id: stored.id, ...wrapped };
    await this.#inner.documents.write(document, encode(key), { ifVersion: read.version });
    return true;
  }

  /** Null if the document is gone. @throws KEY_UNAVAILABLE if it is damaged */
  async describe(document: Name): Promise<DataKeyInfo | null> {
    const stored = await this.#read(document);
    return stored && { scope: scopeOfKey(document), id: stored.id, master: stored.master };
  }

  async #read(document: Name): Promise<StoredKey | null> {
    const read = await this.#inner.documents.read(document);
    return read && decode(read.value, document);
  }

  async #makeOnce(document: Name): Promise<StoredKey> {
    const lease = await this.#inner.leases.acquire(CREATION_LEASE, { waitMs: CREATION_WAIT_MS });
    try {
      const others = await this.#read(document); // another process was first
      if (others) return others;
      // A process whose master keys are older than a rotation must not make keys: they would be lost with the old master key.
      await this.hasStoreKey();
      return await this.#make(document, false);
    } finally {
      await lease.release();
    }
  }

  async #make(document: Name, isFirst: boolean): Promise<StoredKey> {
    const id = randomBytes(8).toString('hex');
    const wrapped = await this.#provider.wrap(randomBytes(KEY_BYTES), boundTo(document, id), isFirst);
    const made = { id, ...wrapped };
    await this.#inner.documents.write(document, encode(made), { ifVersion: null });
    return made;
  }

  #unwrap(document: Name, stored: StoredKey): Promise<Uint8Array> {
    const { id, master, wrapped } = stored;
    return this.#provider.unwrap({ master, wrapped }, boundTo(document, id));
  }

  async #learn(document: Name, stored: StoredKey): Promise<DataKey> {
    const at = idOf(document, stored.id);
    const known = this.#known.get(at);
    if (known) return known;
    const key = new DataKey(stored.id, await this.#unwrap(document, stored));
    if (this.#known.size >= SCOPES_MAX) this.#known.clear();
    this.#known.set(at, key);
    return key;
  }
}

function idOf(document: Name, id: string): string {
  return `${keyOf(document)} ${id}`;
}

function boundTo(document: Name, id: string): string {
  return canonicalJson(['rekindle data key', 2, [...scopeOfKey(document)], id]);
}

function encode({ id, master, wrapped }: StoredKey): JsonObject {
  return { format: 1, id, master, wrapped: Buffer.from(wrapped).toString('base64') };
}

/** @throws KEY_UNAVAILABLE */
function decode(value: JsonValue, document: Name): StoredKey {
  const { format, id, master, wrapped } = isJsonObject(value) ? value : {};
  if (format === 1 && typeof id === 'string' && typeof master === 'string' && typeof wrapped === 'string')
    return { id, master, wrapped: Buffer.from(wrapped, 'base64') };
  throw keyUnavailable(`The key in ${document.join('/')} is damaged.`, {
    name: [...document],
    reason: 'damaged',
  });
}
