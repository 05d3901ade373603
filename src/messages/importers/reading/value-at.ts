/** Reads one value of a document again by the offset of its first byte, without reading what comes before it. */
import type { JsonValue } from '../../../core/json.js';
import type { TranscriptSource } from '../transcript.js';
import { sliceJson } from './json-slices.js';

/** Bytes per read; a larger value takes more reads. */
const BLOCK_BYTES = 64 * 1024;

/** Undefined if no value starts at the offset. @throws TRANSCRIPT_INVALID if the value is invalid */
export async function valueAt(source: TranscriptSource, start: number): Promise<JsonValue | undefined> {
  for await (const { value } of sliceJson(blocksFrom(source, start), () => 'take')) return value;
  return undefined;
}

async function* blocksFrom(source: TranscriptSource, start: number): AsyncGenerator<Uint8Array> {
  let block = await source.slice(start, start + BLOCK_BYTES);
  for (let at = start; block.length > 0; block = await source.slice(at, at + BLOCK_BYTES)) {
    yield block;
    at += block.length;
  }
}
