/** Makes agents' text safe for a terminal, which must never obey it. */
import { escapeUnsafe } from '../core/unsafe-characters.js';

/**
 * Control characters (including ANSI and OSC sequences) and direction overrides become visible; newlines and
 * tabs stay.
 */
export function safeText(text: string): string {
  return escapeUnsafe(text.replaceAll('\r', ''));
}

/** One line of at most `max` characters. */
export function excerpt(text: string, max: number): string {
  const line = safeText(text.replace(/\s+/g, ' ').trim());
  return line.length <= max ? line : `${line.slice(0, max - 3).toWellFormed()}...`;
}
