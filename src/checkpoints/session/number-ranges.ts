/** Numbers as inclusive ranges: a checkpoint often uses the data of hundreds of consecutive earlier ones. */
export type NumberRange = readonly [first: number, last: number];

/** @param numbers ascending and unique */
export function rangesOf(numbers: readonly number[]): NumberRange[] {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges;
}

export function* numbersIn(ranges: readonly NumberRange[]): Generator<number> {
  for (const [first, last] of ranges) for (let number = first; number <= last; number += 1) yield number;
}
