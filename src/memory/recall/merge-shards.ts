/** Merges consecutive shards into one, so that fewer files must be searched. */
import type { Language } from './languages.js';
import type { PassageInfo, Place } from './shard.js';
import { encodeShard, type StoredShard } from './shard-file.js';

/** @param parts in order; each starts where the one before ends */
export function mergeShards(parts: readonly StoredShard[], agentId: string): Promise<Buffer> {
  const starts = startsOf(parts);
  const partAt = (index: number) => {
    const part = starts.findLastIndex((start) => start <= index);
    return { part: parts[part]!, at: index - starts[part]! };
  };
  return encodeShard({
    agentId,
    coverage: { fromSeq: parts[0]!.coverage.fromSeq, to: parts.at(-1)!.coverage.to },
    shard: {
      count: parts.reduce((sum, { count }) => sum + count, 0),
      terms: parts.reduce((sum, { terms }) => sum + terms, 0),
      languages: languagesOf(parts),
      infoOf: (index): PassageInfo => {
        const { part, at } = partAt(index);
        return part.infoOf(at);
      },
      lengthOf: (index) => {
        const { part, at } = partAt(index);
        return part.lengthOf(at);
      },
    },
    places: placesOf(parts),
    postings: postingsOf(parts, starts),
  });
}

function startsOf(parts: readonly StoredShard[]): number[] {
  let count = 0;
  return parts.map((part) => {
    const start = count;
    count += part.count;
    return start;
  });
}

function languagesOf(parts: readonly StoredShard[]): ReadonlyMap<Language, number> {
  const sums = new Map<Language, number>();
  for (const part of parts)
    for (const [language, count] of part.languages) sums.set(language, (sums.get(language) ?? 0) + count);
  return sums;
}

function* placesOf(parts: readonly StoredShard[]): Generator<Place> {
  for (const part of parts) yield* part.places();
}

/** The terms of all parts, without duplicates, in byte order. */
function* postingsOf(
  parts: readonly StoredShard[],
  starts: readonly number[],
): Generator<readonly [string, number[]]> {
  const heads = parts.map((part, index) => {
    const terms = part.allTerms();
    return { part, start: starts[index]!, terms, next: terms.next(), number: 0 };
  });
  for (;;) {
    let least: string | null = null;
    for (const { next } of heads)
      if (!next.done && (least === null || compareTerms(next.value, least) < 0)) least = next.value;
    if (least === null) return;
    const list: number[] = [];
    for (const head of heads) {
      if (head.next.done || head.next.value !== least) continue;
      // By its number: a search for each term of each part would take most of the time of a merge.
      head.part.eachAt(head.number, (index, times) => list.push(head.start + index, times));
      head.next = head.terms.next();
      head.number += 1;
    }
    yield [least, list];
  }
}

const SURROGATE = /[\ud800-\udfff]/;

/** By UTF-8 bytes; this differs from JavaScript's order only for surrogates. */
export function compareTerms(a: string, b: string): number {
  if (SURROGATE.test(a) || SURROGATE.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
