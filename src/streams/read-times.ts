/** When a stream was last read, and whether it has expired. Only streams that expire have the document. */
import type { Clock } from '../core/clock.js';
import { isJsonObject, type JsonValue } from '../core/json.js';
import type { Name, StorageBackend } from '../storage/ports.js';
import type { StreamState } from './stream-state.js';

/** How a stream expires, without its content. */
export interface Expiry {
  readonly ttlSeconds: number | null;
  readonly expiresMs: number | null;
  /** Milliseconds since 1970; of the creation if it was never read. */
  readonly readMs: number;
}

const DOCUMENT = 'expiry';
/** The stored time may be older than the last reading by this share of the lifetime, so that not every reading writes. */
const STALE_SHARE = 0.1;

/** When something expires, in milliseconds since 1970; null: never. */
export function expiresAt({ ttlSeconds, expiresMs }: Omit<Expiry, 'readMs'>, usedMs: number): number | null {
  return ttlSeconds === null ? expiresMs : usedMs + ttlSeconds * 1_000;
}

export class ReadTimes {
  readonly #backend: StorageBackend;
  readonly #name: Name;
  readonly #clock: Clock;
  #readMs = 0;
  #storedMs = 0;

  constructor(backend: StorageBackend, folder: Name, clock: Clock) {
    this.#backend = backend;
    this.#name = [...folder, DOCUMENT];
    this.#clock = clock;
  }

  /** Before a stream is created that expires. Durable when it resolves. */
  async begin(expiry: Omit<Expiry, 'readMs'>): Promise<void> {
    this.#readMs = 0;
    if (expiresAt(expiry, 0) !== null) await this.#store({ ...expiry, readMs: this.#clock.nowMs() });
  }

  /** Records a reading, which restarts the lifetime of the stream. */
  async touch({ ttlSeconds, expiresMs }: StreamState): Promise<void> {
    if (ttlSeconds === null) return;
    const nowMs = this.#clock.nowMs();
    this.#readMs = nowMs;
    if (nowMs - this.#storedMs < ttlSeconds * 1_000 * STALE_SHARE) return;
    await this.#store({ ttlSeconds, expiresMs, readMs: nowMs });
  }

  async isExpired(state: StreamState): Promise<boolean> {
    if (!this.#isOver(state, this.#readMs)) return false;
    const stored = await this.stored(); // another process may have read it
    return this.#isOver(state, Math.max(this.#readMs, stored?.readMs ?? 0));
  }

  /** What is stored; null if the stream does not expire. */
  async stored(): Promise<Expiry | null> {
    return decode((await this.#backend.documents.read(this.#name))?.value);
  }

  async forget(): Promise<void> {
    await this.#backend.documents.delete(this.#name);
  }

  #isOver(state: StreamState, readMs: number): boolean {
    const at = expiresAt(state, Math.max(readMs, state.lastWriteMs));
    return at !== null && at <= this.#clock.nowMs();
  }

  async #store({ ttlSeconds, expiresMs, readMs }: Expiry): Promise<void> {
    this.#storedMs = readMs;
    const value = { ttl_s: ttlSeconds, expires_ms: expiresMs, read_ms: readMs };
    await this.#backend.documents.write(this.#name, value);
  }
}

function decode(value: JsonValue | undefined): Expiry | null {
  if (!isJsonObject(value) || typeof value['read_ms'] !== 'number') return null;
  const { ttl_s: ttl, expires_ms: expires, read_ms: readMs } = value;
  return {
    ttlSeconds: typeof ttl === 'number' ? ttl : null,
    expiresMs: typeof expires === 'number' ? expires : null,
    readMs,
  };
}
