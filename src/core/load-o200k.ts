/** Fills the table of o200k with the tokens of `gpt-tokenizer`. Loaded when tokens are counted. */
import { open } from 'node:fs/promises';
import { utf8Bytes } from './bytes.js';
import { O200K_TOKENS, O200kTable } from './o200k-table.js';
import { TimeSlices } from './time-slices.js';

/** Read at once; the event loop runs between two reads. */
const CHUNK_BYTES = 8_192;
const LINE_BREAK = 0x0a;
const SPACE = 0x20;
const PADDING = 0x3d;
/** Of the base64 alphabet, by character code. */
const SIX_BITS = new Uint8Array(256);
for (const [value, char] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries())
  SIX_BITS[char.charCodeAt(0)] = value;

type Tokens = readonly (string | readonly number[])[];

export async function loadO200k(): Promise<O200kTable> {
  const { O200K_TOKEN_SPLIT_REGEX: pieces } = await import('gpt-tokenizer/encodingParams/constants');
  return (await fromFile(new O200kTable(pieces))) ?? (await fromModule(new O200kTable(pieces)));
}

/** From the package's data, read in pieces. Null if it is no file that can be read: a bundle has none. */
async function fromFile(table: O200kTable): Promise<O200kTable | null> {
  try {
    // Neither imported nor found by `import.meta.url`: bundlers would follow, and refuse a file that is no JavaScript.
    const { createRequire } = process.getBuiltinModule('node:module');
    const name = createRequire(import.meta.filename).resolve('gpt-tokenizer/data/o200k_base.tiktoken');
    const file = await open(name);
    try {
      const tokens = new TokenLines(table);
      const chunk = new Uint8Array(CHUNK_BYTES);
      for (;;) {
        const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, null);
        if (bytesRead === 0) break;
        tokens.read(chunk, bytesRead);
      }
    } finally {
      await file.close();
    }
  } catch {
    return null;
  }
  return table.size === O200K_TOKENS ? table : null;
}

/**
 * From a module, which a bundle has too. The event loop is held while it is parsed. Where a bundler took the form for `require`,
 * its default export lies one level deeper.
 */
async function fromModule(table: O200kTable): Promise<O200kTable> {
  const slices = new TimeSlices();
  const { default: loaded } = await import('gpt-tokenizer/bpeRanks/o200k_base');
  for (const token of Array.isArray(loaded) ? loaded : (loaded as { readonly default: Tokens }).default) {
    table.add(typeof token === 'string' ? utf8Bytes(token) : Uint8Array.from(token));
    if (slices.isOver) await slices.pause();
  }
  return table;
}

/** Lines of a token in base64, a space and its rank, in the order of ranks. */
class TokenLines {
  readonly #table: O200kTable;
  readonly #token = new Uint8Array(256);
  #length = 0;
  #bits = 0;
  #held = 0;
  #isRank = false;

  constructor(table: O200kTable) {
    this.#table = table;
  }

  read(chunk: Uint8Array, length: number): void {
    for (let at = 0; at < length; at += 1) {
      const byte = chunk[at]!;
      if (byte === LINE_BREAK) this.#endLine();
      else if (byte === SPACE) this.#isRank = true;
      else if (!this.#isRank && byte !== PADDING) this.#addSixBits(SIX_BITS[byte]!);
    }
  }

  #addSixBits(six: number): void {
    this.#held = ((this.#held << 6) | six) & 0xffff;
    this.#bits += 6;
    if (this.#bits < 8) return;
    this.#bits -= 8;
    this.#token[this.#length++] = this.#held >> this.#bits;
  }

  #endLine(): void {
    this.#table.add(this.#token, this.#length);
    this.#length = 0;
    this.#bits = 0;
    this.#held = 0;
    this.#isRank = false;
  }
}
