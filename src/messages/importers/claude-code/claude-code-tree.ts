/**
 * The tree of a Claude Code session: the parent of each record, and the path to its newest end. File order is the order
 * of writing. Times are not used, because records of the same moment have times that contradict their order.
 */
import type { SessionIndex } from './claude-code-index.js';
import { RECORD_KIND } from './claude-code-record.js';

const SAID: ReadonlySet<number> = new Set([
  RECORD_KIND.prompt,
  RECORD_KIND.answer,
  RECORD_KIND.failed,
  RECORD_KIND.summary,
]);

/** A segment of messages that a compaction kept, by the entries of its ends. */
export interface KeptSegment {
  readonly boundary: number;
  /** What the segment now follows: the summary, or the boundary record itself. */
  readonly anchor: number;
  readonly tail: number;
}

/**
 * Records of a sub-agent are not part of the conversation, unless the file has no others: then it is the sub-agent's
 * own file.
 */
export function isSubAgentFile(index: SessionIndex): boolean {
  let side = false;
  for (let entry = 0; entry < index.size; entry += 1) {
    const kind = index.kindOf(entry);
    if (!SAID.has(kind) && kind !== RECORD_KIND.results) continue;
    if (!index.isSide(entry)) return false;
    side = true;
  }
  return side;
}

/**
 * Parent of each entry. If it is missing or belongs to another conversation, the entry before it in the file. -1 for
 * the first.
 */
export function parentsOf(index: SessionIndex, kept: readonly KeptSegment[]): Int32Array {
  const parents = new Int32Array(index.size);
  const previous = [-1, -1];
  const anchors = new Map<number, number>();
  const segments = new Map(kept.map((segment) => [segment.boundary, segment]));
  for (let entry = 0; entry < index.size; entry += 1) {
    const side = index.isSide(entry) ? 1 : 0;
    const named = anchors.get(index.namedParentOf(entry)) ?? index.namedParentOf(entry);
    const isUsable = named >= 0 && named !== entry && index.isSide(named) === index.isSide(entry);
    parents[entry] = isUsable ? named : previous[side]!;
    if (index.kindOf(entry) !== RECORD_KIND.queueOperation) previous[side] = entry;
    const segment = segments.get(entry);
    if (segment) anchors.set(segment.tail, segment.anchor);
  }
  return parents;
}

/** The path from the first record to the newest message. Records that only answer calls are ignored: results may be late. */
export function activePath(
  index: SessionIndex,
  parents: Int32Array,
  isMain: (entry: number) => boolean,
): Int32Array {
  const leaf = newestLeaf(index, parents, isMain);
  const path: number[] = [];
  const seen = new Uint8Array(index.size);
  for (let at = leaf; at >= 0 && seen[at] === 0; at = parents[at]!) {
    seen[at] = 1;
    path.push(at);
  }
  return Int32Array.from(path.reverse());
}

function newestLeaf(index: SessionIndex, parents: Int32Array, isMain: (entry: number) => boolean): number {
  const isPassed = new Uint8Array(index.size);
  for (let entry = 0; entry < index.size; entry += 1) {
    if (!isMain(entry) || !SAID.has(index.kindOf(entry))) continue;
    for (let at = parents[entry]!; at >= 0 && isPassed[at] === 0; at = parents[at]!) isPassed[at] = 1;
  }
  let newest = -1;
  let last = -1;
  for (let entry = 0; entry < index.size; entry += 1) {
    if (!isMain(entry) || index.kindOf(entry) === RECORD_KIND.link) continue;
    last = entry;
    if (SAID.has(index.kindOf(entry)) && isPassed[entry] === 0) newest = entry;
  }
  return newest >= 0 ? newest : last;
}
