/**
 * Names of the objects of a journal. They sort by the number of their first record.
 *
 * 000000000005.0000                one commit; a seal (see `stream-objects.ts`) has no records, so the next name is ...005.0001
 * 000000000001-000000000040        a merged object: all records of this range
 */
export interface SmallName {
  readonly kind: 'small';
  readonly segment: string;
  readonly first: number;
  /** Grows with each seal at the same number. */
  readonly generation: number;
}

export interface MergedName {
  readonly kind: 'merged';
  readonly segment: string;
  readonly first: number;
  readonly last: number;
}

export type SegmentName = SmallName | MergedName;

const SMALL = /^(\d{12})\.(\d{4})$/;
const MERGED = /^(\d{12})-(\d{12})$/;

export function smallName(first: number, generation: number): SmallName {
  const segment = `${digits(first)}.${String(generation).padStart(4, '0')}`;
  return { kind: 'small', segment, first, generation };
}

export function mergedName(first: number, last: number): MergedName {
  return { kind: 'merged', segment: `${digits(first)}-${digits(last)}`, first, last };
}

export function parseSegmentName(segment: string): SegmentName | null {
  const small = SMALL.exec(segment);
  if (small) return smallName(Number(small[1]), Number(small[2]));
  const merged = MERGED.exec(segment);
  return merged ? mergedName(Number(merged[1]), Number(merged[2])) : null;
}

/** An object to read. Its records end before `end`; undefined for the last one, which only its content shows. */
export interface SegmentPart {
  readonly name: SegmentName;
  readonly end: number | undefined;
  /** In bytes. */
  readonly size: number;
  readonly version: string | undefined;
}

export interface ListedSegment {
  readonly name: SegmentName;
  readonly size: number;
  readonly version: string | undefined;
}

/**
 * The objects to read, in order, and those that a merged object covers. A merge writes the wide object before it deletes the
 * small ones, so after a crash both are there, and the widest counts.
 */
export function arrangeSegments(listed: readonly ListedSegment[]): {
  readonly parts: readonly SegmentPart[];
  readonly covered: readonly SegmentName[];
} {
  const wide = widest(listed);
  const covered: SegmentName[] = listed
    .filter((one) => one.name.kind === 'merged' && !wide.includes(one))
    .map(({ name }) => name);
  const chosen: ListedSegment[] = [...wide];
  let at = 0;
  for (const one of listed.filter(({ name }) => name.kind === 'small').sort(byName)) {
    while (at < wide.length && lastOf(wide[at]!) < one.name.first) at += 1;
    const isCovered = at < wide.length && wide[at]!.name.first <= one.name.first;
    if (isCovered) covered.push(one.name);
    else chosen.push(one);
  }
  chosen.sort(byName);
  const parts = chosen.map((one, index) => {
    const next = chosen[index + 1]?.name.first;
    const end = one.name.kind === 'merged' ? one.name.last + 1 : next;
    return { ...one, end };
  });
  return { parts, covered };
}

/** Merged objects that no other one contains, in order. */
function widest(listed: readonly ListedSegment[]): ListedSegment[] {
  const merged = listed
    .filter(({ name }) => name.kind === 'merged')
    .sort((a, b) => a.name.first - b.name.first || lastOf(b) - lastOf(a));
  let reach = 0;
  return merged.filter((one) => {
    const wider = lastOf(one) > reach;
    reach = Math.max(reach, lastOf(one));
    return wider;
  });
}

function lastOf({ name }: ListedSegment): number {
  return name.kind === 'merged' ? name.last : name.first;
}

function byName(a: ListedSegment, b: ListedSegment): number {
  if (a.name.first !== b.name.first) return a.name.first - b.name.first;
  return a.name.segment < b.name.segment ? -1 : 1;
}

function digits(seq: number): string {
  return String(seq).padStart(12, '0');
}
