/**
 * The bytes of a file of vectors, and the search in them. A number of a vector is one signed byte, so a million numbers
 * are a megabyte.
 *
 *     {"vectors":1,"agent_id":"a","embedder":"m","dimension":384,...}\n  what it covers
 *     rows         10 bytes each: seq u32, piece u16, scale f32
 *     vectors      of each row: one signed byte for each number; multiplied by the scale, it is a vector of length 1
 *     crc          u32 of all before
 *
 * All numbers are little-endian. It is a cache: an unusable file is removed, and its vectors are made again.
 */
import { crc32 } from '../../core/crc32.js';
import { isJsonObject, tryParseJson } from '../../core/json.js';
import type { TimeSlices } from '../../core/time-slices.js';
import type { Cursor } from '../../storage/ports.js';
import type { BestOf } from './best-of.js';
import type { Embedder } from './embedder.js';
import type { Coverage } from './shard-file.js';

const FORMAT = 1;
const ROW_BYTES = 10;
const BYTE_MAX = 127;
/** Rows between two checks of the time. */
const CHUNK = 1_024;

/** A passage by its trace and its position in it. */
export interface PassageKey {
  readonly seq: number;
  readonly piece: number;
}

/** A passage and its vector, as a row of a file. */
export interface VectorRow extends PassageKey {
  readonly scale: number;
  readonly bytes: Int8Array;
}

/** The model of the vectors. */
export type VectorModel = Pick<Embedder, 'name' | 'dimension'>;

interface VectorHead {
  readonly vectors: number;
  readonly agent_id: string;
  readonly embedder: string;
  readonly dimension: number;
  readonly from: number;
  readonly to: number;
  readonly to_cursor: Cursor | null;
  readonly to_crc: string | null;
  readonly rows: number;
}

/** @param vector of length 1, or zeros */
export function quantized(vector: Float32Array): Pick<VectorRow, 'scale' | 'bytes'> {
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  if (largest === 0) return { scale: 0, bytes: new Int8Array(vector.length) };
  const scale = largest / BYTE_MAX;
  return { scale, bytes: Int8Array.from(vector, (value) => Math.round(value / scale)) };
}

export function encodeVectors(
  agentId: string,
  { name, dimension }: VectorModel,
  { fromSeq, to }: Coverage,
  rows: readonly VectorRow[],
): Buffer {
  const head: VectorHead = {
    vectors: FORMAT,
    agent_id: agentId,
    embedder: name,
    dimension,
    from: fromSeq,
    to: to.seq,
    to_cursor: to.cursor,
    to_crc: to.crc,
    rows: rows.length,
  };
  const line = Buffer.from(`${JSON.stringify(head)}\n`);
  const bytes = Buffer.alloc(line.length + rows.length * (ROW_BYTES + dimension) + 4);
  line.copy(bytes);
  const vectors = line.length + rows.length * ROW_BYTES;
  for (const [index, { seq, piece, scale, bytes: numbers }] of rows.entries()) {
    const at = line.length + index * ROW_BYTES;
    bytes.writeUInt32LE(seq, at);
    bytes.writeUInt16LE(piece, at + 4);
    bytes.writeFloatLE(scale, at + 6);
    Buffer.from(numbers.buffer, numbers.byteOffset, dimension).copy(bytes, vectors + index * dimension);
  }
  bytes.writeUInt32LE(crc32(bytes.subarray(0, -4)), bytes.length - 4);
  return bytes;
}

/** The mean of many numbers, and their standard deviation. */
export class Spread {
  #count = 0;
  #sum = 0;
  #squares = 0;

  add(value: number): void {
    this.#count += 1;
    this.#sum += value;
    this.#squares += value * value;
  }

  /** How far a number is above the mean, in standard deviations; 0 if all are equal. */
  above(value: number): number {
    const mean = this.#sum / this.#count;
    const variance = this.#squares / this.#count - mean * mean;
    return variance < 1e-12 ? 0 : (value - mean) / Math.sqrt(variance);
  }
}

