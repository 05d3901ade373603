/** Whether a source is to be read line by line, or as one document. */
import { headOf } from '../detect-format.js';
import type { TranscriptSource } from '../transcript.js';

const OPEN_LIST = 0x5b;

/** What begins as a list is one document, though its members may stand on lines of their own, or all on one line. */
export async function hasRecordPerLine(source: TranscriptSource): Promise<boolean> {
  if (source.files) return false;
  const start = Buffer.from(await source.slice(0, 1024)).toString('utf8');
  const first = start.replace(/^\uFEFF/, '').trimStart();
  return first.charCodeAt(0) !== OPEN_LIST && (await headOf(source))?.shape === 'lines';
}
