/** A serialized value as it is stored: inside a record, or as a blob that the record names. */
import type { SerializerProtocol } from '@langchain/langgraph-checkpoint';
import { messageOf, RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import { digestOf } from '../../storage/blob-digest.js';
import type { Blobs } from '../../storage/ports.js';
import { redactedBytes } from '../../storage/redacted-storage.js';
import type { StorageRedactor } from '../../storage/storage-redactor.js';

/** Bytes as text if they are UTF-8, else as base64. */
export type InlineContent = { readonly text: string } | { readonly base64: string };

/** `type` is the serializer's. A large value is the blob with this SHA-256. */
export type StoredValue = { readonly type: string } & (InlineContent | { readonly blob: string });

/** A serialized value before it is stored. */
export interface DumpedValue {
  readonly stored: StoredValue;
  readonly bytes: Uint8Array;
}

/** Larger values are stored as blobs, in bytes. */
export const INLINE_BYTES_MAX = 64 * 1024;
/** JSON needs six characters for each of these, and some databases cannot store them in text. */
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/;

export class ValueStore {
  readonly #serde: SerializerProtocol;
  readonly #redactor: StorageRedactor | null;

  constructor(serde: SerializerProtocol, redactor: StorageRedactor | null = null) {
    this.#serde = serde;
    this.#redactor = redactor;
  }

  /**
   * Writes nothing. @param what names the value in an error @throws INVALID_ARGUMENT if the serializer fails
   */
  async dump(value: unknown, what: string): Promise<DumpedValue> {
    const [type, given] = await this.#serde.dumpsTyped(value).catch((thrown: unknown) => {
      throw unfit(what, messageOf(thrown), thrown);
    });
    if (typeof type !== 'string' || !(given instanceof Uint8Array))
      throw unfit(what, 'its serializer did not return a type and bytes');
    return this.serialised(type, Uint8Array.from(given)); // a serializer may reuse its buffer
  }

  /** A value whose bytes are known. */
  serialised(type: string, given: Uint8Array): DumpedValue {
    const bytes = this.#redactor ? redactedBytes(given, this.#redactor) : given;
    return { stored: { type, ...contentOf(bytes) }, bytes };
  }

  /** Makes a large value durable; then a record may name it. */
  async keep({ stored, bytes }: DumpedValue, blobs: Blobs): Promise<StoredValue> {
    if ('blob' in stored) await blobs.put(bytes);
    return stored;
  }

  /** @throws BLOB_DAMAGED, and what the serializer throws */
  async load(stored: StoredValue, blobs: Blobs): Promise<unknown> {
    return this.#serde.loadsTyped(stored.type, await bytesOf(stored, blobs));
  }

  /** Passes ownership of the bytes to the serializer. @throws what the serializer throws */
  async loadBytes(type: string, bytes: Uint8Array): Promise<unknown> {
    return this.#serde.loadsTyped(type, bytes);
  }
}

export function isStoredValue(value: JsonValue | undefined): value is StoredValue & JsonObject {
  if (!isJsonObject(value) || typeof value['type'] !== 'string') return false;
  return (
    [value['text'], value['base64'], value['blob']].filter((held) => typeof held === 'string').length === 1
  );
}

function contentOf(bytes: Uint8Array): InlineContent | { blob: string } {
  return bytes.length > INLINE_BYTES_MAX ? { blob: digestOf(bytes) } : inlineContentOf(bytes);
}

export function inlineContentOf(bytes: Uint8Array): InlineContent {
  const text = textOf(bytes);
  return text === null ? { base64: Buffer.from(bytes).toString('base64') } : { text };
}

/** Null if the bytes are not UTF-8, or better stored as bytes. */
function textOf(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return CONTROL.test(text) ? null : text;
  } catch {
    return null;
  }
}

export function bytesOfInline(content: InlineContent): Uint8Array {
  if ('text' in content) return new TextEncoder().encode(content.text);
  return Uint8Array.from(Buffer.from(content.base64, 'base64'));
}

/** @throws BLOB_DAMAGED */
export async function bytesOf(stored: StoredValue, blobs: Blobs): Promise<Uint8Array> {
  if (!('blob' in stored)) return bytesOfInline(stored);
  const bytes = await blobs.get(stored.blob);
  if (bytes) return Uint8Array.from(bytes);
  throw new RekindleError('BLOB_DAMAGED', `The value ${stored.blob} is missing.`, {
    details: { digest: stored.blob },
  });
}

function unfit(what: string, problem: string, cause?: unknown): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `${what} cannot be serialised: ${problem}.`, {
    details: { what, problem },
    cause,
  });
}
