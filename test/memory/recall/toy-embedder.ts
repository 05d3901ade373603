/** An embedder without a model: words of one group have one direction, and every other word has its own. */
import { crc32 } from '../../../src/core/crc32.js';
import type { Embedder } from '../../../src/memory/recall/embedder.js';

const GROUPS = [
  ['dentist', 'teeth', 'physician'],
  ['dog', 'puppy', 'terrier'],
];
const DIMENSION = 64;

export interface ToyEmbedder extends Embedder {
  /** The texts of each call. */
  readonly calls: string[][];
  /** Replaces the answer of the next calls; null: none. */
  answer: ((texts: readonly string[], signal?: AbortSignal) => Promise<unknown>) | null;
}

export function toyEmbedder({ name = 'toy', dimension = DIMENSION } = {}): ToyEmbedder {
  const calls: string[][] = [];
  const embedder: ToyEmbedder = {
    name,
    dimension,
    calls,
    answer: null,
    async embed(texts, { signal } = {}) {
      calls.push([...texts]);
      if (embedder.answer) return (await embedder.answer(texts, signal)) as Float32Array[];
      return texts.map((text) => vectorOf(text, dimension));
    },
  };
  return embedder;
}

function vectorOf(text: string, dimension: number): Float32Array {
  const vector = new Float32Array(dimension);
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
    const group = GROUPS.findIndex((words) => words.includes(word));
    if (group >= 0) vector[group]! += 3;
    else vector[GROUPS.length + (crc32(word) % (dimension - GROUPS.length))]! += 0.3;
  }
  return vector;
}
