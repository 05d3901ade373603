/** Documents whose bytes are sealed. Each is bound to its name. */
import { RekindleError } from '../../core/errors.js';
import type { JsonValue } from '../../core/json.js';
import { decodeDocument, documentConflict, encodeDocument, versionOf } from '../document-encoding.js';
import { keyOf } from '../name-key.js';
import type { Documents, DocumentWriteOptions, Name } from '../ports.js';
import { SerialCalls } from '../serial-calls.js';
import type { DataKey, DataKeys } from './data-keys.js';
import {
  BLOCK_BYTES,
  isLaidOut,
  openBlocks,
  parseSealed,
  type SealedBlocks,
  sealedBlocksOf,
  sealedBytes,
  sealedTail,
  sealedValue,
} from './sealed-blocks.js';
import { assertNotSealing, SEALED_BLOBS, SEALING } from './sealed-names.js';

/** What `setAside` adds to a name. */
const ASIDE = /\.[a-z][a-z-]*-[0-9a-f]{8}$/;

/** The end of a document that this process wrote or read last, so that its next bytes need no reading. */
interface KnownEnd {
  readonly key: DataKey;
  /** Where the last block begins, and its plain bytes. */
  readonly start: number;
  readonly block: Buffer;
}
const ENDS_MAX = 64;

interface OpenedDocument {
  readonly key: DataKey;
  readonly plain: Buffer;
}

/** Versions are those of the plain bytes: features compute them, too. */
export class SealedDocuments implements Documents {
  readonly #inner: Documents;
  readonly #keys: DataKeys;
  readonly #ready: (how: 'read' | 'write') => Promise<void>;
  readonly #ends = new Map<string, KnownEnd>();
  /** Writes of one document, in the order of their calls. */
  readonly #changes = new SerialCalls();
  /** How many changes began: what a read found may be old if there was one meanwhile. */
  #begun = 0;

  constructor(inner: Documents, keys: DataKeys, ready: (how: 'read' | 'write') => Promise<void>) {
    this.#inner = inner;
    this.#keys = keys;
    this.#ready = ready;
  }

  async read(name: Name): Promise<{ readonly value: JsonValue; readonly version: string } | null> {
    assertNotSealing(name);
    await this.#ready('read');
    const document = await this.#inner.read(name);
    if (!document) return null;
    const { plain } = await this.#open(name, sealedBlocksOf(document.value));
    return decodeDocument(name, plain);
  }

