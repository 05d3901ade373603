/** Conversion between bytes and text without Node's classes: `rekindle/messages` must also run in browsers. */

const encoder = new TextEncoder();
// Keeps a byte order mark as an ordinary character. Callers that do not want it remove it.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Native base64 in Node, Bun and Deno: many times as fast as plain JavaScript. */
const native = (globalThis as { readonly Buffer?: typeof Buffer }).Buffer;

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
/** Characters converted per call: a function takes a limited number of arguments. */
const CHUNK_CHARS = 0x8000;

export function utf8Bytes(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Bytes that are not valid UTF-8 become U+FFFD. */
export function utf8Text(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

export function utf8Length(text: string): number {
  return native ? native.byteLength(text) : encoder.encode(text).length;
}

/** Latin-1: one character per byte. For short runs of bytes, such as the mark at the start of a file. */
export function byteText(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

export function toBase64(bytes: Uint8Array): string {
  if (native) return native.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  return encodeBase64(bytes);
}

/** Also accepts the URL-safe alphabet. Ignores other characters and everything after `=`. */
export function fromBase64(text: string): Uint8Array {
  return native ? native.from(text, 'base64') : decodeBase64(text);
}

/** For runtimes without native base64. */
export function encodeBase64(bytes: Uint8Array): string {
  const codes = new Uint8Array(Math.ceil(bytes.length / 3) * 4);
  for (let from = 0, to = 0; from < bytes.length; from += 3, to += 4) {
    const three = (bytes[from]! << 16) | ((bytes[from + 1] ?? 0) << 8) | (bytes[from + 2] ?? 0);
    for (let i = 0; i < 4; i += 1) {
      const isPadding = from + i > bytes.length;
      codes[to + i] = isPadding ? 0x3d : ALPHABET.charCodeAt((three >> (18 - 6 * i)) & 63);
    }
  }
  let text = '';
  for (let at = 0; at < codes.length; at += CHUNK_CHARS)
    text += byteText(codes.subarray(at, at + CHUNK_CHARS));
  return text;
}

const VALUES = new Map(
  [...ALPHABET]
    .map((char, value) => [char.charCodeAt(0), value] as const)
    .concat([
      [0x2d, 62],
      [0x5f, 63],
    ]),
);

/** For runtimes without native base64. */
export function decodeBase64(text: string): Uint8Array {
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let held = 0;
  let bits = 0;
  let length = 0;
  for (let at = 0; at < text.length && text[at] !== '='; at += 1) {
    const value = VALUES.get(text.charCodeAt(at));
    if (value === undefined) continue;
    held = ((held << 6) | value) & 0xffffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[length++] = (held >> bits) & 0xff;
  }
  return bytes.subarray(0, length);
}
