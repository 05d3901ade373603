/** What a running process sees: everything, synced or not. */

const EMPTY = new Uint8Array(0);

export class LiveFile {
  readonly inode: number;
  modifiedMs: number;
  #buffer: Uint8Array;
  #size: number;
  /** False while the buffer is shared with an image; it is copied before the first change. */
  #owned = false;

  constructor(inode: number, bytes: Uint8Array = EMPTY, modifiedMs = 0) {
    this.inode = inode;
    this.modifiedMs = modifiedMs;
    this.#buffer = bytes;
    this.#size = bytes.length;
  }

  get size(): number {
    return this.#size;
  }

  /** A copy. */
  bytes(): Uint8Array {
    return this.#buffer.slice(0, this.#size);
  }

  read(target: Uint8Array, position: number): number {
    const count = Math.min(target.length, this.#size - position);
    if (count <= 0) return 0;
    target.set(this.#buffer.subarray(position, position + count));
    return count;
  }

  write(source: Uint8Array, position: number): void {
    this.#own(Math.max(this.#size, position + source.length));
    this.#buffer.set(source, position);
    this.#size = Math.max(this.#size, position + source.length);
  }

  truncate(size: number): void {
    this.#own(size);
    if (size < this.#size) this.#buffer.fill(0, size, this.#size);
    this.#size = size;
  }

  #own(size: number): void {
    if (this.#owned && size <= this.#buffer.length) return;
    const grown = new Uint8Array(Math.max(size, this.#size + Math.min(this.#size, 65_536), 64));
    grown.set(this.#buffer.subarray(0, this.#size));
    this.#buffer = grown;
    this.#owned = true;
  }
}

export class LiveFolder {
  readonly inode: number;
  readonly entries: Map<string, number>;

  constructor(inode: number, entries: Map<string, number> = new Map()) {
    this.inode = inode;
    this.entries = entries;
  }
}
