/**
 * Synchronous SHA-256 in JavaScript: browsers offer only an asynchronous one, and the ids of a request are made in one
 * pass. Used for ids derived from a text; bytes of artifacts are hashed where they are stored.
 */
import { joinBytes, utf8Bytes } from './bytes.js';

const BLOCK_BYTES = 64;
const ROUNDS = 64;

/** The first 32 bits of the fractional part of a root. The standard uses square and cube roots of primes. */
const fraction = (root: number): number => ((root - Math.floor(root)) * 2 ** 32) | 0;
const PRIMES = firstPrimes(ROUNDS);
const START = PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
const CONSTANTS = Int32Array.from(PRIMES, (prime) => fraction(Math.cbrt(prime)));

/** 64 hex digits. A text is encoded as UTF-8. */
export function sha256Hex(text: string): string {
  const words = new DataView(padded(utf8Bytes(text)).buffer);
  const state = Int32Array.from(START);
  for (let at = 0; at < words.byteLength; at += BLOCK_BYTES) addBlock(state, words, at);
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

/** A one bit, zeros, and the length in bits in the last eight bytes of a block. */
function padded(bytes: Uint8Array): Uint8Array {
  const zeros = (BLOCK_BYTES * 2 - ((bytes.length + 9) % BLOCK_BYTES)) % BLOCK_BYTES;
  const end = new Uint8Array(1 + zeros + 8);
  end[0] = 0x80;
  new DataView(end.buffer).setBigUint64(1 + zeros, BigInt(bytes.length) * 8n);
  return joinBytes([bytes, end]);
}

const schedule = new Int32Array(ROUNDS);

function addBlock(state: Int32Array, words: DataView, at: number): void {
  for (let i = 0; i < 16; i += 1) schedule[i] = words.getInt32(at + i * 4);
  for (let i = 16; i < ROUNDS; i += 1) {
    const far = schedule[i - 15]!;
    const near = schedule[i - 2]!;
    const low = turned(far, 7) ^ turned(far, 18) ^ (far >>> 3);
    const high = turned(near, 17) ^ turned(near, 19) ^ (near >>> 10);
    schedule[i] = schedule[i - 16]! + low + schedule[i - 7]! + high;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let i = 0; i < ROUNDS; i += 1) {
    const chosen = (e & f) ^ (~e & g);
    const most = (a & b) ^ (a & c) ^ (b & c);
    const first =
      (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + chosen + CONSTANTS[i]! + schedule[i]!) | 0;
    const second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + most;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) state[i] = state[i]! + word;
}

function turned(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let n = 2; primes.length < count; n += 1) if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  return primes;
}
