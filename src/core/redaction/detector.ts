/** Finds sensitive text. Pure: the same text gives the same findings. */

export interface Detector {
  /** What it found, in any order; findings may overlap. */
  find(text: string): Iterable<Finding>;
}

/** Something that was found: its kind, and its place in UTF-16 code units; `end` is the first unit behind it. */
export interface Finding {
  /** A word such as `email`: it stands in the mask. */
  readonly kind: string;
  readonly start: number;
  readonly end: number;
}

/** Findings by a pattern: its first group where it has one, else the whole match. `isReal` can refuse a match. */
export function patternDetector(
  kind: string,
  pattern: RegExp,
  isReal: (found: string) => boolean = () => true,
): Detector {
  const flags = new Set([...pattern.flags, 'g', 'd']);
  flags.delete('y');
  const global = new RegExp(pattern.source, [...flags].join(''));
  return {
    *find(text) {
      for (const { indices } of text.matchAll(global)) {
        const [start, end] = (indices![1] ?? indices![0]) as [number, number];
        if (end > start && isReal(text.slice(start, end))) yield { kind, start, end };
      }
    },
  };
}

/** A cheap look first, at a part of the text that must be there. */
export function onlyWhere(hint: RegExp | string, detector: Detector): Detector {
  const isThere =
    typeof hint === 'string' ? (text: string) => text.includes(hint) : (text: string) => hint.test(text);
  return { find: (text) => (isThere(text) ? detector.find(text) : []) };
}
