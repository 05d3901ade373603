/**
 * The data that one checkpoint writes: the extents that form its content, the digest of that content, and its
 * new data. Layout: `digest (32 bytes)
 * count of extents
 * extents
 * data`, numbers as unsigned LEB128. An extent stores its pack relative to this one, its offset relative to
 * the end of the last extent of that pack, and its length.
 */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../core/canonical-json.js';
import { RekindleError } from '../../core/errors.js';
import type { ContentPlan, Extent } from './content-plan.js';

export interface Pack {
  /** See `contentDigest`. */
  readonly digest: Buffer;
  readonly extents: readonly Extent[];
  readonly data: Buffer;
}

const DIGEST_BYTES = 32;

/** Covers the owner: SHA-256 of session and number as canonical JSON, and the whole content. */
export function contentDigest(session: string, number: number, content: Uint8Array): Buffer {
  return createHash('sha256')
    .update(canonicalJson([session, number]))
    .update(content)
    .digest();
}

export function encodePack(number: number, digest: Buffer, { extents, data }: ContentPlan): Buffer {
  const out: number[] = [];
  writeNumber(out, extents.length);
  const ends = new Map<number, number>();
  for (const { pack, offset, length } of extents) {
    writeNumber(out, number - pack);
    writeNumber(out, zigzag(offset - (ends.get(pack) ?? 0)));
    writeNumber(out, length);
    ends.set(pack, offset + length);
  }
  return Buffer.concat([digest, Buffer.from(out), data]);
}

/** @throws CHECKPOINT_DAMAGED */
export function decodePack(number: number, bytes: Buffer): Pack {
  const reader = new NumberReader(bytes, DIGEST_BYTES);
  const count = reader.next();
  const extents: Extent[] = [];
  const ends = new Map<number, number>();
  for (let index = 0; index < count; index += 1) {
    const pack = number - reader.next();
    const offset = unzigzag(reader.next()) + (ends.get(pack) ?? 0);
    const length = reader.next();
    if (pack < 1 || offset < 0 || length < 1) throw damaged(number, 'an extent that cannot be');
    extents.push({ pack, offset, length });
    ends.set(pack, offset + length);
  }
  return { digest: bytes.subarray(0, DIGEST_BYTES), extents, data: bytes.subarray(reader.at) };
}

function writeNumber(out: number[], value: number): void {
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) out.push((rest % 0x80) | 0x80);
  out.push(rest);
}

/** Maps small numbers of either sign to small numbers. */
function zigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

function unzigzag(value: number): number {
  return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
}

class NumberReader {
  at: number;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  next(): number {
    let value = 0;
    for (let scale = 1; scale < Number.MAX_SAFE_INTEGER; scale *= 0x80) {
      const byte = this.#bytes[this.at];
      this.at += 1;
      if (byte === undefined) break;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw damaged(0, 'a number that does not end');
  }
}

function damaged(number: number, problem: string): RekindleError {
  return new RekindleError('CHECKPOINT_DAMAGED', `The data of a checkpoint has ${problem}.`, {
    details: { number, problem },
  });
}
