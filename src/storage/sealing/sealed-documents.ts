/** Documents whose bytes are sealed. Each is bound to its name. */
import { RekindleError } from '../../core/errors.js';
import type { JsonValue } from '../../core/json.js';
import { decodeDocument, documentConflict, encodeDocument } from '../document-encoding.js';
import { keyOf } from '../name-key.js';
import type { Documents, DocumentWriteOptions, Name } from '../ports.js';
import type { DataKey, DataKeys } from './data-keys.js';
import {
  BLOCK_BYTES,
  openBlocks,
  parseSealed,
  type SealedBlocks,
  sealedBlocksOf,
  sealedBytes,
  sealedTail,
  sealedValue,
} from './sealed-blocks.js';
import { SEALING } from './sealed-names.js';

/** What `setAside` adds to a name. */
const ASIDE = /\.[a-z][a-z-]*-[0-9a-f]{8}$/;

/** The end of a document that this process wrote or read last, so that its next bytes need no reading. */
interface KnownEnd {
  readonly key: DataKey;
  readonly size: number;
  /** The plain bytes of the last block. */
  readonly block: Buffer;
}
const ENDS_MAX = 64;

export class SealedDocuments implements Documents {
  readonly #inner: Documents;
  readonly #keys: DataKeys;
  readonly #ready: (how: 'read' | 'write') => Promise<void>;
  readonly #ends = new Map<string, KnownEnd>();
  /** Writes of one document, in the order of their calls. */
  readonly #writing = new Map<string, Promise<unknown>>();
  /** How many writes began: what a read found may be old if there was one meanwhile. */
  #writes = 0;

  constructor(inner: Documents, keys: DataKeys, ready: (how: 'read' | 'write') => Promise<void>) {
    this.#inner = inner;
    this.#keys = keys;
    this.#ready = ready;
  }

  async read(name: Name): Promise<{ readonly value: JsonValue; readonly version: string } | null> {
    await this.#ready('read');
    const document = await this.#inner.read(name);
    if (!document) return null;
    const plain = await this.#open(name, sealedBlocksOf(document.value));
    return { value: decodeDocument(name, plain).value, version: document.version };
  }

