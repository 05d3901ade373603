/** The beginning of a transcript that is text and not JSON, such as Markdown, for detection. */
import { utf8Text } from '../../core/bytes.js';
import type { TranscriptHead, TranscriptSource } from './transcript.js';

/** Bytes that are read. Marks of text formats are at the top. */
const HEAD_BYTES = 256 * 1024;
const LINES_MAX = 50;

/** Null for a folder, for a blank source, and for a binary file. */
export async function textHeadOf(source: TranscriptSource): Promise<TranscriptHead | null> {
  if (source.files) return null;
  const text = utf8Text(await source.slice(0, HEAD_BYTES)).replace(/^\uFEFF/, '');
  if (text.trim() === '' || text.includes('\u0000')) return null;
  const items = text.split('\n', LINES_MAX).map((line) => line.replace(/\r$/, ''));
  return { shape: 'text', items, fields: {}, keys: new Set() };
}

/** Whether a source begins as JSON does. Then JSON formats are tried before those of text. */
export async function beginsLikeJson(source: TranscriptSource): Promise<boolean> {
  if (source.files) return true;
  return /^\uFEFF?\s*[[{"]/.test(utf8Text(await source.slice(0, 1024)));
}
