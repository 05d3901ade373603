/** Encodes a document as bytes: the same text on every backend. */
import { createHash } from 'node:crypto';
import { RekindleError } from '../core/errors.js';
import { type JsonValue, tryParseJson } from '../core/json.js';
import { DOCUMENT_BYTES_MAX } from '../core/limits.js';
import type { Name } from './ports.js';

/** Indented, with a newline at the end. @throws INVALID_ARGUMENT for a document that is too large */
export function encodeDocument(value: JsonValue): Buffer {
  let bytes: Buffer | null = null;
  try {
    bytes = Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
  } catch (thrown) {
    if (!isTooLongText(thrown)) throw thrown;
  }
  if (bytes && bytes.length <= DOCUMENT_BYTES_MAX) return bytes;
  throw new RekindleError(
    'INVALID_ARGUMENT',
    `A document must not have more than ${DOCUMENT_BYTES_MAX} bytes.`,
    { details: { argument: 'value', bytesMax: DOCUMENT_BYTES_MAX } },
  );
}

function isTooLongText(thrown: unknown): boolean {
  return thrown instanceof RangeError && thrown.message.includes('string length');
}

/** Checked before reading: a larger file does not fit in one string. @throws DOCUMENT_DAMAGED */
export function assertDocumentSize(name: Name, bytes: number): void {
  if (bytes <= DOCUMENT_BYTES_MAX) return;
  throw new RekindleError(
    'DOCUMENT_DAMAGED',
    `${name.join('/')} has ${bytes} bytes, and a document has at most ${DOCUMENT_BYTES_MAX}.`,
    { details: { name: [...name], bytes, bytesMax: DOCUMENT_BYTES_MAX } },
  );
}

/** @throws DOCUMENT_DAMAGED */
export function decodeDocument(
  name: Name,
  bytes: Uint8Array,
): { readonly value: JsonValue; readonly version: string } {
  assertDocumentSize(name, bytes.length);
  const text = Buffer.from(bytes)
    .toString('utf8')
    .replace(/^\ufeff/, '');
  const value = tryParseJson(text);
  // A prefix of a number is a number too. So only for a number a torn file is not invalid JSON, and the final newline shows it.
  const torn = typeof value === 'number' && !text.endsWith('\n');
  if (value === undefined || torn) {
    const problem = torn ? 'ends in the middle' : 'is not valid JSON';
    throw new RekindleError('DOCUMENT_DAMAGED', `${name.join('/')} ${problem}.`, {
      details: { name: [...name] },
    });
  }
  return { value, version: versionOf(bytes) };
}

/** Equal bytes have equal versions. */
export function versionOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 32);
}

export function documentConflict(name: Name, why: string): RekindleError {
  return new RekindleError('DOCUMENT_CONFLICT', `${name.join('/')} was not written: ${why}.`, {
    details: { name: [...name], why },
  });
}
