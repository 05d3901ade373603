/**
 * The ranking of a search in its plainest form: each passage is a row of a table, everything is scored and everything is
 * sorted. Slow; the real one must give the same list with the same scores.
 */
import type { Scored } from '../../../src/memory/recall/best-of.js';
import type { Question, RankOptions } from '../../../src/memory/recall/ranking.js';
import type { Shard } from '../../../src/memory/recall/shard.js';

interface Row {
  readonly shard: Shard;
  readonly at: number;
}

export async function plainRank(
  shards: readonly Shard[],
  question: Question,
  { limit, accepts, near = [], termsOf }: RankOptions,
): Promise<Scored[]> {
  const rows = shards.flatMap((shard) =>
    Array.from({ length: shard.count }, (_, at): Row => ({ shard, at })),
  );
  const count = rows.length;
  const mean = Math.max(1, shards.reduce((sum, { terms }) => sum + terms, 0) / Math.max(1, count));
  const starts = shards.map((_, number) =>
    shards.slice(0, number).reduce((sum, shard) => sum + shard.count, 0),
  );
  const frequency = (term: string) => shards.reduce((sum, shard) => sum + shard.frequencyOf(term), 0);
  const rarity = (term: string) => Math.log(1 + (count - frequency(term) + 0.5) / (frequency(term) + 0.5));
  /** In the order in which they were first found: sums of numbers depend on it. */
  const own = new Map<number, number>();
  const give = (to: Map<number, number>, index: number, score: number) =>
    to.set(index, Math.fround((to.get(index) ?? 0) + score));

  const add = (term: string, weight: number) => {
    if (frequency(term) === 0 || (count >= 200 && frequency(term) > count * 0.5)) return;
    const gain = weight * rarity(term) * 2.2;
    for (const [number, shard] of shards.entries())
      shard.eachWith(term, (at, times) => {
        const length = 1.2 * (1 - 0.6 + (0.6 * shard.lengthOf(at)) / mean);
        give(own, starts[number]! + at, (gain * times) / (times + length));
      });
  };
  const best = (most: number): Scored[] => {
    const shared = new Map<number, number>();
    for (const [index, score] of own) {
      give(shared, index, score);
      for (const [step, share] of [0.5, 0.3, 0.2].entries())
        for (const place of [index - step - 1, index + step + 1])
          if (place >= 0 && place < count) give(shared, place, score * share);
    }
    const isIn = (ts: number) => question.times.some(({ from, to }) => ts >= from && ts < to);
    return [...shared]
      .filter(([index]) => !accepts || accepts(rows[index]!.shard, rows[index]!.at))
      .map(([index, score]) => {
        const { shard, at } = rows[index]!;
        return { index, score: score * (isIn(shard.timeOf(at)) ? 1.5 : 1) * (1 + (0.05 * index) / count) };
      })
      .sort((a, b) => b.score - a.score || b.index - a.index)
      .slice(0, most);
  };

  const weightOf = (forms: readonly string[]) => Math.max(...forms.map(rarity));
  const words = question.words.toSorted((a, b) => weightOf(b) - weightOf(a)).slice(0, 64);
  for (const forms of words) for (const form of forms) add(form, 1);
  const most = Math.max(0, ...own.values());
  for (const { index, score } of near) {
    if (score <= (most > 0 ? 1 : Math.sqrt(2 * Math.log(Math.max(2, count))))) break;
    give(own, index, 0.7 * (most || 1) * Math.min(1, (score - 1) / 4));
  }
  if (own.size === 0) return [];

  const direct = best(8).filter(({ index }) => own.has(index));
  const texts = await termsOf(direct.map(({ index }) => index));
  const asked = new Set(question.words.flat());
  const weights = new Map<string, number>();
  for (const [at, { score }] of direct.entries())
    for (const term of new Set(texts[at]!)) {
      if (asked.has(term) || (count >= 10_000 && frequency(term) > count * 0.02)) continue;
      const times = texts[at]!.filter((other) => other === term).length;
      const weight = (score * Math.min(times, 2)) / (texts[at]!.length + 10);
      weights.set(term, (weights.get(term) ?? 0) + weight * rarity(term));
    }
  const more = [...weights].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, 16);
  for (const [term, weight] of more) add(term, (0.35 * weight) / more[0]![1]);
  return best(limit);
}
