/**
 * The lines that replace text taken out of the context, and the way back to it: the whole text is an artifact, and the
 * tool `read_result` reads it by its reference.
 */
import { createHash } from 'node:crypto';
import type { Blobs } from '../../storage/ports.js';

/** Digits of the digest in a reference: few, because a model repeats it, and unique within one agent. */
const REF_DIGITS = 16;
/** The head gets more space than the tail: most results start with what they are. */
const HEAD_SHARE = 0.6;

/** The location of a whole text, in message fields that no provider gets. */
export interface StoredText {
  /** `sha256:<digest>` of the artifact; empty if there is none. */
  readonly ref: string;
  readonly chars: number;
}

/** Durable when it resolves. @param blobs null: nothing is stored, and the lines name no way back */
export async function storeText(text: string, blobs: Blobs | null): Promise<StoredText> {
  if (!blobs) return { ref: '', chars: text.length };
  const { digest } = await blobs.put(new TextEncoder().encode(text));
  return { ref: `sha256:${digest}`, chars: text.length };
}

/** Whether this is the stored text. */
export function isStoredText(text: string, ref: string): boolean {
  return ref === `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

/** How a model reads the whole text; empty if it cannot. */
function wayBack({ ref }: StoredText, verb: string): string {
  if (ref === '') return '';
  const short = ref.slice('sha256:'.length, 'sha256:'.length + REF_DIGITS);
  return ` read_result({"ref":"${short}"}) ${verb}.`;
}

/** Approximate number of characters that fit in this many bytes of UTF-8, from the text's own density. Null if all of it fits. */
export function charsWithin(text: string, maxBytes: number): number | null {
  if (text.length * 3 <= maxBytes) return null;
  const bytes = Buffer.byteLength(text);
  return bytes <= maxBytes ? null : Math.floor((text.length * maxBytes) / bytes);
}

/** Head and tail of a text, with a line between them that says what is left out. */
export function headAndTail(text: string, stored: StoredText, maxChars: number): string {
  const line = `[... ${text.length - maxChars} of ${text.length} characters are left out here.${wayBack(stored, 'reads them')} ...]`;
  const head = text.slice(0, Math.floor(maxChars * HEAD_SHARE)).toWellFormed();
  const tail = text.slice(text.length - Math.floor(maxChars * (1 - HEAD_SHARE))).toWellFormed();
  return `${head}\n${line}\n${tail}`;
}

/** The text itself if it fits, else its head and tail. Durable when it resolves: the whole text is an artifact then (see `storeText`). */
export async function shortenText(text: string, maxBytes: number, blobs: Blobs | null): Promise<string> {
  const chars = charsWithin(text, maxBytes);
  return chars === null ? text : headAndTail(text, await storeText(text, blobs), chars);
}

/** What remains of an old result. */
export function clearedLine(toolName: string, stored: StoredText): string {
  return `[This result of ${toolName} (${stored.chars} characters) was cleared to save room.${wayBack(stored, 'reads it')}]`;
}
