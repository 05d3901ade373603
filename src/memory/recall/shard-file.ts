/**
 * The bytes of a stored shard, and reading in them without making objects of them: a million passages stay a few dozen megabytes.
 *
 *     {"recall":1,"agent_id":"a","from":1,"to":90,...}\n  what it covers, and how long each part is
 *     passages     24 bytes each: seq u32, turn u32, ts f64, piece u16, tool u16, length u16, speaker u8, -
 *     places       16 bytes each: seq u32, segment u32, offset f64
 *     term ends, posting ends   u32 each
 *     terms        UTF-8, in the order of their bytes
 *     postings     of each term: how many, then for each the distance to the one before and how often; numbers of variable length
 *     crc          u32 of all before
 *
 * All numbers are little-endian. It is a cache: what is not as it should be is thrown away and built again from the journal.
 */
import { crc32 } from '../../core/crc32.js';
import { isJsonObject, tryParseJson } from '../../core/json.js';
import type { Cursor, JournalHead } from '../../storage/ports.js';
import { ByteReader, ByteWriter } from './byte-writer.js';
import { isLanguage, type Language } from './languages.js';
import { SPEAKERS } from './passage.js';
import type { PassageInfo, Place, Shard } from './shard.js';

const FORMAT = 1;
const INFO_BYTES = 24;
const PLACE_BYTES = 16;
const U16_MAX = 0xffff;
const U32_MAX = 0xffff_ffff;
/** Bytes of work before yielding to the event loop. */
const SLICE_BYTES = 1024 * 1024;
const SLICE_ROWS = 4_096;
const FOUND_KEPT = 2_000;
const yieldToLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The records after `from` up to `to`, which is identified by its position and checksum. */
export interface Coverage {
  readonly fromSeq: number;
  readonly to: JournalHead;
}

interface ShardHead {
  readonly recall: number;
  readonly agent_id: string;
  readonly from: number;
  readonly to: number;
  readonly to_cursor: Cursor | null;
  readonly to_crc: string | null;
  readonly passages: number;
  readonly places: number;
  readonly terms: number;
  readonly terms_bytes: number;
  readonly postings_bytes: number;
  readonly length: number;
  readonly tools: readonly string[];
  readonly languages: Readonly<Record<string, number>>;
}

/** The content of a shard. */
export interface ShardContent {
  readonly agentId: string;
  readonly coverage: Coverage;
  readonly shard: Pick<Shard, 'count' | 'terms' | 'languages' | 'infoOf' | 'lengthOf'>;
  readonly places: Iterable<Place>;
  /** Sorted by the bytes of the term; each with passage, times, passage, times, ... */
  readonly postings: Iterable<readonly [term: string, list: readonly number[]]>;
}

export async function encodeShard(content: ShardContent): Promise<Buffer> {
  const { shard, coverage, agentId } = content;
  const tools = new Map<string, number>();
  const infos = await infoBytes(shard, tools);
  const places = placeBytes(content.places);
  const { termEnds, postingEnds, terms, postings } = await termBytes(content.postings);
  const head: ShardHead = {
    recall: FORMAT,
    agent_id: agentId,
    from: coverage.fromSeq,
    to: coverage.to.seq,
    to_cursor: coverage.to.cursor,
    to_crc: coverage.to.crc,
    passages: shard.count,
    places: places.length / PLACE_BYTES,
    terms: termEnds.length,
    terms_bytes: terms.length,
    postings_bytes: postings.length,
    length: shard.terms,
    tools: [...tools.keys()],
    languages: Object.fromEntries(shard.languages),
  };
  const line = Buffer.from(`${JSON.stringify(head)}\n`);
  const ends = [u32Bytes(termEnds), u32Bytes(postingEnds)];
  const body = Buffer.concat([line, infos, places, ...ends, terms, postings]);
  const crc = Buffer.alloc(4);
  crc.writeUInt32LE(await crcOf(body));
  return Buffer.concat([body, crc]);
}

async function infoBytes(shard: ShardContent['shard'], tools: Map<string, number>): Promise<Buffer> {
  const bytes = Buffer.alloc(shard.count * INFO_BYTES);
  for (let index = 0; index < shard.count; index += 1) {
    const { seq, piece, turn, ts, speaker, toolName } = shard.infoOf(index);
    const at = index * INFO_BYTES;
    bytes.writeUInt32LE(Math.min(seq, U32_MAX), at);
    bytes.writeUInt32LE(Math.min(turn, U32_MAX), at + 4);
    bytes.writeDoubleLE(ts, at + 8);
    bytes.writeUInt16LE(Math.min(piece, U16_MAX), at + 16);
    bytes.writeUInt16LE(toolName === null ? 0 : toolNumber(tools, toolName), at + 18);
    bytes.writeUInt16LE(Math.min(shard.lengthOf(index), U16_MAX), at + 20);
    bytes.writeUInt8(SPEAKERS.indexOf(speaker), at + 22);
    if (index % SLICE_ROWS === SLICE_ROWS - 1) await yieldToLoop();
  }
  return bytes;
}