/** One search over all files. */
export interface Comparison {
  readonly best: BestOf;
  readonly spread: Spread;
  readonly slices: TimeSlices;
  /** If omitted, every passage may be found. */
  readonly accepts?: (key: PassageKey) => boolean;
}

export class VectorFile {
  readonly coverage: Coverage;
  readonly count: number;
  readonly #bytes: Buffer;
  readonly #dimension: number;
  readonly #rows: number;
  readonly #vectors: Int8Array;

  private constructor(bytes: Buffer, head: VectorHead, start: number) {
    this.#bytes = bytes;
    this.#dimension = head.dimension;
    this.#rows = start;
    this.count = head.rows;
    this.coverage = { fromSeq: head.from, to: { seq: head.to, cursor: head.to_cursor, crc: head.to_crc } };
    const vectors = bytes.byteOffset + start + head.rows * ROW_BYTES;
    this.#vectors = new Int8Array(bytes.buffer, vectors, head.rows * head.dimension);
  }

  /** `damaged`, or `other` for vectors of another agent, model or format. */
  static read(given: Uint8Array, agentId: string, model: VectorModel): VectorFile | 'damaged' | 'other' {
    const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
    const start = bytes.indexOf(0x0a) + 1;
    if (start === 0 || bytes.length < start + 4) return 'damaged';
    if (crc32(bytes.subarray(0, -4)) !== bytes.readUInt32LE(bytes.length - 4)) return 'damaged';
    const head = tryParseJson(bytes.toString('utf8', 0, start)) as unknown as VectorHead | undefined;
    if (!isJsonObject(head as never)) return 'damaged';
    const { vectors, agent_id: agent, embedder, dimension, rows } = head!;
    if (vectors !== FORMAT || agent !== agentId) return 'other';
    if (embedder !== model.name || dimension !== model.dimension) return 'other';
    const length = start + rows * (ROW_BYTES + dimension) + 4;
    return bytes.length === length ? new VectorFile(bytes, head!, start) : 'damaged';
  }

  keyAt(row: number): PassageKey {
    const at = this.#rows + row * ROW_BYTES;
    return { seq: this.#bytes.readUInt32LE(at), piece: this.#bytes.readUInt16LE(at + 4) };
  }

  #rowAt(row: number): VectorRow {
    const from = row * this.#dimension;
    const bytes = this.#vectors.subarray(from, from + this.#dimension);
    return { ...this.keyAt(row), scale: this.#scaleAt(row), bytes };
  }

  /** The content of the file. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  *rows(): Generator<VectorRow> {
    for (let row = 0; row < this.count; row += 1) yield this.#rowAt(row);
  }

  /** Adds the rows to `best` and to `spread` by their cosine with the question. `start` is the number of the first row there. */
  async compare(
    question: Pick<VectorRow, 'scale' | 'bytes'>,
    start: number,
    { best, spread, slices, accepts }: Comparison,
  ): Promise<void> {
    for (let row = 0; row < this.count; row += 1) {
      const cosine = this.#dot(question.bytes, row) * this.#scaleAt(row) * question.scale;
      spread.add(cosine);
      const index = start + row;
      if (best.wants(index, cosine) && (!accepts || accepts(this.keyAt(row)))) best.add(index, cosine);
      if (row % CHUNK === CHUNK - 1 && slices.isOver) await slices.pause();
    }
  }

  #scaleAt(row: number): number {
    return this.#bytes.readFloatLE(this.#rows + row * ROW_BYTES + 6);
  }

  #dot(question: Int8Array, row: number): number {
    const vectors = this.#vectors;
    const size = this.#dimension;
    const from = row * size;
    let sum = 0;
    for (let at = 0; at < size; at += 1) sum += question[at]! * vectors[from + at]!;
    return sum;
  }
}
