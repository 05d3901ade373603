/** Small objects of the store's own that hold JSON. */
import { RekindleError } from '../../../core/errors.js';
import { isJsonObject, type JsonObject, tryParseJson } from '../../../core/json.js';
import type { Name } from '../../ports.js';

export function encodeJson(value: JsonObject): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

/** @throws STORAGE_FAILED for an object that this release did not write */
export function decodeJson(name: Name, bytes: Uint8Array): JsonObject {
  const value = tryParseJson(Buffer.from(bytes).toString('utf8'));
  if (isJsonObject(value)) return value;
  throw new RekindleError('STORAGE_FAILED', `The object ${name.join('/')} is not valid JSON.`, {
    details: { name: [...name] },
  });
}

export function numberIn(value: JsonObject, key: string): number {
  const found = value[key];
  return typeof found === 'number' ? found : 0;
}
