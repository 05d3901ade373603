/**
 * What of the memory items stands in a context that has room for so many characters: the newest summary in most of its length,
 * older ones shorter, each made from the stored item and never from a shortened one, so that every item stays represented.
 */
import { keepFactsWithin } from '../facts/keep-facts.js';
import type { EpisodicItem, MemoryBundle } from '../models/memory-items.js';
import { fitLines } from './extractive-summarizer.js';
import { isWorkLine, shortenWork } from './work-digest.js';

/** The least that an old summary is worth. */
const SUMMARY_CHARS_MIN = 100;
/** What one summary takes of the room that newer ones left. */
const NEXT_SHARE = 0.35;
/** Of a shortened summary, for files, commands and names. */
const WORK_SHARE = 0.6;

/** Facts are short and last: up to half of the room is theirs, and pinned ones come first. */
export function fitBundle({ episodic, semantic }: MemoryBundle, maxChars: number): MemoryBundle {
  if (maxChars === Number.POSITIVE_INFINITY) return { episodic, semantic };
  const facts = keepFactsWithin(semantic, maxChars / 2);
  const left = maxChars - facts.reduce((sum, { fact }) => sum + fact.length, 0);
  return { episodic: fitSummaries(episodic, left), semantic: facts };
}

/** The newest one in any case. */
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

/** Whole lines and whole items of lines. */
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
