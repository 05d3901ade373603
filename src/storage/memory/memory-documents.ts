import { randomBytes } from 'node:crypto';
import type { Clock } from '../../core/clock.js';
import type { JsonValue } from '../../core/json.js';
import { decodeDocument, documentConflict, encodeDocument, versionOf } from '../document-encoding.js';
import { keyOf, rangeBelow, segmentOf } from '../name-key.js';
import type { Documents, DocumentWriteOptions, Name } from '../ports.js';
import type { MemoryChanges } from './memory-changes.js';

export class MemoryDocuments implements Documents {
  readonly #files = new Map<string, Uint8Array>();
  readonly #modified = new Map<string, number>();
  readonly #changes: MemoryChanges;
  readonly #clock: Clock;

  constructor(changes: MemoryChanges, clock: Clock) {
    this.#changes = changes;
    this.#clock = clock;
  }

  keys(): Iterable<string> {
    return this.#files.keys();
  }

  /** By key. */
  sizeOf(key: string): number {
    return this.#files.get(key)?.length ?? 0;
  }

  deleteBelow(start: string): void {
    for (const key of [...this.#files.keys()].filter((one) => one.startsWith(start))) {
      this.#files.delete(key);
      this.#modified.delete(key);
    }
  }

  async read(name: Name): Promise<{ value: JsonValue; version: string } | null> {
    const bytes = this.#files.get(keyOf(name));
    if (!bytes) return null;
    return decodeDocument(name, bytes);
  }

  async write(
    name: Name,
    value: JsonValue,
    options: DocumentWriteOptions = {},
  ): Promise<{ version: string }> {
    const bytes = encodeDocument(value);
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
      throw documentConflict(name, `its version is ${version ?? 'none'}, not ${options.ifVersion ?? 'none'}`);
    }
    this.#put(name, Buffer.from(bytes));
  }

  #put(name: Name, bytes: Uint8Array): void {
    this.#files.set(keyOf(name), bytes);
    this.#modified.set(keyOf(name), this.#clock.nowMs());
    this.#changes.tell(name);
  }

  async modifiedMs(name: Name): Promise<number | null> {
    return this.#files.has(keyOf(name)) ? (this.#modified.get(keyOf(name)) ?? null) : null;
  }

  async overwriteTail(name: Name, offset: number, bytes: Uint8Array): Promise<void> {
    const stored = this.#files.get(keyOf(name));
    if (!stored) throw documentConflict(name, 'it is absent');
    if (stored.length < offset) throw documentConflict(name, `it has only ${stored.length} bytes`);
    this.#put(name, Buffer.concat([stored.subarray(0, offset), bytes]));
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
    const { start } = rangeBelow(prefix);
    const below = [...this.#files.keys()].filter((key) => key.startsWith(start));
    return [...new Set(below.map((key) => segmentOf(key.slice(start.length).split('/')[0]!)))].sort();
  }
}
