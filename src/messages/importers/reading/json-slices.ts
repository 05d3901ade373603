/**
 * Takes values out of a JSON document without holding the document. The caller decides for each path whether to enter
 * the value, take it whole, or skip it. Bytes are scanned once; only taken values are decoded.
 */
import { utf8Text } from '../../../core/bytes.js';
import { RekindleError } from '../../../core/errors.js';
import type { JsonValue } from '../../../core/json.js';
import { parseJsonKeepingDigits } from '../../../core/json-digits.js';

export type JsonPath = readonly (string | number)[];

/**
 * `enter` descends into an object or a list (a scalar is taken); `take` yields the value; `skip` skips it; `leave` also
 * skips the rest of its container.
 */
export type SliceChoice = 'enter' | 'take' | 'skip' | 'leave';

export interface JsonSlice {
  readonly path: JsonPath;
  readonly value: JsonValue;
  /** Offset of its first byte. */
  readonly start: number;
}

/** A larger value is rejected: it would not fit in memory next to others. In bytes. */
export const SLICE_BYTES_MAX = 128 * 1024 * 1024;

/** A value with more members than any model could read is rejected: parsing it would take minutes. */
const SLICE_MEMBERS_MAX = 1_000_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

interface Container {
  readonly close: number;
  /** Key or index of the current or next member. */
  at: string | number;
}

/** In document order. @throws TRANSCRIPT_INVALID where the bytes are not JSON, with the offset */
export async function* sliceJson(
  chunks: AsyncIterable<Uint8Array>,
  choose: (path: JsonPath) => SliceChoice,
  bytesMax = SLICE_BYTES_MAX,
): AsyncGenerator<JsonSlice> {
  const window = new Window(chunks, bytesMax);
  const open: Container[] = [];
  await window.skipByteOrderMark();
  for (;;) {
    const byte = await window.nextToken();
    if (byte < 0) {
      if (open.length > 0) throw invalid('the document ends in the middle', window.offset);
      return;
    }
    const top = open[open.length - 1];
    if (top && byte === top.close) {
      window.advance(1);
      open.pop();
    } else if (byte === COMMA) {
      window.advance(1);
      if (typeof top?.at === 'number') top.at += 1;
    } else {
      if (top?.close === CLOSE_OBJECT) top.at = await readKey(window);
      yield* readMember(window, open, choose);
    }
  }
}

async function readKey(window: Window): Promise<string> {
  const key = await window.takeValue();
  if (typeof key.value !== 'string') throw invalid('a key was expected', key.start);
  if ((await window.nextToken()) !== COLON) throw invalid('a colon was expected', window.offset);
  window.advance(1);
  return key.value;
}

async function* readMember(
  window: Window,
  open: Container[],
  choose: (path: JsonPath) => SliceChoice,
): AsyncGenerator<JsonSlice> {
  const byte = await window.nextToken();
  const path = open.map((container) => container.at);
  const choice = choose(path);
  const isContainer = byte === OPEN_LIST || byte === OPEN_OBJECT;
  if (choice === 'enter' && isContainer) {
    window.advance(1);
    open.push(byte === OPEN_LIST ? { close: CLOSE_LIST, at: 0 } : { close: CLOSE_OBJECT, at: '' });
  } else if (choice === 'leave' && open.length > 0) {
    await window.skipToEnd();
    open.pop();
  } else if (choice === 'skip' || choice === 'leave') await window.skipValue();
  else yield { path, ...(await window.takeValue()) };
}

/** The part of the source in memory: from the current value to the last chunk read. */
class Window {
  readonly #chunks: AsyncIterator<Uint8Array>;
  /** Limit for one taken value. */
  readonly #bytesMax: number;
  /** Doubles in size, so that a large value is not copied again for each chunk. */
  #store = new Uint8Array();
  /** The filled part of the store. */
  #bytes = new Uint8Array();
  #position = 0;
  /** Offset in the source of the first byte in memory. */
  #base = 0;

