/** Text of agents on a terminal: shown, never obeyed. */

/** Control characters (ANSI and OSC sequences among them) and direction overrides become visible; newlines and tabs stay. */
export function safeText(text: string): string {
  return text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    visible,
  );
}

function visible(char: string): string {
  if (char === '\r') return '';
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** One line of at most `max` characters. */
export function excerpt(text: string, max: number): string {
  const line = safeText(text.replace(/\s+/g, ' ').trim());
  return line.length <= max ? line : `${line.slice(0, max - 3).toWellFormed()}...`;
}
