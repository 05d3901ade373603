/** Headers of images, as small as their formats allow. */

export function pngOf(width: number, height: number): Uint8Array {
  const bytes = new Uint8Array(33);
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]);
  const view = new DataView(bytes.buffer);
  view.setUint32(16, width);
  view.setUint32(20, height);
  return bytes;
}

export function gifOf(width: number, height: number): Uint8Array {
  const bytes = new Uint8Array(13);
  bytes.set(Buffer.from('GIF89a'));
  const view = new DataView(bytes.buffer);
  view.setUint16(6, width, true);
  view.setUint16(8, height, true);
  return bytes;
}

/** With an application segment, a table and fill bytes before the frame header, as cameras write it. */
export function jpegOf(width: number, height: number, sof = 0xc0): Uint8Array {
  const head = [0xff, 0xd8, 0xff, 0xe1, 0, 6, 0xff, 0xc0, 0, 0, 0xff, 0xc4, 0, 4, 0, 0, 0xff, 0xff];
  const size = [height >> 8, height & 0xff, width >> 8, width & 0xff];
  return Uint8Array.from([...head, sof, 0, 11, 8, ...size, 1, 1, 0x11, 0]);
}

export function webpOf(kind: 'VP8 ' | 'VP8L' | 'VP8X', width: number, height: number): Uint8Array {
  const bytes = new Uint8Array(32);
  bytes.set(Buffer.from(`RIFF\0\0\0\0WEBP${kind}`));
  const view = new DataView(bytes.buffer);
  if (kind === 'VP8 ') {
    bytes.set([0x9d, 0x01, 0x2a], 23);
    view.setUint16(26, width, true);
    view.setUint16(28, height, true);
  } else if (kind === 'VP8L') {
    bytes[20] = 0x2f;
    view.setUint32(21, ((width - 1) | ((height - 1) << 14)) >>> 0, true);
  } else {
    const [w, h] = [width - 1, height - 1];
    bytes.set([w & 0xff, (w >> 8) & 0xff, w >> 16, h & 0xff, (h >> 8) & 0xff, h >> 16], 24);
  }
  return bytes;
}
