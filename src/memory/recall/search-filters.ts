/** How callers narrow a search, in words: the same for tools, the command line and HTTP. */
import { RekindleError } from '../../core/errors.js';
import type { Speaker } from './passage.js';

/** Maximum characters of a question. */
export const QUERY_CHARS_MAX = 500;
/** Maximum results per page. */
export const RESULTS_MAX = 50;
export const OFFSET_MAX = 1_000;

/** Speakers as callers name them, and their internal names. */
export const SPEAKER_WORDS: Readonly<Record<string, readonly Speaker[]>> = {
  user: ['user'],
  assistant: ['assistant', 'call'],
  tool: ['tool'],
};

/** Milliseconds since 1970. @throws INVALID_ARGUMENT */
export function momentOf(field: string, value: string): number {
  const moment = Date.parse(value);
  if (!Number.isNaN(moment)) return moment;
  const text = `\`${field}\` is no time. Write it like 2026-05-31 or 2026-05-31T12:00:00Z.`;
  throw new RekindleError('INVALID_ARGUMENT', text, { details: { field, value } });
}

/** @throws INVALID_ARGUMENT, naming the speakers */
export function speakersOf(field: string, word: string): readonly Speaker[] {
  const speakers = Object.hasOwn(SPEAKER_WORDS, word) ? SPEAKER_WORDS[word] : undefined;
  if (speakers) return speakers;
  const known = Object.keys(SPEAKER_WORDS);
  const text = `\`${field}\` is no speaker. Choose one of ${known.join(', ')}.`;
  throw new RekindleError('INVALID_ARGUMENT', text, { details: { field, value: word, speakers: known } });
}

/** @throws INVALID_ARGUMENT */
export function assertWords(field: string, text: string): void {
  if (text.trim() !== '' && text.length <= QUERY_CHARS_MAX) return;
  const message = `\`${field}\` must have words to look for, ${QUERY_CHARS_MAX} characters at most.`;
  throw new RekindleError('INVALID_ARGUMENT', message, { details: { field } });
}
