/** Chooses one alternative on each of several axes: all combinations, or a fixed sample of them. */
import type { SeededRandom } from './seeded-random.js';

/** Each list has one index per axis. The first list has index 0 everywhere, the last the highest index. */
export function* choicesOf(
  sizes: readonly number[],
  most: number,
  random: SeededRandom,
): Generator<number[]> {
  const total = sizes.reduce((product, size) => product * size, 1);
  if (total <= most) yield* everyChoice(sizes, total);
  else yield* sampledChoices(sizes, most, random);
}

function* everyChoice(sizes: readonly number[], total: number): Generator<number[]> {
  for (let rank = 0; rank < total; rank++) {
    let rest = rank;
    yield sizes.map((size) => {
      const index = rest % size;
      rest = (rest - index) / size;
      return index;
    });
  }
}

function* sampledChoices(sizes: readonly number[], most: number, random: SeededRandom): Generator<number[]> {
  const none = sizes.map(() => 0);
  const all = sizes.map((size) => size - 1);
  yield none;
  let left = most - 2;
  for (const choice of alternativesAlone(sizes, all)) {
    if (left-- <= most / 2) break;
    yield choice;
  }
  while (left-- > 0) yield sizes.map((size) => random.below(size));
  yield all;
}

/** One axis varies while the others keep everything. The axes take turns, so that a limit affects all equally. */
function* alternativesAlone(sizes: readonly number[], all: readonly number[]): Generator<number[]> {
  const longest = Math.max(...sizes);
  for (let index = 0; index < longest; index++) {
    for (const [axis, size] of sizes.entries()) {
      if (index < size - 1) yield all.map((last, other) => (other === axis ? index : last));
    }
  }
}