/** Starts at 1; 0 is none. If there are too many tools, the last ones share a number. */
function toolNumber(tools: Map<string, number>, name: string): number {
  const known = tools.get(name);
  if (known !== undefined) return known;
  const next = Math.min(tools.size + 1, U16_MAX);
  if (tools.size < U16_MAX) tools.set(name, next);
  return next;
}

function placeBytes(places: Iterable<Place>): Buffer {
  const rows = [...places].filter((place) => place.cursor !== null);
  const bytes = Buffer.alloc(rows.length * PLACE_BYTES);
  for (const [index, { seq, cursor }] of rows.entries()) {
    bytes.writeUInt32LE(seq, index * PLACE_BYTES);
    bytes.writeUInt32LE(cursor!.segment, index * PLACE_BYTES + 4);
    bytes.writeDoubleLE(cursor!.offset, index * PLACE_BYTES + 8);
  }
  return bytes;
}

async function termBytes(all: ShardContent['postings']): Promise<{
  readonly termEnds: number[];
  readonly postingEnds: number[];
  readonly terms: Buffer;
  readonly postings: Buffer;
}> {
  const terms = new ByteWriter();
  const postings = new ByteWriter();
  const termEnds: number[] = [];
  const postingEnds: number[] = [];
  let sliceEnd = SLICE_BYTES / 8;
  for (const [term, list] of all) {
    terms.text(term);
    postings.number(list.length / 2);
    let last = -1;
    for (let at = 0; at < list.length; at += 2) {
      const distance = list[at]! - last - 1;
      const times = list[at + 1]!;
      // Most terms occur once: the lowest bit marks that, and no count follows.
      postings.number(distance * 2 + (times === 1 ? 0 : 1));
      if (times !== 1) postings.number(times);
      last = list[at]!;
    }
    termEnds.push(terms.length);
    postingEnds.push(postings.length);
    if (postings.length < sliceEnd) continue;
    sliceEnd = postings.length + SLICE_BYTES / 8;
    await yieldToLoop();
  }
  return { termEnds, postingEnds, terms: terms.written(), postings: postings.written() };
}

function u32Bytes(numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(numbers.length * 4);
  for (const [index, number] of numbers.entries()) bytes.writeUInt32LE(number, index * 4);
  return bytes;
}

async function crcOf(bytes: Buffer): Promise<number> {
  let crc = 0;
  for (let from = 0; from < bytes.length; from += SLICE_BYTES) {
    crc = crc32(bytes.subarray(from, from + SLICE_BYTES), crc);
    if (from > 0) await yieldToLoop();
  }
  return crc;
}

export class StoredShard implements Shard {
  readonly count: number;
  readonly terms: number;
  readonly languages: ReadonlyMap<Language, number>;
  readonly coverage: Coverage;
  readonly bytesLength: number;
  readonly #bytes: Buffer;
  readonly #head: ShardHead;
  readonly #infos: number;
  readonly #places: number;
  readonly #termEnds: number;
  readonly #postingEnds: number;
  readonly #termBytes: number;
  readonly #postingBytes: number;
  /** Cache of looked up terms: a search asks for each several times. */
  readonly #found = new Map<string, number>();

  private constructor(bytes: Buffer, head: ShardHead, start: number) {
    this.#bytes = bytes;
    this.#head = head;
    this.count = head.passages;
    this.terms = head.length;
    this.languages = new Map(Object.entries(head.languages).filter(([name]) => isLanguage(name))) as Map<
      Language,
      number
    >;
    this.coverage = { fromSeq: head.from, to: { seq: head.to, cursor: head.to_cursor, crc: head.to_crc } };
    this.bytesLength = bytes.length;
    this.#infos = start;
    this.#places = this.#infos + head.passages * INFO_BYTES;
    this.#termEnds = this.#places + head.places * PLACE_BYTES;
    this.#postingEnds = this.#termEnds + head.terms * 4;
    this.#termBytes = this.#postingEnds + head.terms * 4;
    this.#postingBytes = this.#termBytes + head.terms_bytes;
  }

