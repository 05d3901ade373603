/**
 * Finds what a model's summary lacks of the important items: the user's rules and corrections, open errors, the plan,
 * changed files. They come from the offline digest. An item in other words counts as present; a path must be present
 * literally.
 */
import type { Message } from '../../messages/message.js';
import { ExtractiveSummarizer } from './extractive-summarizer.js';
import type { CompactionResult, SemanticFact, SummarizerOptions } from './summarizer.js';
import { sectionLine, workThatMustStay } from './work-digest.js';

/** Share of a summary that may be added. */
const ADDED_SHARE = 0.4;
/** A shorter summary has no space for more. */
const SUMMARY_CHARS_MIN = 400;
/** Share of an item's words that a text with the same meaning contains. */
const SAID_SHARE = 0.7;
const WORD = /[\p{L}\p{N}_][\p{L}\p{N}_./-]{2,}[\p{L}\p{N}_]/gu;
const PATHS = 'Files changed';

export interface Missing {
  /** At most this share of the summary's length in total. */
  readonly lines: readonly string[];
  readonly facts: readonly SemanticFact[];
}

export async function missingIn(
  { episodicSummary, semanticFacts }: CompactionResult,
  turns: readonly Message[],
  options: SummarizerOptions,
): Promise<Missing> {
  const said = [episodicSummary, ...semanticFacts.map(({ fact }) => fact)].join('\n');
  const offline = await new ExtractiveSummarizer().summarize(turns, options);
  const facts = offline.semanticFacts.filter(({ fact }) => !says(said, fact.replace(/^The user said: /, '')));
  if (options.maxItemChars < SUMMARY_CHARS_MIN) return { lines: [], facts };
  const lines: string[] = [];
  let room = Math.floor(options.maxItemChars * ADDED_SHARE);
  for (const { label, items } of workThatMustStay(turns)) {
    const missing = items.filter((item) => (label === PATHS ? !said.includes(item) : !says(said, item)));
    const line = missing.length === 0 ? null : sectionLine(label, missing, room);
    if (line === null) continue;
    lines.push(line);
    room -= line.length + 1;
  }
  return { lines, facts };
}

function says(text: string, item: string): boolean {
  if (text.includes(item)) return true;
  const lower = text.toLowerCase();
  const words = [...new Set(item.toLowerCase().match(WORD) ?? [])];
  const found = words.filter((word) => lower.includes(word)).length;
  return words.length > 0 && found >= words.length * SAID_SHARE;
}
