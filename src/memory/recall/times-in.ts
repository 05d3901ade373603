/** Finds times in a question: "last Tuesday", "in May", "two weeks ago", "2023". Uses a library that is loaded on first use. */
import type { ParsedComponents, ParsedResult } from 'chrono-node';

/** Seconds since 1970; `to` is exclusive. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

const DAY = 86_400;
/** Words that can indicate a time: other questions do not load the library. */
const HINT =
  /\d|day|week|month|year|night|morning|evening|noon|ago|last|past|since|before|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|now|recent/i;
const YEAR = /\b(?:19|20)\d\d\b/g;
/** Tolerance of a distance in days before and after: "two weeks ago" does not mean one exact day. */
const VAGUENESS: readonly (readonly [RegExp, number])[] = [
  [/year/i, 183],
  [/month/i, 16],
  [/week/i, 4],
];
const TEXT_CHARS_MAX = 2_000;
const RANGES_MAX = 8;

/** @param nowMs the time of the question */
export async function timesIn(text: string, nowMs: number): Promise<TimeRange[]> {
  const asked = text.slice(0, TEXT_CHARS_MAX);
  if (!HINT.test(asked)) return [];
  const { parse } = await import('chrono-node');
  const found = parse(asked, new Date(nowMs)).flatMap((result) => rangeOf(result, nowMs) ?? []);
  const ranges =
    found.length > 0 ? found : [...asked.matchAll(YEAR)].map(([year]) => yearRange(Number(year)));
  return ranges.slice(0, RANGES_MAX);
}

function rangeOf({ text, start, end }: ParsedResult, nowMs: number): TimeRange | null {
  if (!['year', 'month', 'day', 'weekday'].some((part) => start.isCertain(part as 'day'))) return null;
  const first = unitOf(start, text);
  const last = end ? unitOf(end, text) : first;
  const range = { from: first.from, to: last.to };
  const isOfThisYear = !start.isCertain('year') && start.isCertain('month');
  // "In May" means the last May, not the next one.
  return isOfThisYear && range.from * 1000 > nowMs ? earlierByAYear(range) : range;
}

function unitOf(time: ParsedComponents, text: string): TimeRange {
  const year = time.get('year')!;
  const month = time.get('month')! - 1;
  const day = time.get('day')!;
  const isDay = time.isCertain('day') || time.isCertain('weekday');
  if (!isDay && time.isCertain('month'))
    return rangeBetween(new Date(year, month), new Date(year, month + 1));
  if (!isDay) return yearRange(year);
  const isDistance = /\bago\b|\blast\b|\bpast\b/i.test(text);
  const days = isDistance ? (VAGUENESS.find(([unit]) => unit.test(text))?.[1] ?? 0) : 0;
  const { from, to } = rangeBetween(new Date(year, month, day), new Date(year, month, day + 1));
  return { from: from - days * DAY, to: to + days * DAY };
}

function yearRange(year: number): TimeRange {
  return rangeBetween(new Date(year, 0), new Date(year + 1, 0));
}

function rangeBetween(from: Date, to: Date): TimeRange {
  return { from: from.getTime() / 1000, to: to.getTime() / 1000 };
}

function earlierByAYear({ from, to }: TimeRange): TimeRange {
  return { from: from - 365 * DAY, to: to - 365 * DAY };
}
