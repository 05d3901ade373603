/**
 * The last line of a document's file names the version that the file shows: `"_shows": {"version": 12,
 * "digest": "..."}`. It is not part of the document. It distinguishes an older copy from a current edit,
 * whatever the file times are: the digest covers the document without this line, so it still matches an
 * unedited copy.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';

export const SHOWS = '_shows';

export interface ShownVersion {
  readonly version: number;
  readonly digest: string;
}

/** The text of an object with that line at its end. */
export function withShownVersion(text: string, { version, digest }: ShownVersion): string {
  const end = text.lastIndexOf('\n}');
  return `${text.slice(0, end)},\n  "${SHOWS}": ${JSON.stringify({ version, digest })}${text.slice(end)}`;
}

/** The document without the line, and the content of the line; null if it is missing or invalid. */
export function splitShownVersion(value: JsonValue): {
  readonly document: JsonValue;
  readonly shows: ShownVersion | null;
} {
  if (!isJsonObject(value) || !Object.hasOwn(value, SHOWS)) return { document: value, shows: null };
  const { [SHOWS]: line, ...document } = value;
  return { document: document as JsonObject, shows: shownIn(line) };
}

function shownIn(line: JsonValue | undefined): ShownVersion | null {
  if (!isJsonObject(line)) return null;
  const { version, digest } = line;
  const isVersion = typeof version === 'number' && Number.isSafeInteger(version) && version > 0;
  return isVersion && typeof digest === 'string' ? { version, digest } : null;
}
