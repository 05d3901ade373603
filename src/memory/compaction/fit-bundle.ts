/**
 * Fits the memory items into a number of characters. The newest summary keeps most of its length; older ones get
 * shorter. Each is made from the stored item, never from a shortened one, so that every item stays represented.
 */
import { keepFactsWithin } from '../facts/keep-facts.js';
import type { EpisodicItem, MemoryBundle } from '../models/memory-items.js';
import { fitLines } from './extractive-summarizer.js';
import { isWorkLine, shortenWork } from './work-digest.js';

/** Minimum characters of an old summary. */
const SUMMARY_CHARS_MIN = 100;
/** Share that one summary takes of the space that newer ones left. */
const NEXT_SHARE = 0.35;
/** Share of a shortened summary for files, commands and names. */
const WORK_SHARE = 0.6;

/** Facts are short and lasting: they may take up to half of the space, pinned ones first. */
export function fitBundle({ episodic, semantic }: MemoryBundle, maxChars: number): MemoryBundle {
  if (maxChars === Number.POSITIVE_INFINITY) return { episodic, semantic };
  const facts = keepFactsWithin(semantic, maxChars / 2);
  const left = maxChars - facts.reduce((sum, { fact }) => sum + fact.length, 0);
  return { episodic: fitSummaries(episodic, left), semantic: facts };
}

/** Always keeps the newest one. */
function fitSummaries(episodic: readonly EpisodicItem[], maxChars: number): EpisodicItem[] {
  const fitted: EpisodicItem[] = [];
  let room = maxChars;
  let whole = episodic.reduce((sum, { summary }) => sum + summary.length, 0);
  for (const [index, item] of [...episodic].reverse().entries()) {
    const older = episodic.length - index - 1;
    const share = Math.max(room * NEXT_SHARE, room - older * SUMMARY_CHARS_MIN * 4);
    const summary = whole <= room ? item.summary : shortenSummary(item.summary, Math.floor(share));
    whole -= item.summary.length;
    if (index > 0 && (summary === '' || summary.length > room)) break;
    room -= summary.length;
    fitted.unshift({ ...item, summary });
  }
  return fitted;
}

/** Keeps whole lines, and whole items of lines. */
export function shortenSummary(summary: string, maxChars: number): string {
  if (summary.length <= maxChars) return summary;
  const lines = summary.split('\n');
  const work = shortenWork(lines.filter(isWorkLine), Math.floor(maxChars * WORK_SHARE));
  const length = work.reduce((sum, line) => sum + line.length + 1, 0);
  const said = fitLines(
    lines.filter((line) => !isWorkLine(line)),
    maxChars - length,
  );
  return [said, ...work].filter((line) => line !== '').join('\n');
}