  async readBytes(name: Name): Promise<Uint8Array | null> {
    await this.#ready('read');
    const writes = this.#writes;
    const bytes = await this.#inner.readBytes(name);
    if (!bytes) return null;
    const sealed = parseSealed(bytes);
    const plain = await this.#open(name, sealed);
    if (sealed && writes === this.#writes)
      this.#remember(name, await this.#keys.forReading(name, sealed.key), plain);
    return plain;
  }

  async write(
    name: Name,
    value: JsonValue,
    options?: DocumentWriteOptions,
  ): Promise<{ readonly version: string }> {
    const plain = encodeDocument(value); // at once: the caller may change the value
    return this.#serially(name, async () => {
      const key = await this.#keyFor(name);
      this.#ends.delete(keyOf(name));
      return this.#inner.write(name, sealedValue(key, name, plain), options);
    });
  }

  async writeBytes(name: Name, bytes: Uint8Array, options?: DocumentWriteOptions): Promise<void> {
    const plain = Buffer.from(bytes);
    await this.#serially(name, () => this.#writeBytes(name, plain, options));
  }

  async #writeBytes(name: Name, plain: Buffer, options?: DocumentWriteOptions): Promise<void> {
    const key = await this.#keyFor(name);
    this.#ends.delete(keyOf(name));
    await this.#inner.writeBytes(name, sealedBytes(key, name, plain), options);
    this.#remember(name, key, plain);
  }

  async overwriteTail(name: Name, offset: number, bytes: Uint8Array): Promise<void> {
    const tail = Buffer.from(bytes);
    await this.#serially(name, async () => {
      await this.#ready('write');
      const end = this.#ends.get(keyOf(name));
      const start = end ? lastBlockAt(end.size) : 0;
      if (!end || offset < start || offset > end.size) return this.#replaceTail(name, offset, tail);
      this.#ends.delete(keyOf(name));
      const plain = Buffer.concat([end.block.subarray(0, offset - start), tail]);
      const sealed = sealedTail(end.key, name, start / BLOCK_BYTES, plain);
      await this.#inner.overwriteTail(name, sealed.offset, sealed.bytes);
      this.#remember(name, end.key, plain, start);
    });
  }

  /** Where the end is not known, the document is read and sealed as a whole. */
  async #replaceTail(name: Name, offset: number, tail: Buffer): Promise<void> {
    const bytes = await this.#inner.readBytes(name);
    if (!bytes) throw documentConflict(name, 'it is absent');
    const plain = await this.#open(name, parseSealed(bytes));
    if (plain.length < offset) throw documentConflict(name, `it has only ${plain.length} bytes`);
    const whole = Buffer.concat([plain.subarray(0, offset), tail]);
    await this.#writeBytes(name, whole, { durability: 'cache' });
  }

  async assertPrivate(name: Name): Promise<void> {
    await this.#inner.assertPrivate?.(name);
  }

  async modifiedMs(name: Name): Promise<number | null> {
    return this.#inner.modifiedMs(name);
  }

  setAside(name: Name, label: string): Promise<string | null> {
    return this.#serially(name, async () => {
      this.#ends.delete(keyOf(name));
      return this.#inner.setAside(name, label);
    });
  }

  delete(name: Name): Promise<boolean> {
    return this.#serially(name, async () => {
      this.#ends.delete(keyOf(name));
      return this.#inner.delete(name);
    });
  }

  async list(prefix: Name): Promise<string[]> {
    const names = await this.#inner.list(prefix);
    return prefix.length === 0 ? names.filter((name) => name !== SEALING) : names;
  }

  async #keyFor(name: Name): Promise<DataKey> {
    await this.#ready('write');
    return this.#keys.forWriting(name);
  }

  /** A document that was set aside is still bound to its first name. @throws DOCUMENT_DAMAGED, KEY_UNAVAILABLE */
  async #open(name: Name, sealed: SealedBlocks | null): Promise<Buffer> {
    if (!sealed) throw damaged(name, 'is not sealed');
    const key = await this.#keys.forReading(name, sealed.key);
    const last = name.at(-1) ?? '';
    const names = ASIDE.test(last) ? [name, [...name.slice(0, -1), last.replace(ASIDE, '')]] : [name];
    for (const bound of names) {
      const plain = openBlocks(key, bound, sealed);
      if (plain) return plain;
    }
    throw damaged(name, 'was changed after it was sealed');
  }

  /** @param plain the document from `start` on, which is the beginning of a block */
  #remember(name: Name, key: DataKey, plain: Buffer, start = 0): void {
    if (this.#ends.size >= ENDS_MAX) this.#ends.clear();
    const block = Buffer.from(plain.subarray(lastBlockAt(plain.length))); // without the rest of its memory
    this.#ends.set(keyOf(name), { key, size: start + plain.length, block });
  }

  #serially<T>(name: Name, work: () => Promise<T>): Promise<T> {
    let key: string;
    try {
      key = keyOf(name);
    } catch (thrown) {
      return Promise.reject(thrown);
    }
    this.#writes += 1;
    const before = this.#writing.get(key) ?? Promise.resolve();
    const running = before.then(work, work);
    const settled = running
      .catch(() => {})
      .then(() => {
        if (this.#writing.get(key) === settled) this.#writing.delete(key);
      });
    this.#writing.set(key, settled);
    return running;
  }
}

/** Where the last block of this many bytes begins. A full block stays the last one until more follows. */
function lastBlockAt(size: number): number {
  return Math.max(0, Math.ceil(size / BLOCK_BYTES) - 1) * BLOCK_BYTES;
}

function damaged(name: Name, problem: string): RekindleError {
  return new RekindleError('DOCUMENT_DAMAGED', `${name.join('/')} ${problem}.`, {
    details: { name: [...name] },
  });
}
