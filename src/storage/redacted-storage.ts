/** A store that keeps no credentials or personal data: records and artifacts are redacted before they are written. */
import { isUtf8 } from 'node:buffer';
import type { JsonObject } from '../core/json.js';
import { type RedactionOptions, Redactor } from '../core/redaction/redactor.js';
import { ForwardingJournal } from './forwarding-journal.js';
import { ForwardingStorage } from './forwarding-storage.js';
import type {
  AppendOptions,
  AppendResult,
  BlobInfo,
  Blobs,
  Journal,
  JournalOptions,
  Name,
  StorageBackend,
  StoredBlob,
} from './ports.js';
import type { StorageRedactor } from './storage-redactor.js';

/**
 * The same store with redaction of everything that is written from now on; see `RedactionOptions`. Data that was stored before does
 * not change. The store does not remember the redaction, so every process that writes it needs one. `close` closes the given store.
 *
 *     const storage = withRedaction(openStorage('file:./memory'), { personal: true });
 *     const agent = await openAgent('desk', { storage, model });
 *
 * @throws INVALID_ARGUMENT
 */
export function withRedaction(backend: StorageBackend, options: RedactionOptions = {}): StorageBackend {
  return new RedactedStorage(backend, new Redactor(options));
}

/** Redacts bytes that are text. Binary data, such as images, does not change. @throws SENSITIVE_DATA */
export function redactedBytes(bytes: Uint8Array, redactor: StorageRedactor): Uint8Array {
  if (!isUtf8(bytes) || bytes.includes(0)) return bytes;
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  const clean = redactor.text(text);
  return clean === text ? bytes : new TextEncoder().encode(clean);
}

/** Scopes of blobs that contain texts of agents. Other scopes contain bytes with checksums, made from redacted data. */
const TEXT_SCOPES = new Set(['artifacts', 'values']);

/** Redacts the blobs of a scope that contains texts. Null redacts nothing. */
export function redactedBlobs(blobs: Blobs, scope: Name, redactor: StorageRedactor | null): Blobs {
  return redactor && TEXT_SCOPES.has(scope.at(-1) ?? '') ? new RedactedBlobs(blobs, redactor) : blobs;
}

/** For a redaction over a redacted store: records in memory are redacted by both, like the stored ones. */
function inTurn(first: StorageRedactor, second: StorageRedactor): StorageRedactor {
  return {
    json: (value) => second.json(first.json(value)),
    text: (text) => second.text(first.text(text)),
  };
}

class RedactedStorage extends ForwardingStorage {
  override readonly redactor: StorageRedactor;

  constructor(backend: StorageBackend, redactor: StorageRedactor) {
    super(backend);
    this.redactor = backend.redactor ? inTurn(backend.redactor, redactor) : redactor;
  }

  override async openJournal<R extends JsonObject>(
    name: Name,
    options?: JournalOptions,
  ): Promise<Journal<R>> {
    return new RedactedJournal(await this.inner.openJournal<R>(name, options), this.redactor);
  }

  override blobs(scope: Name): Blobs {
    return redactedBlobs(this.inner.blobs(scope), scope, this.redactor);
  }
}

class RedactedJournal<R extends JsonObject> extends ForwardingJournal<R> {
  readonly #redactor: StorageRedactor;

  constructor(inner: Journal<R>, redactor: StorageRedactor) {
    super(inner);
    this.#redactor = redactor;
  }

  override async append(records: readonly R[], options?: AppendOptions): Promise<AppendResult> {
    return this.inner.append(
      records.map((record) => this.#redactor.json(record)),
      options,
    );
  }
}

class RedactedBlobs implements Blobs {
  readonly #inner: Blobs;
  readonly #redactor: StorageRedactor;

  constructor(inner: Blobs, redactor: StorageRedactor) {
    this.#inner = inner;
    this.#redactor = redactor;
  }

  async put(bytes: Uint8Array): Promise<BlobInfo> {
    return this.#inner.put(redactedBytes(bytes, this.#redactor));
  }

  get(digest: string): Promise<Uint8Array | null> {
    return this.#inner.get(digest);
  }

  has(digest: string): Promise<boolean> {
    return this.#inner.has(digest);
  }

  delete(digest: string): Promise<boolean> {
    return this.#inner.delete(digest);
  }

  list(): AsyncIterable<StoredBlob> {
    return this.#inner.list();
  }
}
