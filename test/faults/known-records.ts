/** Records, documents and artifacts whose content follows from a seed, so that both sides of a kill know them. */
import type { JsonObject } from '../../src/core/json.js';
import { SeededRandom } from '../../src/storage/simulated/seeded-random.js';

export interface KnownRecord extends JsonObject {
  /** Which writer wrote it, and which of its records it is. */
  round: number;
  index: number;
  text: string;
}

const TEXT_BYTES_MAX = 64 * 1024;

/** Text of a size between 1 byte and 64 KiB; each power of two is as likely as the next. */
export function knownRecord(seed: number, round: number, index: number): KnownRecord {
  const random = randomFor(seed, round, index);
  const size = Math.floor(TEXT_BYTES_MAX ** (random.bits() / 2 ** 32));
  return { round, index, text: knownText(random, size) };
}

export function knownDocument(seed: number, version: number): JsonObject {
  const random = randomFor(seed, 1_000_003, version);
  return { version, text: knownText(random, 1 + random.below(20_000)) };
}

export function knownBlob(seed: number, number: number): Buffer {
  const random = randomFor(seed, 1_000_033, number);
  return Buffer.from(knownText(random, 1 + random.below(50_000)));
}

function randomFor(seed: number, ...parts: number[]): SeededRandom {
  return new SeededRandom(
    parts.reduce((mixed, part) => Math.imul(mixed ^ part, 0x9e3779b1) ^ (mixed >>> 13), seed),
  );
}

function knownText(random: SeededRandom, size: number): string {
  const piece = `${random.bits().toString(36)} \u00e9"\\\n\u2028{"${random.bits().toString(16)}":1} `;
  return piece
    .repeat(Math.ceil(size / piece.length))
    .slice(0, size)
    .toWellFormed();
}
