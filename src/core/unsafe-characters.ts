/** Characters that control a terminal, or invisibly change the order in which text is read. */

/** C0 except tab and newline, DEL, C1, bidirectional marks and overrides, and line and paragraph separators. */
const UNSAFE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** Replaces each unsafe character with `\uXXXX`. JSON text stays the same JSON. Tabs and newlines stay. */
export function escapeUnsafe(text: string): string {
  return text.replace(UNSAFE, escaped);
}

function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
