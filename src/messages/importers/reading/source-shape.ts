/** Decides whether a source is read line by line or as one document. */
import { utf8Text } from '../../../core/bytes.js';
import { headOf } from '../detect-format.js';
import type { TranscriptSource } from '../transcript.js';

const OPEN_LIST = 0x5b;

/** A source that starts with a list is one document, even if each member has its own line, or all share one. */
export async function hasRecordPerLine(source: TranscriptSource): Promise<boolean> {
  if (source.files) return false;
  const start = utf8Text(await source.slice(0, 1024));
  const first = start.replace(/^\uFEFF/, '').trimStart();
  return first.charCodeAt(0) !== OPEN_LIST && (await headOf(source))?.shape === 'lines';
}
