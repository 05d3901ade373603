/** A serialised value as it is kept: inside a record, or as a blob that the record names. */
import type { SerializerProtocol } from '@langchain/langgraph-checkpoint';
import { messageOf, RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import { digestOf } from '../../storage/blob-digest.js';
import type { Blobs } from '../../storage/ports.js';
import { redactedBytes } from '../../storage/redacted-storage.js';
import type { StorageRedactor } from '../../storage/storage-redactor.js';

/** Bytes as text where they are UTF-8, else as base64. */
export type InlineContent = { readonly text: string } | { readonly base64: string };

/** `type` is the serializer's own. Large values are the blob of that SHA-256. */
export type StoredValue = { readonly type: string } & (InlineContent | { readonly blob: string });

/** What a serializer made of a value, before it is kept. */
export interface DumpedValue {
  readonly stored: StoredValue;
  readonly bytes: Uint8Array;
}

/** Larger values are blobs, in bytes. */
export const INLINE_BYTES_MAX = 64 * 1024;
/** In JSON each takes six characters, and not every database keeps them in text. */
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/;

export class ValueStore {
  readonly #serde: SerializerProtocol;
  readonly #redactor: StorageRedactor | null;

  constructor(serde: SerializerProtocol, redactor: StorageRedactor | null = null) {
    this.#serde = serde;
    this.#redactor = redactor;
  }

  /** Writes nothing. `what` names the value in an error. @throws INVALID_ARGUMENT when the serializer cannot take it */
  async dump(value: unknown, what: string): Promise<DumpedValue> {
    const [type, given] = await this.#serde.dumpsTyped(value).catch((thrown: unknown) => {
      throw unfit(what, messageOf(thrown), thrown);
    });
    if (typeof type !== 'string' || !(given instanceof Uint8Array))
      throw unfit(what, 'its serializer gave something else than a type and bytes');
    const dumped = Uint8Array.from(given); // a serializer may use its buffer again
    const bytes = this.#redactor ? redactedBytes(dumped, this.#redactor) : dumped;
    return { stored: { type, ...contentOf(bytes) }, bytes };
  }

  /** Makes a large value durable; a record may name it then. */
  async keep({ stored, bytes }: DumpedValue, blobs: Blobs): Promise<StoredValue> {
    if ('blob' in stored) await blobs.put(bytes);
    return stored;
  }

  /** @throws BLOB_DAMAGED, and what the serializer throws */
  async load(stored: StoredValue, blobs: Blobs): Promise<unknown> {
    return this.#serde.loadsTyped(stored.type, await bytesOf(stored, blobs));
  }

  /** The bytes are the serializer's from now on. @throws what the serializer throws */
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

/** Null when the bytes are no UTF-8, or are better kept as bytes. */
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
  throw new RekindleError('BLOB_DAMAGED', `The value ${stored.blob} is gone.`, {
    details: { digest: stored.blob },
  });
}

function unfit(what: string, problem: string, cause?: unknown): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `${what} cannot be serialised: ${problem}.`, {
    details: { what, problem },
    cause,
  });
}
