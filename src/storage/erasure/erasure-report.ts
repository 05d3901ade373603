/** The report of an erasure: what it found and what is left. */
import type { StoredPlace } from '../ports.js';
import type { ErasureTarget } from './erasure-marker.js';

/** An amount of stored data: files or rows, and bytes. */
export interface ErasureAmount {
  readonly items: number;
  readonly bytes: number;
}

/** One place that an erasure covered, before and after. */
export interface ErasedPlace {
  readonly kind: StoredPlace['kind'];
  readonly place: string;
  readonly before: ErasureAmount;
  /** Null for a dry run. */
  readonly after: ErasureAmount | null;
}

/** The result of an erasure. After a complete one, `after` is zero everywhere. */
export interface ErasureReport {
  readonly target: ErasureTarget;
  readonly dryRun: boolean;
  /** It continued an interrupted erasure; `before` is from the start of that one. */
  readonly resumed: boolean;
  readonly places: readonly ErasedPlace[];
  readonly before: ErasureAmount;
  readonly after: ErasureAmount | null;
}

const NOTHING: ErasureAmount = { items: 0, bytes: 0 };

export function amountOf(places: readonly ErasureAmount[]): ErasureAmount {
  return places.reduce(
    (sum, { items, bytes }) => ({ items: sum.items + items, bytes: sum.bytes + bytes }),
    NOTHING,
  );
}

export function reportOf(
  about: Pick<ErasureReport, 'target' | 'resumed'>,
  before: readonly StoredPlace[],
  after: readonly StoredPlace[] | null,
): ErasureReport {
  const keyOf = ({ kind, place }: StoredPlace) => `${kind} ${place}`;
  const left = new Map(after?.map((place) => [keyOf(place), place]));
  const places = new Map([...before, ...(after ?? [])].map((place) => [keyOf(place), place]));
  const found = new Map(before.map((place) => [keyOf(place), place]));
  return {
    ...about,
    dryRun: after === null,
    places: [...places].map(([key, { kind, place }]) => ({
      kind,
      place,
      before: pick(found.get(key)),
      after: after && pick(left.get(key)),
    })),
    before: amountOf(before),
    after: after && amountOf(after),
  };
}

function pick({ items, bytes }: ErasureAmount = NOTHING): ErasureAmount {
  return { items, bytes };
}
