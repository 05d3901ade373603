/**
 * The tokens of o200k, and how many of them a text takes. The bytes of all tokens lie in one array, and a token is found by
 * the hash of its bytes: the table grows token by token, without the pauses of a map of 200,000 texts.
 */

/** Without control tokens. */
export const O200K_TOKENS = 199_998;

const BYTES_AT_FIRST = 2 ** 21;
/** More than two places for each token. */
const SLOTS = 2 ** 19;
const NONE = Number.POSITIVE_INFINITY;
/** The time of a merge grows with the square of the bytes. A longer piece is counted in parts. */
const PIECE_BYTES = 2_048;
const UTF8_BYTES_MAX = 3;

export class O200kTable {
  /** Matches the pieces of a text; no token is in two pieces. */
  readonly #pieces: RegExp;
  #bytes = new Uint8Array(BYTES_AT_FIRST);
  /** Where each token begins, and where the last one ends. */
  readonly #offsets = new Uint32Array(O200K_TOKENS + 1);
  /** The rank of the token at this place, plus one; 0 if there is none. */
  readonly #slots = new Uint32Array(SLOTS);
  #size = 0;
  readonly #encoder = new TextEncoder();
  readonly #piece = new Uint8Array(PIECE_BYTES);
  readonly #starts = new Uint16Array(PIECE_BYTES + 1);
  readonly #ranks = new Float64Array(PIECE_BYTES + 1);

  constructor(pieces: RegExp) {
    this.#pieces = pieces;
  }

  /** Tokens so far. */
  get size(): number {
    return this.#size;
  }

  /** Adds the token that is merged after all those before it. Ignores more tokens than o200k has. */
  add(token: Uint8Array, length = token.length): void {
    if (this.#size === O200K_TOKENS) return;
    const start = this.#offsets[this.#size]!;
    const end = start + length;
    if (end > this.#bytes.length) {
      const more = new Uint8Array(2 * end);
      more.set(this.#bytes);
      this.#bytes = more;
    }
    for (let at = 0; at < length; at += 1) this.#bytes[start + at] = token[at]!;
    this.#slots[this.#slotOf(token, 0, length)] = ++this.#size;
    this.#offsets[this.#size] = end;
  }

  /** Pieces of a text that are no token are merged by rank, as the encoding says. Never below zero. */
  count(text: string): number {
    let tokens = 0;
    for (const [piece] of text.matchAll(this.#pieces)) tokens += this.#countPiece(piece);
    return tokens;
  }

  #countPiece(piece: string): number {
    if (piece.length * UTF8_BYTES_MAX > PIECE_BYTES) return this.#countLong(this.#encoder.encode(piece));
    const length = this.#encoder.encodeInto(piece, this.#piece).written;
    if (this.#rankOf(this.#piece, 0, length) !== NONE) return 1;
    return this.#merge(this.#piece, length);
  }

  #countLong(bytes: Uint8Array): number {
    if (this.#rankOf(bytes, 0, bytes.length) !== NONE) return 1;
    let tokens = 0;
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const part = bytes.subarray(at, at + PIECE_BYTES);
      tokens += this.#merge(part, part.length);
    }
    return tokens;
  }

  /** Merges the two neighbours that make the lowest token, until no two make one. Returns what is left. */
  #merge(bytes: Uint8Array, length: number): number {
    const [starts, ranks] = [this.#starts, this.#ranks];
    let parts = length;
    /** Of the token that part `at` and the next one make. */
    const rankAt = (at: number) =>
      at + 1 < parts ? this.#rankOf(bytes, starts[at]!, starts[at + 2]!) : NONE;
    for (let at = 0; at <= parts; at += 1) starts[at] = at;
    for (let at = 0; at < parts; at += 1) ranks[at] = rankAt(at);
    while (parts > 1) {
      let lowest = 0;
      for (let at = 1; at < parts - 1; at += 1) if (ranks[at]! < ranks[lowest]!) lowest = at;
      if (ranks[lowest] === NONE) break;
      starts.copyWithin(lowest + 1, lowest + 2, parts + 1);
      ranks.copyWithin(lowest + 1, lowest + 2, parts);
      parts -= 1;
      ranks[lowest] = rankAt(lowest);
      if (lowest > 0) ranks[lowest - 1] = rankAt(lowest - 1);
    }
    return parts;
  }

  #rankOf(bytes: Uint8Array, from: number, to: number): number {
    const held = this.#slots[this.#slotOf(bytes, from, to)]!;
    return held === 0 ? NONE : held - 1;
  }

  /** The place of these bytes, or the free place for them. */
  #slotOf(bytes: Uint8Array, from: number, to: number): number {
    let hash = 0x811c9dc5; // FNV-1a
    for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
    hash ^= hash >>> 15;
    for (let slot = hash & (SLOTS - 1); ; slot = (slot + 1) & (SLOTS - 1)) {
      const held = this.#slots[slot]!;
      if (held === 0 || this.#isToken(held - 1, bytes, from, to)) return slot;
    }
  }

  #isToken(rank: number, bytes: Uint8Array, from: number, to: number): boolean {
    const start = this.#offsets[rank]!;
    if (this.#offsets[rank + 1]! - start !== to - from) return false;
    for (let at = from; at < to; at += 1) if (this.#bytes[start + at - from] !== bytes[at]) return false;
    return true;
  }
}
