/** Finds sensitive text. Pure: the same text gives the same findings. */

export interface Detector {
  /** The findings in any order. They may overlap. */
  find(text: string): Iterable<Finding>;
}

/** A sensitive part of a text. `start` and `end` are in UTF-16 code units; `end` is exclusive. */
export interface Finding {
  /** A word such as `email`. It is part of the mask. */
  readonly kind: string;
  readonly start: number;
  readonly end: number;
}

/** Finds by a pattern: its first group, or the whole match if it has none. `isReal` can reject a match. */
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

/** Runs a detector only on texts that contain a hint, because that check is cheap. */
export function onlyWhere(hint: RegExp | string, detector: Detector): Detector {
  const isThere =
    typeof hint === 'string' ? (text: string) => text.includes(hint) : (text: string) => hint.test(text);
  return { find: (text) => (isThere(text) ? detector.find(text) : []) };
}
