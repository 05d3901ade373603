/**
 * Finds the bytes and the type of a media item. The type found in the bytes overrides the declared one: providers
 * reject a request with a wrongly declared image, each time it is sent.
 */
import { byteText, fromBase64, utf8Bytes } from '../../core/bytes.js';
import type { Media } from '../message.js';

export interface FoundBytes {
  readonly bytes: Uint8Array;
  readonly mime: string;
}

const DATA_URL = /^data:([^,]*),/i;
const HEAD_MAX = 200;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** From the artifacts, or from the reference itself; null if the bytes are not available or damaged. */
export function bytesOf(media: Media, artifacts: ReadonlyMap<string, Uint8Array>): FoundBytes | null {
  const stored = artifacts.get(media.ref);
  if (stored) return found(media, stored, media.mime);
  const match = DATA_URL.exec(media.ref.slice(0, HEAD_MAX));
  if (!match) return null;
  const [mime, ...parameters] = match[1]!.split(';');
  const isBase64 = parameters.some((parameter) => parameter.trim().toLowerCase() === 'base64');
  const rest = media.ref.slice(match[0].length);
  const bytes = isBase64 ? decoded(rest) : utf8Bytes(unescaped(rest));
  return bytes === null ? null : found(media, bytes, mime?.trim() || media.mime);
}

function found(media: Media, bytes: Uint8Array, said: string | undefined): FoundBytes | null {
  if (bytes.length === 0) return null;
  const seen = media.kind === 'image' ? imageMimeOf(bytes) : undefined;
  return { bytes, mime: seen ?? saidMime(said) ?? 'application/octet-stream' };
}

/** A base64 decoder skips unknown characters, so it would silently turn a damaged text into other bytes. */
function decoded(text: string): Uint8Array | null {
  const compact = text.replace(/\s+/g, '');
  return BASE64.test(compact) ? fromBase64(compact) : null;
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const MAGIC: readonly (readonly [RegExp, string])[] = [
  [/^\x89PNG\r\n\x1a\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF.{4}WEBP/s, 'image/webp'],
];

function imageMimeOf(bytes: Uint8Array): string | undefined {
  const head = byteText(bytes.subarray(0, 12));
  return MAGIC.find(([pattern]) => pattern.test(head))?.[1];
}

/** In lower case, without parameters, under the name that providers know. */
export function plainMime(mime: string): string {
  const [type = ''] = mime.toLowerCase().split(';');
  return type.trim() === 'image/jpg' ? 'image/jpeg' : type.trim();
}

/** Undefined for an empty or invalid type. */
export function saidMime(mime: string | undefined): string | undefined {
  const plain = plainMime(mime ?? '');
  return /^[\w.+-]+\/[\w.+-]+$/.test(plain) ? plain : undefined;
}

const MIMES_BY_ENDING: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['heic', 'image/heic'],
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
  ['webm', 'video/webm'],
]);
const MIMES_BY_KIND: Readonly<Record<Media['kind'], string>> = {
  image: 'image/jpeg',
  audio: 'audio/mpeg',
  video: 'video/mp4',
  file: 'application/pdf',
};

/** The type suggested by the ending of a URL, if it fits the kind of media. The server may send another type. */
export function mimeOfUrl({ kind, ref, mime }: Media): string {
  const said = saidMime(mime);
  if (said !== undefined) return said;
  const ending = /\.(\w+)(?:[?#]|$)/.exec(ref)?.[1]?.toLowerCase() ?? '';
  const known = MIMES_BY_ENDING.get(ending);
  return known?.startsWith(`${kind}/`) ? known : MIMES_BY_KIND[kind];
}
