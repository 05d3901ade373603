/**
 * Width and height of an image from its header: PNG, GIF, JPEG and WebP. Pure. Null for other formats, and for a
 * damaged or cut header.
 */

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

export function imageSizeOf(bytes: Uint8Array): ImageSize | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = pngSize(view) ?? gifSize(view) ?? webpSize(view) ?? jpegSize(view);
  return size && size.width > 0 && size.height > 0 ? size : null;
}

function hasText(view: DataView, offset: number, text: string): boolean {
  if (offset + text.length > view.byteLength) return false;
  for (let i = 0; i < text.length; i++) if (view.getUint8(offset + i) !== text.charCodeAt(i)) return false;
  return true;
}

function pngSize(view: DataView): ImageSize | null {
  if (view.byteLength < 24 || !hasText(view, 0, '\x89PNG\r\n\x1a\n') || !hasText(view, 12, 'IHDR'))
    return null;
  return { width: view.getUint32(16), height: view.getUint32(20) };
}

function gifSize(view: DataView): ImageSize | null {
  if (view.byteLength < 10 || !(hasText(view, 0, 'GIF87a') || hasText(view, 0, 'GIF89a'))) return null;
  return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
}

function webpSize(view: DataView): ImageSize | null {
  if (view.byteLength < 30 || !hasText(view, 0, 'RIFF') || !hasText(view, 8, 'WEBP')) return null;
  if (hasText(view, 12, 'VP8 ')) return webpLossySize(view);
  if (hasText(view, 12, 'VP8L')) return webpLosslessSize(view);
  if (!hasText(view, 12, 'VP8X')) return null;
  return { width: uint24(view, 24) + 1, height: uint24(view, 27) + 1 };
}

function webpLossySize(view: DataView): ImageSize | null {
  if (!hasText(view, 23, '\x9d\x01\x2a')) return null;
  return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
}

/** Two 14-bit fields after the signature byte. */
function webpLosslessSize(view: DataView): ImageSize | null {
  if (view.getUint8(20) !== 0x2f) return null;
  const bits = view.getUint32(21, true);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}

function uint24(view: DataView, offset: number): number {
  return view.getUint16(offset, true) | (view.getUint8(offset + 2) << 16);
}

/** Skips the segments before the frame header, such as camera metadata. */
function jpegSize(view: DataView): ImageSize | null {
  if (view.byteLength < 4 || view.getUint16(0) !== 0xffd8) return null;
  let at = 2;
  while (at + 9 <= view.byteLength) {
    if (view.getUint8(at) !== 0xff) return null;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff)
      at += 1; // A fill byte.
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7))
      at += 2; // These have no length.
    else if (isFrameHeader(marker)) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    else if (marker === 0xd9 || marker === 0xda || view.getUint16(at + 2) < 2) return null;
    else at += 2 + view.getUint16(at + 2);
  }
  return null;
}

/** SOF0 to SOF15, except the three markers in that range with another meaning. */
function isFrameHeader(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}
