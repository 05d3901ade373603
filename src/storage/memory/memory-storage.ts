/**
 * The in-memory backend: the same contract, gone with the process. For tests, and for agents that need no tomorrow.
 * Values are copied in and out as JSON text, so nothing is shared with the caller by reference.
 */
import { createHash, randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../../core/clock.js';
import { RekindleError } from '../../core/errors.js';
import type { JsonObject, JsonValue } from '../../core/json.js';
import { LEASE_TTL_MS } from '../../core/limits.js';
import { LeaseState, leaseHeld } from '../lease-state.js';
import { encodeNameSegment } from '../name-encoding.js';
import type {
  BlobInfo,
  Blobs,
  Documents,
  DocumentWriteOptions,
  Journal,
  JournalOptions,
  Lease,
  LeaseOptions,
  LeaseOwner,
  Leases,
  Name,
  StorageBackend,
  StorageChange,
} from '../ports.js';
import { MemoryJournal, MemoryJournalData } from './memory-journal.js';

export class MemoryStorage implements StorageBackend {
  readonly capabilities = { persistent: false, multiProcess: false, multiProcessDocuments: false } as const;
  readonly documents: Documents;
  readonly leases: Leases;
  readonly #journals = new Map<string, MemoryJournalData>();
  readonly #blobs = new Map<string, Map<string, Uint8Array>>();
  readonly #open = new Set<{ close(): Promise<void> }>();
  readonly #documents: MemoryDocuments;
  readonly #changes = new Changes();

  constructor(options: { readonly clock?: Clock } = {}) {
    this.#documents = new MemoryDocuments(this.#changes);
    this.documents = this.#documents;
    this.leases = new MemoryLeases(options.clock ?? systemClock);
  }

  async openJournal<R extends JsonObject>(name: Name, options: JournalOptions = {}): Promise<Journal<R>> {
    const key = keyOf(name);
    let data = this.#journals.get(key);
    if (!data) this.#journals.set(key, (data = new MemoryJournalData()));
    const readOnly = options.readOnly ?? false;
    const own = readOnly || options.lease ? null : await this.leases.acquire([...name, 'lease']);
    const journal = new MemoryJournal<R>(data, {
      lease: options.lease ?? own,
      readOnly,
      place: name.join('/'),
      onAppend: () => this.#changes.tell(name),
      onClose: async () => {
        this.#open.delete(journal);
        await own?.release();
      },
    });
    this.#open.add(journal);
    return journal;
  }

  blobs(scope: Name): Blobs {
    const key = keyOf(scope);
    let blobs = this.#blobs.get(key);
    if (!blobs) this.#blobs.set(key, (blobs = new Map()));
    return new MemoryBlobs(blobs);
  }

  async listNames(prefix: Name): Promise<string[]> {
    const start = prefix.length === 0 ? '' : `${keyOf(prefix)}/`;
    const blobs = [...this.#blobs].filter(([, scope]) => scope.size > 0).map(([key]) => key);
    const keys = [...this.#documents.keys(), ...nonEmpty(this.#journals), ...blobs];
    const below = keys
      .filter((key) => key.startsWith(start))
      .map((key) => key.slice(start.length).split('/')[0]!);
    return [...new Set(below)].map(decodeURIComponent).sort();
  }

  async watch(prefix: Name, onChange: (change: StorageChange) => void): Promise<() => Promise<void>> {
    return this.#changes.watch(prefix, onChange);
  }

  async close(): Promise<void> {
    for (const journal of this.#open) await journal.close();
  }
}

function nonEmpty(journals: Map<string, MemoryJournalData>): string[] {
  return [...journals].filter(([, data]) => data.lastSeq > 0).map(([key]) => key);
}

/** Injective: each segment is checked and percent-encoded, so a separator inside cannot make two names one. */
function keyOf(name: Name): string {
  if (name.length === 0) throw new RekindleError('INVALID_ARGUMENT', 'A name needs at least one segment.');
  for (const segment of name) encodeNameSegment(segment);
  return name.map(encodeURIComponent).join('/');
}

class Changes {
  readonly #listeners = new Set<(name: Name) => void>();

  tell(name: Name): void {
    for (const listener of this.#listeners) listener(name);
  }

  watch(prefix: Name, onChange: (change: StorageChange) => void): () => Promise<void> {
    const listener = (name: Name) => {
      if (prefix.every((segment, index) => name[index] === segment)) {
        onChange({ path: name.slice(prefix.length).join('/') });
      }
    };
    this.#listeners.add(listener);
    return async () => void this.#listeners.delete(listener);
  }
}

class MemoryDocuments implements Documents {
  readonly #files = new Map<string, Uint8Array>();
  readonly #changes: Changes;

  constructor(changes: Changes) {
    this.#changes = changes;
  }

  keys(): Iterable<string> {
    return this.#files.keys();
  }

  async read(name: Name): Promise<{ value: JsonValue; version: string } | null> {
    const bytes = this.#files.get(keyOf(name));
    if (!bytes) return null;
    try {
      return {
        value: JSON.parse(
          Buffer.from(bytes)
            .toString('utf8')
            .replace(/^\ufeff/, ''),
        ) as JsonValue,
        version: versionOf(bytes),
      };
    } catch (cause) {
      throw new RekindleError('DOCUMENT_DAMAGED', `${name.join('/')} is not valid JSON.`, {
        cause,
        details: { name: [...name] },
      });
    }
  }

  async write(
    name: Name,
    value: JsonValue,
    options: DocumentWriteOptions = {},
  ): Promise<{ version: string }> {
    const bytes = Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
    await this.writeBytes(name, bytes, options);
    return { version: versionOf(bytes) };
  }

  async readBytes(name: Name): Promise<Uint8Array | null> {
    const bytes = this.#files.get(keyOf(name));
    return bytes ? Buffer.from(bytes) : null;
  }

  async writeBytes(name: Name, bytes: Uint8Array, options: DocumentWriteOptions = {}): Promise<void> {
    const key = keyOf(name);
    const stored = this.#files.get(key);
    const version = stored ? versionOf(stored) : null;
    if (options.ifVersion !== undefined && options.ifVersion !== version) {
      throw conflict(name, `its version is ${version ?? 'none'}, not ${options.ifVersion ?? 'none'}`);
    }
    this.#files.set(key, Buffer.from(bytes));
    this.#changes.tell(name);
  }

  async overwriteTail(name: Name, offset: number, bytes: Uint8Array): Promise<void> {
    const stored = this.#files.get(keyOf(name));
    if (!stored) throw conflict(name, 'it is absent');
    if (stored.length < offset) throw conflict(name, `it has only ${stored.length} bytes`);
    this.#files.set(keyOf(name), Buffer.concat([stored.subarray(0, offset), bytes]));
    this.#changes.tell(name);
  }

  async setAside(name: Name, label: string): Promise<string | null> {
    const stored = this.#files.get(keyOf(name));
    if (!stored) return null;
    const aside = `${name[name.length - 1]}.${label}-${randomBytes(4).toString('hex')}`;
    this.#files.set(keyOf([...name.slice(0, -1), aside]), stored);
    this.#files.delete(keyOf(name));
    return aside;
  }

  async delete(name: Name): Promise<boolean> {
    return this.#files.delete(keyOf(name));
  }

  async list(prefix: Name): Promise<string[]> {
    const start = prefix.length === 0 ? '' : `${keyOf(prefix)}/`;
    const below = [...this.#files.keys()].filter((key) => key.startsWith(start));
    return [
      ...new Set(below.map((key) => decodeURIComponent(key.slice(start.length).split('/')[0]!))),
    ].sort();
  }
}

class MemoryBlobs implements Blobs {
  readonly #blobs: Map<string, Uint8Array>;

  constructor(blobs: Map<string, Uint8Array>) {
    this.#blobs = blobs;
  }

  async put(bytes: Uint8Array): Promise<BlobInfo> {
    const digest = createHash('sha256').update(bytes).digest('hex');
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

class MemoryLeases implements Leases {
  readonly #clock: Clock;
  readonly #held = new Map<
    string,
    { fence: number; owner: LeaseOwner; released: boolean; beatMs: number; ttlMs: number }
  >();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async acquire(name: Name, options: LeaseOptions = {}): Promise<Lease> {
    const key = keyOf(name);
    const ttlMs = options.ttlMs ?? LEASE_TTL_MS;
    const before = this.#held.get(key);
    const age = this.#clock.nowMs() - (before?.beatMs ?? 0);
    if (before && !before.released && age <= before.ttlMs) {
      throw leaseHeld(name.join('/'), before.fence, before.owner, age);
    }
    const owner: LeaseOwner = {
      pid: process.pid,
      processStart: null,
      host: 'memory',
      nonce: randomBytes(8).toString('hex'),
    };
    const fence = (before?.fence ?? 0) + 1;
    this.#held.set(key, { fence, owner, released: false, beatMs: this.#clock.nowMs(), ttlMs });
    return this.#lease(key, name, fence, before !== undefined && !before.released, ttlMs);
  }

  #lease(key: string, name: Name, fence: number, takenOver: boolean, ttlMs: number): Lease {
    const state = new LeaseState();
    const check = async () => {
      state.throwUnlessHeld(name.join('/'), fence);
      if (this.#held.get(key)?.fence !== fence) throw state.markLost(name.join('/'), fence);
    };
    const renew = async () => {
      await check();
      this.#held.get(key)!.beatMs = this.#clock.nowMs();
    };
    const release = async () => {
      state.release();
      const held = this.#held.get(key);
      if (held?.fence === fence) held.released = true;
    };
    state.startHeartbeat(Math.max(50, ttlMs / 3), renew);
    return {
      fence,
      takenOver,
      get held() {
        return state.held;
      },
      lost: state.lost,
      check,
      renew,
      release,
    };
  }

  async inspect(name: Name): ReturnType<Leases['inspect']> {
    const held = this.#held.get(keyOf(name));
    if (!held || held.released) return null;
    return { fence: held.fence, owner: held.owner, alive: this.#clock.nowMs() - held.beatMs <= held.ttlMs };
  }
}

function assertDigest(digest: string): string {
  if (/^[0-9a-f]{64}$/.test(digest)) return digest;
  throw new RekindleError('INVALID_ARGUMENT', 'A digest is 64 lower-case hex digits.', {
    details: { digest: String(digest).slice(0, 80) },
  });
}

function versionOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 32);
}

function conflict(name: Name, why: string): RekindleError {
  return new RekindleError('DOCUMENT_CONFLICT', `${name.join('/')} was not written: ${why}.`, {
    details: { name: [...name], why },
  });
}
