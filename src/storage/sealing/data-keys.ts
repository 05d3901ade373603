/** The data keys of a sealed store: one for each scope of names, stored wrapped. */
import { hkdfSync, randomBytes } from 'node:crypto';
import { canonicalJson } from '../../core/canonical-json.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import { keyOf } from '../name-key.js';
import type { Name, StorageBackend } from '../ports.js';
import { KEY_BYTES } from './aes-seal.js';
import type { KeyProvider } from './key-provider.js';
import { keyUnavailable } from './master-keys.js';
import { keyDocumentOf, keyScopeOf, SEALING, STORE_DOCUMENT } from './sealed-names.js';
import { decodeStoreKey, STORE_KEY_BOUND } from './store-key.js';

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

interface StoredKey {
  readonly id: string;
  readonly master: string;
  readonly wrapped: string;
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
   * The key to write a name with; made if the scope has none. Reads the stored key, because an erasure by another process may have
   * destroyed the one that is known here. @throws KEY_UNAVAILABLE
   */
  async forWriting(name: Name): Promise<DataKey> {
    const scope = keyScopeOf(name);
    const stored = (await this.#read(scope)) ?? (await this.#make(scope));
    return this.#learn(scope, stored);
  }

  /**
   * The key that sealed something of this name. Null if the names have another key: then nobody with the key made it.
   * @throws KEY_UNAVAILABLE if the key was destroyed, or its master key is missing
   */
  async forReading(name: Name, id: string): Promise<DataKey | null> {
    const scope = keyScopeOf(name);
    const known = this.#known.get(idOf(scope, id));
    if (known) return known;
    const stored = await this.#read(scope);
    if (stored) return stored.id === id ? this.#learn(scope, stored) : null;
    throw keyUnavailable(`The data key ${id} of ${scope.join('/')} is not in the store.`, {
      name: [...name],
      key: id,
      reason: 'missing',
    });
  }

  /** The key of the scope of a name; null if nothing was sealed there. @throws KEY_UNAVAILABLE */
  async ofScope(name: Name): Promise<DataKey | null> {
    const scope = keyScopeOf(name);
    const stored = await this.#read(scope);
    return stored && this.#learn(scope, stored);
  }

  /** Forgets everything in memory: keys may have been destroyed. */
  forget(): void {
    this.#known.clear();
  }

  /** Wraps the key in this document with the current master key. False if it was so already. @throws KEY_UNAVAILABLE */
  async rewrap(document: Name): Promise<boolean> {
    const scope = document.slice(2, -1);
    const read = await this.#inner.documents.read(document);
    if (!read) return false;
    const stored = decode(read.value, scope);
    const bound = boundTo(scope, stored.id);
    const bytes = await this.#provider.unwrap(unwrappable(stored), bound);
    const { master, wrapped } = await this.#provider.wrap(bytes, bound, false);
    if (master === stored.master) return false;
    await this.#inner.documents.write(document, encode({ id: stored.id, master, wrapped: text(wrapped) }), {
      ifVersion: read.version,
    });
    return true;
  }

  /** Null if the document is gone. @throws KEY_UNAVAILABLE if it is damaged */
  async describe(document: Name): Promise<DataKeyInfo | null> {
    const scope = document.slice(2, -1);
    const stored = await this.#read(scope);
    return stored && { scope, id: stored.id, master: stored.master };
  }

  async #read(scope: Name): Promise<StoredKey | null> {
    const document = await this.#inner.documents.read(keyDocumentOf(scope));
    return document && decode(document.value, scope);
  }

  async #make(scope: Name): Promise<StoredKey> {
    const lease = await this.#inner.leases.acquire(CREATION_LEASE, { waitMs: CREATION_WAIT_MS });
    try {
      const others = await this.#read(scope); // another process was first
      if (others) return others;
      await this.#assertCurrentMaster();
      const id = randomBytes(8).toString('hex');
      const { master, wrapped } = await this.#provider.wrap(
        randomBytes(KEY_BYTES),
        boundTo(scope, id),
        false,
      );
      const made = { id, master, wrapped: text(wrapped) };
      await this.#inner.documents.write(keyDocumentOf(scope), encode(made), { ifVersion: null });
      return made;
    } finally {
      await lease.release();
    }
  }

  /** A process whose master keys are older than a rotation must not make keys: they would be lost with the old master key. */
  async #assertCurrentMaster(): Promise<void> {
    const store = await this.#inner.documents.read(STORE_DOCUMENT);
    if (store) await this.#provider.unwrap(decodeStoreKey(store.value), STORE_KEY_BOUND);
  }

  async #learn(scope: Name, stored: StoredKey): Promise<DataKey> {
    const at = idOf(scope, stored.id);
    const known = this.#known.get(at);
    if (known) return known;
    const bytes = await this.#provider.unwrap(unwrappable(stored), boundTo(scope, stored.id));
    const key = new DataKey(stored.id, bytes);
    if (this.#known.size >= SCOPES_MAX) this.#known.clear();
    this.#known.set(at, key);
    return key;
  }
}

function idOf(scope: Name, id: string): string {
  return `${keyOf(scope)} ${id}`;
}

function boundTo(scope: Name, id: string): string {
  return canonicalJson(['rekindle data key', 2, [...scope], id]);
}

function unwrappable({ master, wrapped }: StoredKey): { readonly master: string; readonly wrapped: Buffer } {
  return { master, wrapped: Buffer.from(wrapped, 'base64') };
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

function encode(key: StoredKey): JsonObject {
  return { format: 1, keys: [{ ...key }] };
}

/** @throws KEY_UNAVAILABLE */
function decode(value: JsonValue, scope: Name): StoredKey {
  const keys = isJsonObject(value) && value['format'] === 1 ? value['keys'] : null;
  const last = Array.isArray(keys) ? keys.at(-1) : null;
  if (isJsonObject(last) && ['id', 'master', 'wrapped'].every((field) => typeof last[field] === 'string'))
    return last as unknown as StoredKey;
  throw keyUnavailable(`The keys of ${scope.join('/')} are damaged.`, {
    name: [...scope],
    reason: 'damaged',
  });
}