  constructor(chunks: AsyncIterable<Uint8Array>, bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  get offset(): number {
    return this.#base + this.#position;
  }

  advance(count: number): void {
    this.#position += count;
  }

  async skipByteOrderMark(): Promise<void> {
    if (this.#bytes.length < 3) await this.#more(0);
    if (this.#bytes[0] === 0xef && this.#bytes[1] === 0xbb && this.#bytes[2] === 0xbf) this.#position = 3;
  }

  /** The next byte that is not white space, without consuming it; -1 at the end. */
  async nextToken(): Promise<number> {
    for (;;) {
      while (this.#position < this.#bytes.length) {
        const byte = this.#bytes[this.#position]!;
        if (byte > 0x20) return byte;
        this.#position += 1;
      }
      if (!(await this.#more(this.#position))) return -1;
    }
  }

  async takeValue(): Promise<{ readonly value: JsonValue; readonly start: number }> {
    const start = this.offset;
    const length = await this.#lengthOfValue(true);
    const text = utf8Text(this.#bytes.subarray(this.#position, this.#position + length));
    this.#position += length;
    try {
      return { value: parseJsonKeepingDigits(text), start };
    } catch (thrown) {
      throw invalid('a value is no JSON', start, thrown);
    }
  }

  async skipValue(): Promise<void> {
    const length = await this.#lengthOfValue(false);
    this.#position += length; // only now: the scan moves the position
  }

  /** Moves behind the end of the current container. */
  async skipToEnd(): Promise<void> {
    const length = await this.#lengthOfValue(false, 1);
    this.#position += length;
  }

  /**
   * Length of the value at the position. If the value is not kept, its bytes are released during the scan.
   * @param depth 1: measures the rest of the container around the position
   */
  async #lengthOfValue(keep: boolean, depth = 0): Promise<number> {
    await this.nextToken();
    const start = this.offset;
    let at = this.#position;
    let members = 0;
    for (;;) {
      if (at >= this.#bytes.length) {
        const from = keep ? this.#position : at;
        if (!(await this.#more(from))) {
          if (depth === 0 && this.#base + at > start) break;
          throw invalid('the document ends in the middle', start);
        }
        at -= from;
        if (keep && this.#bytes.length > this.#bytesMax) throw tooLarge(start, this.#bytesMax);
        continue;
      }
      const byte = this.#bytes[at]!;
      if (byte === QUOTE) {
        at = await this.#endOfString(at, keep);
        if (depth === 0) break;
        continue;
      }
      if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth += 1;
      else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
        if (depth === 0) break; // the end of the container around a scalar
        depth -= 1;
        if (depth === 0) {
          at += 1;
          break;
        }
      } else if (depth === 0 && (byte <= 0x20 || byte === COMMA || byte === COLON)) break;
      else if (byte === COMMA && ++members > SLICE_MEMBERS_MAX && keep) throw tooMany(start);
      at += 1;
    }
    if (this.#base + at <= start) throw invalid('a value was expected', start);
    return this.#base + at - this.offset;
  }

  /** Position after the closing quote of the string that starts at `at`. */
  async #endOfString(at: number, keep: boolean): Promise<number> {
    let from = at + 1;
    for (;;) {
      const quote = this.#bytes.indexOf(QUOTE, from);
      if (quote >= 0) {
        if (!this.#isEscaped(quote, at)) return quote + 1;
        from = quote + 1;
        continue;
      }
      const lastSeen = this.#bytes.length;
      const moved = keep ? this.#position : at;
      const start = this.#base + at;
      if (!(await this.#more(moved))) throw invalid('a text has no end', start);
      at -= moved;
      from = lastSeen - moved;
      if (this.#bytes.length > this.#bytesMax) throw tooLarge(start, this.#bytesMax);
    }
  }

  #isEscaped(quote: number, stringStart: number): boolean {
    let before = quote - 1;
    while (before > stringStart && this.#bytes[before] === BACKSLASH) before -= 1;
    return (quote - 1 - before) % 2 === 1;
  }

  /**
   * Reads another chunk and releases the bytes before `from`. The position stays on its byte, or moves to the first
   * byte in memory.
   */
  async #more(from: number): Promise<boolean> {
    const next = await this.#chunks.next();
    if (next.done) return false;
    const kept = this.#bytes.length - from;
    const length = kept + next.value.length;
    const store = length <= this.#store.length ? this.#store : new Uint8Array(length * 2);
    // If nothing moves, nothing is copied: a large value would be copied again for each chunk.
    if (from > 0 || store !== this.#store) store.set(this.#bytes.subarray(from));
    store.set(next.value, kept);
    this.#store = store;
    this.#bytes = store.subarray(0, length);
    this.#base += from;
    this.#position = Math.max(0, this.#position - from);
    return true;
  }
}

function invalid(problem: string, offset: number, cause?: unknown): RekindleError {
  return new RekindleError(
    'TRANSCRIPT_INVALID',
    `The document is not valid JSON: ${problem}, at byte ${offset}.`,
    {
      details: { problem, offset },
      cause,
    },
  );
}

function tooMany(offset: number): RekindleError {
  return new RekindleError(
    'TRANSCRIPT_INVALID',
    `One value at byte ${offset} has more than ${SLICE_MEMBERS_MAX} members.`,
    { details: { problem: 'too large', offset, membersMax: SLICE_MEMBERS_MAX } },
  );
}

function tooLarge(offset: number, bytesMax: number): RekindleError {
  return new RekindleError(
    'TRANSCRIPT_INVALID',
    `One value at byte ${offset} is larger than ${bytesMax} bytes.`,
    { details: { problem: 'too large', offset, bytesMax } },
  );
}
