/**
 * The default summarizer. It works offline and extracts sentences from the turns. Deterministic; needs no model and
 * invents nothing. It keeps each request, what the tools did, and how each turn ended; then the work: files, commands
 * with their outcome, unresolved errors, the plan, and names.
 */
import { type Message, textOf, toolCallsOf, toolResultOf } from '../../messages/message.js';
import { excerpt, lastingFacts } from '../facts/lasting-facts.js';
import { quotedJson, quoteName, quoteText } from './quoted-text.js';
import type { CompactionResult, Summarizer, SummarizerOptions } from './summarizer.js';
import { workDigest } from './work-digest.js';

const REQUEST_CHARS = 240;
const ANSWER_CHARS = 320;
const NAME_CHARS = 128;
/** Space for the line that marks the gap. */
const GAP_CHARS = 48;
/** Share of a summary for files, commands, errors and names. */
const WORK_SHARE = 0.75;
/** In a shorter summary the turns need all the space. */
const WORK_CHARS_MIN = 400;

/** Summarizes turns offline by extracting their sentences. The default. */
export class ExtractiveSummarizer implements Summarizer {
  async summarize(turns: readonly Message[], options: SummarizerOptions): Promise<CompactionResult> {
    const lines = groupByTurn(turns)
      .map(summarizeTurn)
      .filter((line) => line !== '');
    const { maxItemChars } = options;
    const workChars = Math.floor(maxItemChars * WORK_SHARE);
    const work = maxItemChars < WORK_CHARS_MIN ? [] : workDigest(turns, workChars, options);
    const said = fitLines(lines, maxItemChars - lengthOf(work));
    return {
      episodicSummary: [said, ...work].join('\n'),
      semanticFacts: lastingFacts(turns).map(({ fact, category }) => ({ fact, category })),
    };
  }
}

function groupByTurn(messages: readonly Message[]): Message[][] {
  const groups: Message[][] = [];
  for (const message of messages) {
    const current = groups[groups.length - 1];
    if (!current || (message.role === 'user' && current.some((other) => other.role !== 'user')))
      groups.push([message]);
    else current.push(message);
  }
  return groups;
}

function summarizeTurn(messages: readonly Message[]): string {
  const request = messages
    .filter((message) => message.role === 'user')
    .map(textOf)
    .join(' ');
  const answer = messages.findLast(
    (message) => message.role === 'assistant' && textOf(message).trim() !== '',
  );
  const isImported = messages.some(({ imported }) => imported);
  const parts = [
    request.trim() === '' ? '' : said('User', excerpt(request, REQUEST_CHARS), isImported),
    toolLine(messages),
    answer ? said('Assistant', excerpt(textOf(answer), ANSWER_CHARS), isImported) : '',
  ];
  return parts.filter((part) => part !== '').join(' | ');
}

/** Text of another program's transcript is always quoted: it is not the words of this agent's user. */
function said(who: 'User' | 'Assistant', text: string, isImported: boolean): string {
  return isImported ? `Imported ${who}: ${quotedJson(text)}` : `${who}: ${quoteText(text)}`;
}

function toolLine(messages: readonly Message[]): string {
  const unknown = new Set(
    messages.flatMap((message) => (message.synthetic ? (toolResultOf(message)?.toolCallId ?? []) : [])),
  );
  const failed = new Set(
    messages
      .map(toolResultOf)
      .filter((result) => result !== null && result.toolError !== null)
      .map((result) => result!.toolCallId),
  );
  const calls = messages
    .flatMap(toolCallsOf)
    .map(
      (call) =>
        `${quoteName(excerpt(call.name, NAME_CHARS))}${unknown.has(call.id) ? ' (interrupted)' : failed.has(call.id) ? ' (failed)' : ''}`,
    );
  if (calls.length === 0) return '';
  const counts = new Map<string, number>();
  for (const call of calls) counts.set(call, (counts.get(call) ?? 0) + 1);
  return `Tools: ${[...counts].map(([name, count]) => (count === 1 ? name : `${name} x${count}`)).join(', ')}`;
}

/** As many lines as fit. If some do not, the oldest and the newest are kept and the gap is marked. Linear in the lines. */
export function fitLines(lines: readonly string[], max: number): string {
  const total = lines.reduce((sum, line) => sum + line.length + 1, 0);
  if (total - 1 <= max) return lines.join('\n');
  const room = max - GAP_CHARS;
  const first = takeWithin(lines, Math.floor(room / 3));
  const last = takeWithin(lines.slice(first.length).reverse(), room - lengthOf(first)).reverse();
  const left = lines.length - first.length - last.length;
  const gap = `(${left} more ${left === 1 ? 'turn' : 'turns'} left out)`;
  return cut([...first, gap, ...last].join('\n'), max);
}

function takeWithin(lines: readonly string[], max: number): string[] {
  const taken: string[] = [];
  let length = 0;
  for (const line of lines) {
    length += line.length + 1;
    if (length > max) break;
    taken.push(line);
  }
  return taken;
}

function lengthOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0);
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, Math.max(0, max - 3)).toWellFormed()}...`;
}
