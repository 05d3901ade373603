/** Images and files of stored AI SDK parts. URLs stay URLs; bytes in any JSON form become a data URL. */
import { fromBase64, toBase64 } from '../../../core/bytes.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { Media } from '../../message.js';
import { mediaOf } from '../reading/content-parts.js';
import { textField } from '../reading/record-fields.js';

/** Prefixes of base64 text, for parts without a media type. */
const BASE64_HEADS: readonly (readonly [string, string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
  ['JVBERi0', 'application/pdf'],
];
const UNKNOWN_TYPE = 'application/octet-stream';

/** Null if the part has no readable bytes or URL. */
export function mediaFrom(part: JsonObject): Media | null {
  const given = part['url'] ?? part['image'] ?? part['data'] ?? null;
  const named = textField(part, 'mediaType', 'mimeType', 'contentType') || undefined;
  const ref = refFrom(given, named);
  if (ref === null) return null;
  const media = mediaOf(ref, { mime: named, name: textField(part, 'filename', 'name') });
  const isImage = media.kind === 'file' && textField(part, 'type')?.startsWith('image');
  return isImage ? { ...media, kind: 'image' } : media;
}

function refFrom(given: JsonValue, mime: string | undefined): string | null {
  if (typeof given === 'string') {
    if (given === '') return null;
    return /^(data:|[a-z][a-z0-9+.-]*:\/\/)/i.test(given) ? given : dataUrl(given, mime);
  }
  const bytes = bytesFrom(given);
  return bytes ? dataUrl(toBase64(bytes), mime) : null;
}

function dataUrl(base64: string, mime: string | undefined): string {
  const found = BASE64_HEADS.find(([head]) => base64.startsWith(head));
  return `data:${mime ?? found?.[1] ?? UNKNOWN_TYPE};base64,${base64}`;
}

/** A `Buffer` and a typed array, as `JSON.stringify` writes them. */
function bytesFrom(given: JsonValue): Uint8Array | null {
  if (!isJsonObject(given)) return null;
  // A part in memory holds raw bytes, which the conversion to JSON wrote as base64.
  if (typeof given['base64'] === 'string' && typeof given['bytes'] === 'number')
    return fromBase64(given['base64']);
  const list = Array.isArray(given['data']) ? given['data'] : Object.values(given);
  const isByte = (value: JsonValue): value is number =>
    typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 256;
  return list.length > 0 && list.every(isByte) ? Uint8Array.from(list) : null;
}
