/** A store whose contents are encrypted and authenticated: journals, documents and blobs. */
import { RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { ForwardingStorage } from '../forwarding-storage.js';
import { keyOf } from '../name-key.js';
import type {
  Blobs,
  Journal,
  JournalOptions,
  Lease,
  Leases,
  Name,
  StorageBackend,
  StoredName,
  StoredPlace,
} from '../ports.js';
import { CREATION_LEASE, CREATION_WAIT_MS, type DataKeyInfo, DataKeys } from './data-keys.js';
import { type KeyProvider, keyProviderOf } from './key-provider.js';
import type { MasterKeys } from './master-keys.js';
import { SealedBlobs } from './sealed-blobs.js';
import { SealedDocuments } from './sealed-documents.js';
import { SealedJournal } from './sealed-journal.js';
import {
  assertNotSealing,
  KEY,
  keyFolderOf,
  keyLengthOf,
  SEALED_BLOBS,
  SEALING,
  STORE_DOCUMENT,
} from './sealed-names.js';

/** The number of data keys in a store, and of those that got another master key. */
export interface KeyRotation {
  readonly keys: number;
  readonly rewrapped: number;
}

/**
 * The same store, sealed: records, documents and blobs are encrypted with AES-256-GCM before they are written, and bound to their name
 * and number. Each agent has its own data key, which a master key wraps. Changed, moved and added data is detected: as damage of a
 * journal, `DOCUMENT_DAMAGED`, or `BLOB_DAMAGED`. Names, sizes and times stay readable. An empty store becomes a sealed one at the
 * first write, and is never written plain from then on.
 *
 *     const storage = withSealing(openStorage('file:./memory'), new EnvironmentKeys(process.env));
 *
 * Other wrappers come after it: `withRedaction(withTenant(withSealing(store, keys), 'acme'))`. `withObjects` comes before it.
 *
 * @throws INVALID_ARGUMENT over another wrapper; from its calls STORE_NOT_SEALED for a store with plain data, KEY_UNAVAILABLE
 */
export function withSealing(backend: StorageBackend, keys: MasterKeys | KeyProvider): SealedStorage {
  if (backend.redactor || (backend.tenantPath?.length ?? 0) > 0)
    throw new RekindleError(
      'INVALID_ARGUMENT',
      'Seal the whole store first; then use withRedaction and withTenant.',
      {
        details: { argument: 'backend' },
      },
    );
  return new SealedStorage(backend, 'wrap' in keys ? keys : keyProviderOf(keys));
}

/** See `withSealing`. */
export class SealedStorage extends ForwardingStorage {
  override readonly isSealed = true;
  override readonly documents: SealedDocuments;
  override readonly leases: Leases;
  readonly #provider: KeyProvider;
  readonly #keys: DataKeys;
  readonly #open = new Set<Journal<JsonObject>>();
  /** Whether the store is known to be sealed; `empty` has nothing to read. */
  #state: Promise<'sealed' | 'empty'> | null = null;

  constructor(backend: StorageBackend, provider: KeyProvider) {
    super(backend);
    backend.allowSealed?.();
    this.#provider = provider;
    this.#keys = new DataKeys(backend, provider);
    const ready = (how: 'read' | 'write') => this.#ready(how);
    this.documents = new SealedDocuments(backend.documents, this.#keys, ready);
    this.leases = {
      acquire: async (name, options) => {
        await this.#ready('read');
        return backend.leases.acquire(name, options);
      },
      inspect: (name) => backend.leases.inspect(name),
      list: async (prefix) => (await backend.leases.list(prefix)).filter(([first]) => first !== SEALING),
    };
  }

  override async openJournal<R extends JsonObject>(
    name: Name,
    options: JournalOptions = {},
  ): Promise<Journal<R>> {
    assertNotSealing(name);
    await this.#ready(options.readOnly ? 'read' : 'write');
    const inner = await this.inner.openJournal<JsonObject>(name, options);
    try {
      const writing = options.readOnly ? null : await this.#keys.forWriting(name);
      const onClose = () => this.#open.delete(journal as unknown as Journal<JsonObject>);
      const journal = new SealedJournal<R>(inner, { name, keys: this.#keys, writing, onClose });
      this.#open.add(journal as unknown as Journal<JsonObject>);
      return journal;
    } catch (thrown) {
      await inner.close().catch(() => {}); // the first error is the one to report
      throw thrown;
    }
  }

  override blobs(scope: Name): Blobs {
    return new SealedBlobs(this.inner, scope, this.#keys, (how) => this.#ready(how));
  }

  override async listNames(prefix: Name): Promise<string[]> {
    await this.#ready('read');
    const hidden = prefix.length === 0 ? SEALING : SEALED_BLOBS;
    return (await this.inner.listNames(prefix)).filter((name) => name !== hidden);
  }

  override async *contents(prefix: Name): AsyncGenerator<StoredName> {
    await this.#ready('read');
    let last = '';
    for await (const stored of this.inner.contents(prefix)) {
      if (stored.name[0] === SEALING) continue;
      const at = stored.name.indexOf(SEALED_BLOBS);
      if (at < 0) yield stored;
      else {
        const name = stored.name.slice(0, at);
        const key = keyOf(name);
        if (key !== last && name.length > prefix.length) yield { kind: 'blobs', name };
        last = key;
      }
    }
  }

  override async *places(prefix: Name): AsyncGenerator<StoredPlace> {
    await this.#ready('read');
    for await (const place of this.inner.places(prefix)) {
      const segments = place.place.split('/');
      const isBlob = place.kind === 'document' && segments.includes(SEALED_BLOBS);
      if (segments[0] !== SEALING) yield isBlob ? { ...place, kind: 'blobs' } : place;
    }
  }

  override async removeJournal(name: Name, lease: Lease): Promise<boolean> {
    assertNotSealing(name);
    await this.#ready('read');
    return this.inner.removeJournal(name, lease);
  }

  /** Destroys the data keys first: after a crash in between, what is left cannot be read. */
  override async removeBelow(prefix: Name, lease: Lease): Promise<void> {
    assertNotSealing(prefix);
    await this.#ready('read');
    if (prefix.length > 0)
      for (const folder of await this.inner.listNames([SEALING])) {
        const length = keyLengthOf(folder) ?? 0;
        if (length >= prefix.length) await this.inner.removeBelow([...keyFolderOf(length), ...prefix], lease);
      }
    await this.inner.removeBelow(prefix, lease);
    this.#keys.forget();
    this.documents.forget();
  }

  /** Every data key: the names that it belongs to, and the id of the master key that wraps it. Empty for a store that is not sealed yet. */
  async dataKeys(): Promise<readonly DataKeyInfo[]> {
    await this.#ready('read');
    const found: DataKeyInfo[] = [];
    for (const document of await this.#keyDocuments()) {
      const key = await this.#keys.describe(document);
      if (key) found.push(key);
    }
    return found;
  }

  /** Level by level: a folder with the name of an agent may look like a journal. */
  async #keyDocuments(): Promise<Name[]> {
    const found: Name[] = [];
    for (const folder of await this.inner.listNames([SEALING])) {
      const length = keyLengthOf(folder);
      let names: Name[] = length === null ? [] : [[SEALING, folder]];
      for (let level = 0; level < (length ?? 0); level += 1) {
        const below: Name[] = [];
        for (const name of names)
          for (const next of await this.inner.listNames(name)) below.push([...name, next]);
        names = below;
      }
      for (const name of names) found.push([...name, KEY]);
    }
    return found;
  }

  /**
   * Wraps every data key with the current master key; data is not rewritten. Processes that need a new data key wait meanwhile.
   * @param options `renew` (default true): makes a new master key before, where the provider makes them. `forgetOld` (default false):
   * removes the old master keys afterwards. Then other stores that use the same key file or keychain, and older backups, cannot be read
   * @throws KEY_UNAVAILABLE, LEASE_HELD; after that, or a crash, the next call continues
   */
  async rotateKeys({
    renew = true,
    forgetOld = false,
  }: {
    readonly renew?: boolean;
    readonly forgetOld?: boolean;
  } = {}): Promise<KeyRotation> {
    await this.#ready('read');
    const lease = await this.inner.leases.acquire(CREATION_LEASE, { waitMs: CREATION_WAIT_MS });
    try {
      if (renew) await this.#provider.renew?.();
      const documents = await this.#keyDocuments();
      let rewrapped = 0;
      for (const document of documents) {
        await lease.check();
        if (await this.#keys.rewrap(document)) rewrapped += 1;
      }
      await this.#keys.rewrap(STORE_DOCUMENT);
      await lease.check();
      if (forgetOld) await this.#provider.forgetOld?.();
      return { keys: documents.length, rewrapped };
    } finally {
      await lease.release();
    }
  }

  override async close(): Promise<void> {
    const results = await Promise.allSettled([...this.#open].map((journal) => journal.close()));
    await this.inner.close();
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }

  /** Checks once that the store is sealed with these keys; the first write seals an empty one. */
  async #ready(how: 'read' | 'write'): Promise<void> {
    this.#state ??= this.#look();
    try {
      if ((await this.#state) === 'empty' && how === 'write') {
        this.#state = this.#begin();
        await this.#state;
      }
    } catch (thrown) {
      this.#state = null; // the next call tries again
      throw thrown;
    }
    if (how === 'read' && (await this.#state) === 'empty') this.#state = null; // another process may begin
  }

  async #look(): Promise<'sealed' | 'empty'> {
    if (await this.#keys.hasStoreKey()) return 'sealed'; // the wrong master key is reported here
    await this.#assertNothingPlain();
    return 'empty';
  }

  async #assertNothingPlain(): Promise<void> {
    for await (const { name } of this.inner.contents([]))
      if (name[0] !== SEALING) throw notSealed(this.place, name);
  }

  async #begin(): Promise<'sealed'> {
    const lease = await this.inner.leases.acquire(CREATION_LEASE, { waitMs: CREATION_WAIT_MS });
    try {
      if ((await this.#look()) === 'sealed') return 'sealed'; // another process was first
      await this.#keys.makeStoreKey();
      await this.#assertNothingPlain().catch(async (thrown: unknown) => {
        await this.inner.documents.delete(STORE_DOCUMENT); // a plain process was faster
        throw thrown;
      });
      return 'sealed';
    } finally {
      await lease.release();
    }
  }
}

function notSealed(place: string, name: Name): RekindleError {
  const text = `The store ${place} has data that is not sealed, for instance ${name.join('/')}.`;
  return new RekindleError('STORE_NOT_SEALED', text, { details: { place, name: [...name] } });
}