  async readBytes(name: Name): Promise<Uint8Array | null> {
    assertNotSealing(name);
    await this.#ready('read');
    const at = keyOf(name);
    const begun = this.#changes.isBusy(at) ? null : this.#begun;
    if (begun !== null) this.#ends.delete(at); // another process may have written since
    const bytes = await this.#inner.readBytes(name);
    if (!bytes) return null;
    const { key, plain } = await this.#open(name, parseSealed(bytes));
    if (begun === this.#begun && isLaidOut(key, bytes)) this.#remember(name, key, plain);
    return plain;
  }

  async write(
    name: Name,
    value: JsonValue,
    options: DocumentWriteOptions = {},
  ): Promise<{ readonly version: string }> {
    const plain = encodeDocument(value); // at once: the caller may change the value
    return this.#change(name, async () => {
      const given = await this.#innerVersion(name, options);
      const key = await this.#keys.forWriting(name);
      await this.#inner.write(name, sealedValue(key, name, plain), given);
      return { version: versionOf(plain) };
    });
  }

  async writeBytes(name: Name, bytes: Uint8Array, options: DocumentWriteOptions = {}): Promise<void> {
    const plain = Buffer.from(bytes);
    await this.#change(name, async () =>
      this.#writeBytes(name, plain, await this.#innerVersion(name, options)),
    );
  }

  async #writeBytes(name: Name, plain: Buffer, options: DocumentWriteOptions): Promise<void> {
    const key = await this.#keys.forWriting(name);
    await this.#inner.writeBytes(name, sealedBytes(key, name, plain), options);
    this.#remember(name, key, plain);
  }

  /** The given version is that of plain bytes; the store compares sealed ones. @throws DOCUMENT_CONFLICT */
  async #innerVersion(name: Name, options: DocumentWriteOptions): Promise<DocumentWriteOptions> {
    const { ifVersion } = options;
    if (ifVersion === undefined || ifVersion === null) return options;
    const stored = await this.#inner.read(name);
    const opened = stored && (await this.#open(name, sealedBlocksOf(stored.value)));
    const version = opened && versionOf(opened.plain);
    if (stored && version === ifVersion) return { ...options, ifVersion: stored.version };
    throw documentConflict(name, `its version is ${version ?? 'none'}, not ${ifVersion}`);
  }

  async overwriteTail(name: Name, offset: number, bytes: Uint8Array): Promise<void> {
    const tail = Buffer.from(bytes);
    await this.#change(name, async (end) => {
      const isInEnd = end && offset >= end.start && offset <= end.start + end.block.length;
      if (!isInEnd) return this.#replaceTail(name, offset, tail);
      const { key, start } = end;
      const plain = Buffer.concat([end.block.subarray(0, offset - start), tail]);
      const sealed = sealedTail(key, name, start / BLOCK_BYTES, plain);
      await this.#inner.overwriteTail(name, sealed.offset, sealed.bytes);
      this.#remember(name, key, plain, start);
    });
  }

  /** Where the end is not known, the document is read and sealed as a whole. */
  async #replaceTail(name: Name, offset: number, tail: Buffer): Promise<void> {
    const bytes = await this.#inner.readBytes(name);
    if (!bytes) throw documentConflict(name, 'it is absent');
    const { plain } = await this.#open(name, parseSealed(bytes));
    if (plain.length < offset) throw documentConflict(name, `it has only ${plain.length} bytes`);
    const whole = Buffer.concat([plain.subarray(0, offset), tail]);
    await this.#writeBytes(name, whole, { durability: 'cache' });
  }

  async assertPrivate(name: Name): Promise<void> {
    await this.#inner.assertPrivate?.(name);
  }

  async modifiedMs(name: Name): Promise<number | null> {
    assertNotSealing(name);
    await this.#ready('read');
    return this.#inner.modifiedMs(name);
  }

  setAside(name: Name, label: string): Promise<string | null> {
    return this.#change(name, () => this.#inner.setAside(name, label));
  }

  delete(name: Name): Promise<boolean> {
    return this.#change(name, () => this.#inner.delete(name));
  }

  async list(prefix: Name): Promise<string[]> {
    await this.#ready('read');
    const hidden = prefix.length === 0 ? SEALING : SEALED_BLOBS;
    return (await this.#inner.list(prefix)).filter((name) => name !== hidden);
  }

  /** Forgets the ends of documents: they may have been erased. */
  forget(): void {
    this.#begun += 1;
    this.#ends.clear();
  }

  /** A document that was set aside is still bound to its first name. @throws DOCUMENT_DAMAGED, KEY_UNAVAILABLE */
  async #open(name: Name, sealed: SealedBlocks | null): Promise<OpenedDocument> {
    if (!sealed) throw damaged(name, 'is not sealed');
    const key = await this.#keys.forReading(name, sealed.key);
    for (let bound = name; key; ) {
      const plain = openBlocks(key, bound, sealed);
      if (plain) return { key, plain };
      const last = bound.at(-1) ?? '';
      if (!ASIDE.test(last)) break;
      bound = [...bound.slice(0, -1), last.replace(ASIDE, '')];
    }
    throw damaged(name, 'was changed after it was sealed');
  }

  /** @param plain the document from `start` on, which is the beginning of a block */
  #remember(name: Name, key: DataKey, plain: Buffer, start = 0): void {
    if (this.#ends.size >= ENDS_MAX) this.#ends.clear();
    const last = lastBlockAt(plain.length);
    const block = Buffer.from(plain.subarray(last)); // without the rest of its memory
    this.#ends.set(keyOf(name), { key, start: start + last, block });
  }

  /** Runs a change after those that were called before it. It gets the known end, which is unknown until the change is done. */
  async #change<T>(name: Name, work: (end: KnownEnd | undefined) => Promise<T>): Promise<T> {
    const at = keyOf(name);
    assertNotSealing(name);
    this.#begun += 1;
    return this.#changes.run(at, async () => {
      await this.#ready('write');
      const end = this.#ends.get(at);
      this.#ends.delete(at);
      return work(end);
    });
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
