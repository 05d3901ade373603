/**
 * Reads a file as blocks of whole lines. Each byte is copied at most once. A line that is too long is not held in
 * memory: its block has only its position and length.
 */
import { RECORD_BYTES_MAX } from '../../core/limits.js';
import type { OpenFile } from '../file-system.js';
import { readRange } from './file-io.js';

/** Maximum bytes per read. The first read is smaller, because often only the first or last few records are needed. */
const CHUNK_BYTES = 256 * 1024;
export const FIRST_CHUNK_BYTES = 16 * 1024;
/** For a few records, such as one of each place that a search found. */
const FEW_RECORDS = 4;
const FEW_RECORDS_BYTES = 3 * 1024;

/** The size of the first read for about so many records. */
export function firstChunkFor(records = Number.POSITIVE_INFINITY): number {
  return records <= FEW_RECORDS ? FEW_RECORDS_BYTES : FIRST_CHUNK_BYTES;
}
/** Two of the largest records, joined by a lost newline. A longer line is reported as damage and never converted to text. */
export const LINE_BYTES_MAX = 2 * RECORD_BYTES_MAX;

const NEWLINE = 0x0a;

/** `bytes` null: one line that is too long, including its newline if it has one. */
export type LineBlock =
  | { readonly start: number; readonly bytes: Buffer }
  | { readonly start: number; readonly bytes: null; readonly length: number };

/** In order. The last block may lack its newline. @param firstBytes the first read; later ones grow */
export async function* lineBlocks(
  file: OpenFile,
  from: number,
  to: number,
  firstBytes = FIRST_CHUNK_BYTES,
): AsyncGenerator<LineBlock> {
  const line = new LongLine(from);
  let size = firstBytes;
  for (let position = from; position < to; ) {
    const chunk = await readRange(file, position, Math.min(size, to - position));
    if (chunk.length === 0) break;
    size = Math.min(CHUNK_BYTES, size * 4);
    position += chunk.length;
    yield* line.add(chunk);
  }
  yield* line.end();
}

/** The current incomplete line, and whole lines as soon as they are complete. */
class LongLine {
  #start: number;
  #held: Buffer[] = [];
  #length = 0;

  constructor(start: number) {
    this.#start = start;
  }

  *add(chunk: Buffer): Generator<LineBlock> {
    const first = chunk.indexOf(NEWLINE) + 1;
    let at = 0;
    if (first > 0 && this.#length + first - 1 > LINE_BYTES_MAX) {
      this.#hold(chunk.subarray(0, first));
      yield this.#take();
      at = first;
    }
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > at) {
      this.#hold(chunk.subarray(at, end));
      yield this.#take();
      at = end;
    }
    if (at < chunk.length) this.#hold(chunk.subarray(at));
  }

  *end(): Generator<LineBlock> {
    if (this.#length > 0) yield this.#take();
  }

  /** Bytes of a line that is too long are counted and released. */
  #hold(bytes: Buffer): void {
    this.#length += bytes.length;
    if (this.#length <= LINE_BYTES_MAX + CHUNK_BYTES) this.#held.push(bytes);
    else this.#held = [];
  }

  #take(): LineBlock {
    const [start, length, held] = [this.#start, this.#length, this.#held];
    this.#start += length;
    this.#length = 0;
    this.#held = [];
    if (held.length === 0) return { start, bytes: null, length };
    return { start, bytes: held.length === 1 ? held[0]! : Buffer.concat(held) };
  }
}

/** The last whole lines before `to`: as many as fit into `bytesAtFirst`, which grows until there is at least one. */
export async function blockBefore(
  file: OpenFile,
  from: number,
  to: number,
  bytesAtFirst: number,
): Promise<LineBlock> {
  const most = LINE_BYTES_MAX + 2; // including the newlines before and after it
  for (let size = bytesAtFirst; ; size = Math.min(size * 4, most)) {
    const start = Math.max(from, to - size);
    const bytes = await readRange(file, start, to - start);
    if (start === from) return { start, bytes };
    const newline = bytes.subarray(0, -1).indexOf(NEWLINE);
    if (newline >= 0) return { start: start + newline + 1, bytes: bytes.subarray(newline + 1) };
    if (size < most) continue;
    const begin = await startOfLine(file, from, start);
    return { start: begin, bytes: null, length: to - begin };
  }
}

/** The start of the line that continues at `before`. */
export async function startOfLine(file: OpenFile, from: number, before: number): Promise<number> {
  for (let end = before; end > from; ) {
    const start = Math.max(from, end - CHUNK_BYTES);
    const newline = (await readRange(file, start, end - start)).lastIndexOf(NEWLINE);
    if (newline >= 0) return start + newline + 1;
    end = start;
  }
  return from;
}
