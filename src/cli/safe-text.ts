/** Text of agents on a terminal: shown, never obeyed. */
import { escapeUnsafe } from '../core/unsafe-characters.js';

/** Control characters (ANSI and OSC sequences among them) and direction overrides become visible; newlines and tabs stay. */
export function safeText(text: string): string {
  return escapeUnsafe(text.replaceAll('\r', ''));
}

/** One line of at most `max` characters. */
export function excerpt(text: string, max: number): string {
  const line = safeText(text.replace(/\s+/g, ' ').trim());
  return line.length <= max ? line : `${line.slice(0, max - 3).toWellFormed()}...`;
}
