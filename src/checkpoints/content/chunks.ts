/**
 * Content-defined chunking: a change moves only the cuts next to it, so that equal parts of two contexts are
 * cut equally, wherever they are. A rolling hash over the last 32 bytes decides (a gear hash, as in FastCDC).
 */

/** The part of `bytes` from `start` up to `end`. */
export interface Chunk {
  readonly start: number;
  readonly end: number;
}

/** Small, because each change costs about one additional chunk, and known chunks are not stored again. */
const CHUNK_MIN = 256;
const CHUNK_MAX = 4 * 1024;
/**
 * One cut in 1,024 bytes on average, beyond the minimum. It uses the top bits, which depend on the most
 * bytes.
 */
const MASK = 0xffc0_0000;

const GEAR = gearTable();

/**
 * The same bytes must always be cut in the same way, because stored data depends on it. Never change this.
 */
export function* chunksOf(bytes: Uint8Array): Generator<Chunk> {
  let start = 0;
  while (start < bytes.length) {
    const end = cutAfter(bytes, start);
    yield { start, end };
    start = end;
  }
}

function cutAfter(bytes: Uint8Array, start: number): number {
  const last = Math.min(start + CHUNK_MAX, bytes.length);
  let hash = 0;
  for (let at = start + CHUNK_MIN; at < last; at += 1) {
    hash = ((hash << 1) + GEAR[bytes[at]!]!) | 0;
    if ((hash & MASK) === 0) return at + 1;
  }
  return last;
}

/** 256 pseudo-random numbers (xorshift). Never change them. */
function gearTable(): Int32Array {
  const table = new Int32Array(256);
  let state = 0x9e37_79b9;
  for (let index = 0; index < table.length; index += 1) {
    for (let round = 0; round < 3; round += 1) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
    }
    table[index] = state;
  }
  return table;
}
