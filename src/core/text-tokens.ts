/** Counts the tokens of a text with a real tokenizer (o200k), loaded on first use. */
import type { O200kTable } from './o200k-table.js';
import type { TimeSlices } from './time-slices.js';

/** Contract: deterministic, and never below zero. */
export type CountTokens = (text: string) => number;

/**
 * The tokenizer's time grows with the square of an unbroken run of letters, symbols or white space: 100 KB of one
 * letter take seconds. Longer runs are counted in parts; the count differs by less than 1%.
 */
const RUN_MAX = 256;
const LONG_RUN = new RegExp(
  `[\\p{L}\\p{M}]{${RUN_MAX + 1},}|[^\\s\\p{L}\\p{M}\\p{N}]{${RUN_MAX + 1},}|\\s{${RUN_MAX + 1},}`,
  'gu',
);
/** Text is looked at in stretches of about this many characters, so that work can stop between two of them. */
const STRETCH_CHARS = 8_192;
/** After such a letter no token and no run goes on, so a cut here changes no count. `'` begins an ending, as in "it's". */
const STRETCH_END = /\p{L}(?=[^\p{L}\p{M}'])/gu;

let loading: Promise<O200kTable> | null = null;

/** The event loop runs while it loads, except in a bundle. */
export async function loadTokenizer(): Promise<CountTokens> {
  const table = await o200k();
  return (text) => {
    let tokens = 0;
    for (const part of partsOf(text)) tokens += table.count(part);
    return tokens;
  };
}

/** The same count, with pauses between parts of a long text. @throws ABORTED when the signal of the slices is aborted */
export async function countInSlices(text: string, slices: TimeSlices): Promise<number> {
  const table = await o200k();
  let tokens = 0;
  for (const part of partsOf(text)) {
    if (slices.isOver) await slices.pause();
    tokens += table.count(part);
  }
  return tokens;
}

function o200k(): Promise<O200kTable> {
  loading ??= import('./load-o200k.js').then(({ loadO200k }) => loadO200k());
  return loading;
}

/** The text, cut only inside long runs and where no token and no run goes on; never inside a character. */
function* partsOf(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    STRETCH_END.lastIndex = start + STRETCH_CHARS;
    const { index, 0: letter } = STRETCH_END.exec(text) ?? { index: text.length, 0: '' };
    const end = index + letter.length;
    yield* shortRuns(text.slice(start, end));
    start = end;
  }
}

function* shortRuns(text: string): Generator<string> {
  if (text.length <= RUN_MAX) return yield text;
  let start = 0;
  for (const { index, 0: run } of text.matchAll(LONG_RUN)) {
    for (let cut = index + RUN_MAX; cut < index + run.length; cut += RUN_MAX) {
      const isLow = text.charCodeAt(cut) >= 0xdc00 && text.charCodeAt(cut) <= 0xdfff;
      const end = isLow ? cut - 1 : cut;
      yield text.slice(start, end);
      start = end;
    }
  }
  yield text.slice(start);
}
