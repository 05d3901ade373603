/**
 * Ranks passages for a question: BM25 over stems. Passages of similar meaning get a share of the best score, where an
 * embedder is given. Neighbours of a hit share its score, because an answer is often next to the words of its question.
 * Terms that the best hits have in common are added to the question.
 */
import { BestOf, type Scored } from './best-of.js';
import type { Shard } from './shard.js';

/** BM25 parameters: saturation of repeated terms, and influence of length. */
const K1 = 1.2;
const B = 0.6;
/** Share of a passage's score for the passages one, two and three positions before and after it. */
const NEIGHBOUR_SHARES = [0.5, 0.3, 0.2];
/** The number of best hits that supply terms, the number of terms, and their weight relative to those of the question. */
const FEEDBACK_HITS = 8;
const FEEDBACK_TERMS = 16;
const FEEDBACK_WEIGHT = 0.35;
/** If there are many passages, only terms rarer than this are added to a question. */
const FEEDBACK_SHARE = 0.02;
const FEEDBACK_FROM = 10_000;
/** Score factor for a passage from a time that the question names. */
const TIME_FACTOR = 1.5;
/** Bonus of the newest passage over the oldest: if two say the same, the newer is right. */
const RECENCY = 0.05;
/** If there are many passages, a term in half of them is ignored. */
const FREQUENT_SHARE = 0.5;
const FREQUENT_FROM = 200;
/** Weight of the most similar passage, compared with the best one by words. */
const NEAR_WEIGHT = 0.7;
/** Similarity above the mean, in standard deviations: where it begins to count, and how far above that it counts whole. */
const NEAR_FROM = 1;
const NEAR_RANGE = 4;
/** Maximum terms of a question. */
const TERMS_MAX = 64;
/** Milliseconds of work before yielding to the event loop. */
const SLICE_MS = 8;
/** Passages between two checks of the time. */
const CHUNK = 16_384;

export interface Question {
  /** Each word in its forms. */
  readonly words: readonly (readonly string[])[];
  /** Seconds since 1970. */
  readonly times: readonly { readonly from: number; readonly to: number }[];
}

export interface RankOptions {
  readonly limit: number;
  /** Filter by shard and position in it; if omitted, all passages are accepted. */
  readonly accepts?: (shard: Shard, index: number) => boolean;
  /** Passages that are similar in meaning, best first. Their score: how far they are above the mean, in standard deviations. */
  readonly near?: readonly Scored[];
  /** The terms of passages, by their numbers over all shards. */
  readonly termsOf: (indexes: readonly number[]) => Promise<readonly (readonly string[])[]>;
}

/** Numbers count over all shards, oldest first. Best first. */
export async function rank(
  shards: readonly Shard[],
  question: Question,
  options: RankOptions,
): Promise<Scored[]> {
  const ranking = new Ranking(shards);
  await ranking.ask(question.words);
  ranking.addNear(options.near ?? []);
  if (!ranking.hasHits) return [];
  const first = await ranking.best(FEEDBACK_HITS, question.times, options.accepts);
  await ranking.addTerms(await feedback(ranking, first, options, new Set(question.words.flat())));
  return ranking.best(options.limit, question.times, options.accepts);
}

/** Terms that the best hits have and the question lacks, with their weights. Mere neighbours of hits supply none. */
async function feedback(
  ranking: Ranking,
  hits: readonly Scored[],
  { termsOf }: RankOptions,
  asked: ReadonlySet<string>,
): Promise<ReadonlyMap<string, number>> {
  const weights = new Map<string, number>();
  const direct = hits.filter(({ index }) => ranking.hasTerm(index));
  const termsOfHits = await termsOf(direct.map(({ index }) => index));
  for (const [at, { score }] of direct.entries()) {
    const terms = termsOfHits[at]!;
    const times = new Map<string, number>();
    for (const term of terms) if (!asked.has(term)) times.set(term, (times.get(term) ?? 0) + 1);
    for (const [term, count] of times) {
      if (ranking.isFrequent(term, FEEDBACK_SHARE, FEEDBACK_FROM)) continue;
      const weight = (score * Math.min(count, 2)) / (terms.length + 10);
      weights.set(term, (weights.get(term) ?? 0) + weight * ranking.rarityOf(term));
    }
  }
  const best = [...weights].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, FEEDBACK_TERMS);
  const most = best[0]?.[1] ?? 1;
  return new Map(best.map(([term, weight]) => [term, (FEEDBACK_WEIGHT * weight) / most]));
}

class Ranking {
  readonly #shards: readonly Shard[];
  /** The number of the first passage of each shard. */
  readonly #starts: readonly number[];
  readonly #count: number;
  readonly #meanLength: number;
  readonly #scores: Float32Array;
  /** Passages with a term. */
  readonly #hits: number[] = [];
  /** Passages with a term, of each term that was looked up. */
  readonly #frequencies = new Map<string, number>();
  #sliceStart = performance.now();

