/**
 * Quotes text for use in a memory message. Text that could be mistaken for structure (a section heading, an item, a
 * speaker, a marker), or that contains a quote, becomes a JSON string on one line; other text is unchanged. So every
 * quote belongs to a JSON string, and the text can be read back.
 */
import { escapeUnsafe } from '../../core/unsafe-characters.js';

const SPEAKER = /\b(?:users?|assistants?|systems?|tools?|developers?|humans?|ai|models?)\b(?:\s+said)?\s*:/iu;
const SECTION = /\[\s*\/?\s*memory\b/i;
const FENCE = /<<<|>>>|```|<\/?[a-z|]/i;
/** Bullets, headings, item numbers, and the line that marks a gap. */
const OPENING = /^(?:[#>*+\-–—•|]|\(?\d+[).]|\(\d)/u;
const NAME = /^[\w.-]{1,128}$/;
const JSON_STRING = /"(?:[^"\\]|\\.)*"/g;
/** The speaker prefixes of the extractive summarizer. */
const SAID = /^(?:(?:Imported )?(?:User|Assistant)|Tools|The user said): (.*)$/;

/** @param text of a person, a tool or a model */
export function quoteText(text: string): string {
  return isPlain(text) ? text : quotedJson(text);
}

/** A line after a speaker prefix: unchanged, unless its text could end a quote or open a section. */
export function quoteLine(line: string): string {
  const isSafe = line === escapeUnsafe(line) && !SECTION.test(line) && !FENCE.test(line);
  return isSafe ? line : quotedJson(line);
}

/** A name that looks like an identifier is unchanged. */
export function quoteName(name: string): string {
  return NAME.test(name) ? name : quotedJson(name);
}

/** A value as JSON on one line, in which nothing looks like a marker. */
export function quotedJson(value: unknown): string {
  const json = escapeUnsafe(JSON.stringify(value) ?? 'null');
  return json.replace(/\[(?=\s*\/?\s*memory\b)|<(?=<<|[a-z/|])|>(?=>>)/gi, escapedMark);
}

/**
 * A memory item: each of its lines is marked as part of the item.
 * @param quote how to quote a line that does not name its speakers
 */
export function quoteItem(marker: string, text: string, quote: (line: string) => string = quoteText): string {
  const indent = ' '.repeat(marker.length);
  const lines = text.split('\n').map((line) => (isOwnForm(line) ? line : quote(line)));
  return lines.map((line, index) => `${index === 0 ? marker : indent}${line}`).join('\n');
}

/** A line that names its speakers itself, with their words quoted. */
function isOwnForm(line: string): boolean {
  const parts = line.replace(JSON_STRING, 'quoted').split(' | ');
  return parts.every((part) => {
    const said = SAID.exec(part)?.[1];
    return said !== undefined && isPlain(said);
  });
}

function isPlain(text: string): boolean {
  return (
    text !== '' &&
    text === text.trim() &&
    text === escapeUnsafe(text) &&
    !/["\n\t|]/.test(text) &&
    !OPENING.test(text) &&
    !SPEAKER.test(text) &&
    !SECTION.test(text) &&
    !FENCE.test(text)
  );
}

function escapedMark(mark: string): string {
  return `\\u00${mark.charCodeAt(0).toString(16)}`;
}