  /** Null if the bytes are damaged, of another format, or another agent's. */
  static async read(given: Uint8Array, agentId: string): Promise<StoredShard | null> {
    const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
    const lineEnd = bytes.indexOf(0x0a);
    if (lineEnd < 0 || bytes.length < lineEnd + 5) return null;
    const end = bytes.length - 4;
    if ((await crcOf(bytes.subarray(0, end))) !== bytes.readUInt32LE(end)) return null;
    const head = tryParseJson(bytes.toString('utf8', 0, lineEnd)) as unknown as ShardHead | undefined;
    if (!isJsonObject(head as never) || head!.recall !== FORMAT || head!.agent_id !== agentId) return null;
    const shard = new StoredShard(bytes, head!, lineEnd + 1);
    return shard.#postingBytes + head!.postings_bytes === end ? shard : null;
  }

  lengthOf(index: number): number {
    return this.#bytes.readUInt16LE(this.#infos + index * INFO_BYTES + 20);
  }

  infoOf(index: number): PassageInfo {
    const at = this.#infos + index * INFO_BYTES;
    const tool = this.#bytes.readUInt16LE(at + 18);
    return {
      seq: this.#bytes.readUInt32LE(at),
      turn: this.#bytes.readUInt32LE(at + 4),
      ts: this.#bytes.readDoubleLE(at + 8),
      piece: this.#bytes.readUInt16LE(at + 16),
      toolName: tool === 0 ? null : (this.#head.tools[tool - 1] ?? null),
      speaker: SPEAKERS[this.#bytes[at + 22]!] ?? 'user',
    };
  }

  timeOf(index: number): number {
    return this.#bytes.readDoubleLE(this.#infos + index * INFO_BYTES + 8);
  }

  frequencyOf(term: string): number {
    const index = this.#indexOf(term);
    return index < 0 ? 0 : this.#postingsAt(index).number();
  }

  eachWith(term: string, visit: (index: number, times: number) => void): void {
    const index = this.#indexOf(term);
    if (index >= 0) this.eachAt(index, visit);
  }

  /** As `eachWith`, for a term by its number in `allTerms`. */
  eachAt(index: number, visit: (index: number, times: number) => void): void {
    const reader = this.#postingsAt(index);
    let passage = -1;
    for (let left = reader.number(); left > 0; left -= 1) {
      const coded = reader.number();
      passage += Math.floor(coded / 2) + 1;
      visit(passage, coded % 2 === 0 ? 1 : reader.number());
    }
  }

  placeBefore(seq: number): Place | null {
    let low = 0;
    let high = this.#head.places;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#bytes.readUInt32LE(this.#places + middle * PLACE_BYTES) <= seq) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? null : this.#placeAt(low - 1);
  }

  *places(): Generator<Place> {
    for (let index = 0; index < this.#head.places; index += 1) yield this.#placeAt(index);
  }

  /** Every term, in byte order. */
  *allTerms(): Generator<string> {
    for (let index = 0; index < this.#head.terms; index += 1)
      yield this.#bytes.toString('utf8', ...this.#termRange(index));
  }

  #placeAt(index: number): Place {
    const at = this.#places + index * PLACE_BYTES;
    const segment = this.#bytes.readUInt32LE(at + 4);
    return {
      seq: this.#bytes.readUInt32LE(at),
      cursor: { segment, offset: this.#bytes.readDoubleLE(at + 8) },
    };
  }

  #termRange(index: number): readonly [from: number, to: number] {
    const from = index === 0 ? 0 : this.#bytes.readUInt32LE(this.#termEnds + (index - 1) * 4);
    const to = this.#bytes.readUInt32LE(this.#termEnds + index * 4);
    return [this.#termBytes + from, this.#termBytes + to];
  }

  #postingsAt(index: number): ByteReader {
    const from = index === 0 ? 0 : this.#bytes.readUInt32LE(this.#postingEnds + (index - 1) * 4);
    return new ByteReader(this.#bytes, this.#postingBytes + from);
  }

  #indexOf(term: string): number {
    const known = this.#found.get(term);
    if (known !== undefined) return known;
    const index = this.#search(term);
    if (this.#found.size >= FOUND_KEPT) this.#found.clear();
    this.#found.set(term, index);
    return index;
  }

  #search(term: string): number {
    const wanted = Buffer.from(term);
    let low = 0;
    let high = this.#head.terms - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const [from, to] = this.#termRange(middle);
      const order = this.#compare(from, to, wanted);
      if (order === 0) return middle;
      if (order < 0) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  /** Byte by byte: most terms differ at the start, and a search compares thousands. */
  #compare(from: number, to: number, wanted: Uint8Array): number {
    const common = Math.min(to - from, wanted.length);
    for (let at = 0; at < common; at += 1) {
      const order = this.#bytes[from + at]! - wanted[at]!;
      if (order !== 0) return order;
    }
    return to - from - wanted.length;
  }
}
