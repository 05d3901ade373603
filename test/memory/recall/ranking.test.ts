import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareTerms } from '../../../src/memory/recall/merge-shards.js';
import { type RankOptions, rank } from '../../../src/memory/recall/ranking.js';
import { ShardBuilder } from '../../../src/memory/recall/shard.js';
import { encodeShard, StoredShard } from '../../../src/memory/recall/shard-file.js';
import { runParameters } from '../../property/seed.js';
import { plainRank } from './plain-ranking.js';

const word = fc.integer({ min: 0, max: 40 }).map((n) => `w${n * n}`);
const passage = fc.array(word, { minLength: 1, maxLength: 12 });

function shardOf(passages: readonly (readonly string[])[], first: number): ShardBuilder {
  const shard = new ShardBuilder();
  for (const [at, terms] of passages.entries()) {
    const seq = first + at;
    const place = { seq, piece: 0, ts: seq * 60, speaker: 'user', toolName: null } as const;
    shard.add({ passage: place, turn: seq, terms, language: 'english' });
  }
  return shard;
}

async function stored(shard: ShardBuilder): Promise<StoredShard> {
  const bytes = await encodeShard({
    agentId: 'a',
    coverage: { fromSeq: 1, to: { seq: shard.count, cursor: null, crc: null } },
    shard,
    places: [],
    postings: [...shard.postings].sort(([a], [b]) => compareTerms(a, b)),
  });
  return (await StoredShard.read(bytes, 'a'))!;
}

describe('the ranking', () => {
  it('gives what a plain one gives, in its order and with its scores', async () => {
    const run = fc.asyncProperty(
      fc.array(fc.array(passage, { minLength: 1, maxLength: 90 }), { minLength: 1, maxLength: 4 }),
      fc.array(fc.array(word, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 6 }),
      fc.record({
        limit: fc.integer({ min: 1, max: 30 }),
        isFiltered: fc.boolean(),
        times: fc.array(fc.record({ from: fc.nat(9_000), to: fc.nat(20_000) }), { maxLength: 2 }),
        near: fc.array(fc.record({ index: fc.nat(400), score: fc.double({ min: 0, max: 6, noNaN: true }) }), {
          maxLength: 5,
        }),
      }),
      async (texts, words, { limit, isFiltered, times, near }) => {
        const all = texts.flat();
        const starts = texts.map((_, at) => texts.slice(0, at).flat().length);
        const shards = await Promise.all(
          texts.map((part, at) => {
            const built = shardOf(part, starts[at]! + 1);
            return at === texts.length - 1 ? built : stored(built);
          }),
        );
        const options: RankOptions = {
          limit,
          near: [...new Map(near.map((one) => [one.index, one])).values()]
            .filter(({ index }) => index < all.length)
            .sort((a, b) => b.score - a.score),
          termsOf: async (indexes) => indexes.map((index) => all[index]!),
          ...(isFiltered ? { accepts: (shard, at) => shard.infoOf(at).seq % 3 !== 0 } : {}),
        };
        const expected = await plainRank(shards, { words, times }, options);
        expect(await rank(shards, { words, times }, options)).toEqual(expected);
      },
    );
    await fc.assert(run, runParameters('ranking', 150));
  });
});
