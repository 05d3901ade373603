/** Documents as rows, their bytes in pieces: replacing the end of a long document costs only the new bytes. */
import { randomBytes } from 'node:crypto';
import type { JsonValue } from '../../core/json.js';
import { decodeDocument, documentConflict, encodeDocument, versionOf } from '../document-encoding.js';
import { keyOf, rangeBelow, segmentOf } from '../name-key.js';
import type { Documents, DocumentWriteOptions, Name } from '../ports.js';
import { SerialCalls } from '../serial-calls.js';
import type { SqlEngine } from './sql-engine.js';

export class SqlDocuments implements Documents {
  readonly #engine: SqlEngine;
  readonly #nowMs: () => number | null;
  /** One change at a time per document, so that changes take effect in the order of the calls. */
  readonly #changes = new SerialCalls();

  constructor(engine: SqlEngine, nowMs: () => number | null) {
    this.#engine = engine;
    this.#nowMs = nowMs;
  }

  async read(name: Name): Promise<{ value: JsonValue; version: string } | null> {
    const bytes = await this.readBytes(name);
    return bytes && decodeDocument(name, bytes);
  }

  async write(
    name: Name,
    value: JsonValue,
    options: DocumentWriteOptions = {},
  ): Promise<{ version: string }> {
    return { version: await this.#write(name, encodeDocument(value), options) };
  }

  async readBytes(name: Name): Promise<Uint8Array | null> {
    const stored = await this.#engine.run('readDocument', { key: keyOf(name) });
    return stored?.bytes ?? null;
  }

  async writeBytes(name: Name, bytes: Uint8Array, options: DocumentWriteOptions = {}): Promise<void> {
    await this.#write(name, Buffer.from(bytes), options);
  }

  async #write(name: Name, bytes: Uint8Array, options: DocumentWriteOptions): Promise<string> {
    const { ifVersion, durability = 'durable' } = options;
    const version = versionOf(bytes);
    const refused = await this.#serially(name, (key) =>
      this.#engine.run('writeDocument', {
        key,
        bytes,
        version,
        ...(ifVersion === undefined ? {} : { ifVersion }),
        cache: durability === 'cache',
        token: randomBytes(8).toString('hex'),
        nowMs: this.#nowMs(),
      }),
    );
    if (!refused) return version;
    const why = `its version is ${refused.conflict ?? 'none'}, not ${ifVersion ?? 'none'}`;
    throw documentConflict(name, why);
  }

  async overwriteTail(name: Name, offset: number, bytes: Uint8Array): Promise<void> {
    const tail = Buffer.from(bytes);
    const refused = await this.#serially(name, (key) =>
      this.#engine.run('overwriteTail', { key, offset, bytes: tail, nowMs: this.#nowMs() }),
    );
    if (!refused) return;
    throw documentConflict(
      name,
      refused.size === null ? 'it is absent' : `it has only ${refused.size} bytes`,
    );
  }

  async modifiedMs(name: Name): Promise<number | null> {
    return this.#engine.run('documentTime', { key: keyOf(name) });
  }

  async setAside(name: Name, label: string): Promise<string | null> {
    const aside = `${name.at(-1)}.${label}-${randomBytes(4).toString('hex')}`;
    const moved = await this.#serially(name, (key) =>
      this.#engine.run('renameDocument', { key, to: keyOf([...name.slice(0, -1), aside]) }),
    );
    return moved ? aside : null;
  }

  delete(name: Name): Promise<boolean> {
    return this.#serially(name, (key) => this.#engine.run('deleteDocument', { key }));
  }

  async list(prefix: Name): Promise<string[]> {
    const range = rangeBelow(prefix);
    const keys = await this.#engine.run('listDocuments', range);
    return keys.map((key) => segmentOf(key.slice(range.start.length))).sort();
  }

  async #serially<T>(name: Name, run: (key: string) => Promise<T>): Promise<T> {
    const key = keyOf(name);
    return this.#changes.run(key, () => run(key));
  }
}
