/** CRC-32 (IEEE), running, over bytes. A checksum against damage, not against an attacker. */
import { crc32 as zlibCrc32 } from 'node:zlib';

export function crc32(bytes: Uint8Array | string, start = 0): number {
  return zlibCrc32(bytes, start);
}

/** Eight lower-case hex digits. */
export function crcHex(crc: number): string {
  return crc.toString(16).padStart(8, '0');
}