  constructor(shards: readonly Shard[]) {
    this.#shards = shards;
    let count = 0;
    let terms = 0;
    this.#starts = shards.map((shard) => {
      const start = count;
      count += shard.count;
      terms += shard.terms;
      return start;
    });
    this.#count = count;
    this.#meanLength = Math.max(1, terms / Math.max(1, count));
    this.#scores = new Float32Array(count);
  }

  /** Whether the passage itself has a term of the question, and not only a neighbour. */
  hasTerm(index: number): boolean {
    return this.#scores[index]! > 0;
  }

  get hasHits(): boolean {
    return this.#hits.length > 0;
  }

  /** The weight of a term: rarer terms weigh more. */
  rarityOf(term: string): number {
    return this.#rarity(this.#frequencyOf(term));
  }

  /** Whether the term is in more than this share of the passages, if there are at least `from`. */
  isFrequent(term: string, share: number, from: number): boolean {
    return this.#count >= from && this.#frequencyOf(term) > this.#count * share;
  }

  /** Uses the rarest words of a long question. */
  async ask(words: Question['words']): Promise<void> {
    const rarities = words.map((forms) => Math.max(...forms.map((form) => this.rarityOf(form))));
    const order = [...words.keys()].sort((a, b) => rarities[b]! - rarities[a]!).slice(0, TERMS_MAX);
    for (const at of order) for (const form of words[at]!) await this.#add(form, 1);
  }

  async addTerms(weights: ReadonlyMap<string, number>): Promise<void> {
    for (const [term, weight] of weights) await this.#add(term, weight);
  }

  /**
   * Gives similar passages a share of the best score by words. Where no word was found, only passages count that are more
   * similar than chance explains: something is always the most similar.
   */
  addNear(near: readonly Scored[]): void {
    let most = 0;
    for (const index of this.#hits) most = Math.max(most, this.#scores[index]!);
    const least = most > 0 ? NEAR_FROM : chanceMaximum(this.#count);
    for (const { index, score } of near) {
      if (score <= least) return;
      if (this.#scores[index] === 0) this.#hits.push(index);
      const share = Math.min(1, (score - NEAR_FROM) / NEAR_RANGE);
      this.#scores[index]! += NEAR_WEIGHT * (most || 1) * share;
    }
  }

  async best(limit: number, times: Question['times'], accepts: RankOptions['accepts']): Promise<Scored[]> {
    const scores = await this.#shared();
    const best = new BestOf(limit);
    for (const [number, shard] of this.#shards.entries()) {
      const start = this.#starts[number]!;
      for (let from = 0; from < shard.count; from += CHUNK) {
        const to = Math.min(shard.count, from + CHUNK);
        for (let at = from; at < to; at += 1) {
          const score = scores[start + at]!;
          if (score === 0 || (accepts && !accepts(shard, at))) continue;
          const index = start + at;
          const timed = times.length === 0 ? 1 : timeFactor(shard.timeOf(at), times);
          const recent = 1 + (RECENCY * index) / this.#count;
          best.add(index, score * timed * recent);
        }
        await this.#breathe();
      }
    }
    return best.sorted();
  }

  /** The scores including the shares of neighbours; 0 for a passage without a share. */
  async #shared(): Promise<Float32Array> {
    const edge = NEIGHBOUR_SHARES.length;
    const [own, hits] = [this.#scores, this.#hits];
    // Room for the neighbours of the first and the last passage, so that no place needs a check.
    const scores = new Float32Array(this.#count + 2 * edge);
    const give = (index: number, score: number) => {
      scores[index + edge]! += score;
    };
    for (let from = 0; from < hits.length; from += CHUNK) {
      const to = Math.min(hits.length, from + CHUNK);
      for (let hit = from; hit < to; hit += 1) {
        const index = hits[hit]!;
        const score = own[index]!;
        give(index, score);
        for (let step = 0; step < edge; step += 1) {
          const share = NEIGHBOUR_SHARES[step]!;
          give(index - step - 1, score * share);
          give(index + step + 1, score * share);
        }
      }
      await this.#breathe();
    }
    return scores.subarray(edge, edge + this.#count);
  }

  async #add(term: string, weight: number): Promise<void> {
    const frequency = this.#frequencyOf(term);
    if (frequency === 0 || this.isFrequent(term, FREQUENT_SHARE, FREQUENT_FROM)) return;
    const gain = weight * this.#rarity(frequency) * (K1 + 1);
    for (const [number, shard] of this.#shards.entries()) {
      const start = this.#starts[number]!;
      shard.eachWith(term, (index, times) => {
        const length = K1 * (1 - B + (B * shard.lengthOf(index)) / this.#meanLength);
        const at = start + index;
        if (this.#scores[at] === 0) this.#hits.push(at);
        this.#scores[at]! += (gain * times) / (times + length);
      });
      await this.#breathe();
    }
  }

  #frequencyOf(term: string): number {
    const known = this.#frequencies.get(term);
    if (known !== undefined) return known;
    let sum = 0;
    for (const shard of this.#shards) sum += shard.frequencyOf(term);
    this.#frequencies.set(term, sum);
    return sum;
  }

  #rarity(frequency: number): number {
    return Math.log(1 + (this.#count - frequency + 0.5) / (frequency + 0.5));
  }

  async #breathe(): Promise<void> {
    if (performance.now() - this.#sliceStart < SLICE_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#sliceStart = performance.now();
  }
}

function timeFactor(ts: number, times: Question['times']): number {
  return times.some(({ from, to }) => ts >= from && ts < to) ? TIME_FACTOR : 1;
}

/** How far the largest of so many random numbers is above their mean, in standard deviations. */
function chanceMaximum(count: number): number {
  return Math.sqrt(2 * Math.log(Math.max(2, count)));
}
