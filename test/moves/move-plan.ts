/** How one move goes: all of it follows from the seed, but for the time that machines take. */
import type { SeededRandom } from '../../src/storage/simulated/seeded-random.js';
import { POINTS, type Point } from './child-lines.js';
import type { Loss } from './link.js';

/** How the owner ends. */
export const ENDS = ['killed', 'cut off', 'paused'] as const;
export type End = (typeof ENDS)[number];

export interface MovePlan {
  readonly end: End;
  /** Null: at a moment, wherever it is. */
  readonly point: Point | null;
  /** The how manieth time that the point is met; milliseconds where there is no point. */
  readonly nth: number;
  readonly loss: Loss;
  /** When the old owner comes back: before the new one goes on, while it works; or after some turns of it. */
  readonly back: 'at once' | 'soon' | 'late';
}

const ALL_POINTS = Object.keys(POINTS) as Point[];

export function planMove(random: SeededRandom): MovePlan {
  const point = random.below(6) === 0 ? null : random.pick(ALL_POINTS);
  return {
    end: random.pick(ENDS),
    point,
    nth: point === null ? random.below(150) : 1 + random.below(3),
    loss: random.pick(['lost', 'late']),
    back: random.pick(['at once', 'soon', 'late']),
  };
}
