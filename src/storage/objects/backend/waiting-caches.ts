/** Contents of caches that are not yet uploaded: the newest of each document. */
const UPLOAD_AFTER_MS = 500;
/** Contents are kept for the next change of their end, up to this many bytes in all. */
const BASES_BYTES_MAX = 64 * 1024 * 1024;

interface Waiting {
  readonly bytes: Uint8Array;
  readonly sinceMs: number;
}

export class WaitingCaches {
  readonly #upload: (key: string) => Promise<void>;
  readonly #waiting = new Map<string, Waiting>();
  /** The last uploaded contents. */
  readonly #bases = new Map<string, Uint8Array>();
  #basesBytes = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(upload: (key: string) => Promise<void>) {
    this.#upload = upload;
  }

  get(key: string): Waiting | undefined {
    return this.#waiting.get(key);
  }

  keys(): string[] {
    return [...this.#waiting.keys()];
  }

  /** The content to change the end of. */
  base(key: string): Uint8Array | undefined {
    return this.#waiting.get(key)?.bytes ?? this.#bases.get(key);
  }

  set(key: string, bytes: Uint8Array): void {
    this.forgetBase(key);
    this.#waiting.set(key, { bytes, sinceMs: Date.now() });
    this.#timer ??= setTimeout(() => void this.flush(), UPLOAD_AFTER_MS).unref();
  }

  delete(key: string): void {
    this.#waiting.delete(key);
    this.forgetBase(key);
  }

  /** These bytes were uploaded, or refused. Newer ones keep waiting. */
  done(key: string, bytes: Uint8Array, stored: boolean): void {
    if (this.#waiting.get(key)?.bytes !== bytes) return;
    this.#waiting.delete(key);
    if (!stored || this.#basesBytes + bytes.length > BASES_BYTES_MAX) return;
    this.#bases.set(key, bytes);
    this.#basesBytes += bytes.length;
  }

  forgetBase(key: string): void {
    this.#basesBytes -= this.#bases.get(key)?.length ?? 0;
    this.#bases.delete(key);
  }

  /** A cache that cannot be written is lost: its owner can make it again. */
  async flush(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    await Promise.all(this.keys().map((key) => this.#upload(key).catch(() => this.delete(key))));
  }
}
