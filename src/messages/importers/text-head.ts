/** The beginning of a transcript that is text and not JSON, such as Markdown, for detection. */
import { utf8Text } from '../../core/bytes.js';
import type { TranscriptHead, TranscriptSource } from './transcript.js';

/** Bytes that are read. Marks of text formats are at the top. */
const HEAD_BYTES = 256 * 1024;
const LINES_MAX = 50;

/** Null for a folder, for a blank source, and for a binary file. */
export async function textHeadOf(source: TranscriptSource): Promise<TranscriptHead | null> {
  if (source.files) return null;
  const bytes = await source.slice(0, HEAD_BYTES);
  const text = utf8Text(bytes).replace(/^\uFEFF/, '');
  if (text.trim() === '' || isBinary(bytes, text)) return null;
  const items = text.split('\n', LINES_MAX).map((line) => line.replace(/\r$/, ''));
  return { shape: 'text', items, fields: {}, keys: new Set() };
}

/** What a person or a model said may hold a NUL. A binary file has one at its beginning, or is not UTF-8. */
function isBinary(bytes: Uint8Array, text: string): boolean {
  const at = text.indexOf('\u0000');
  if (at < 0) return false;
  return !text.slice(0, at).trimStart().includes('\n') || !isUtf8(bytes);
}

/** A character may be cut at the end. */
function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** Whether a source begins as JSON does. Then JSON formats are tried before those of text. */
export async function beginsLikeJson(source: TranscriptSource): Promise<boolean> {
  if (source.files) return true;
  return /^\uFEFF?\s*[[{"]/.test(utf8Text(await source.slice(0, 1024)));
}
