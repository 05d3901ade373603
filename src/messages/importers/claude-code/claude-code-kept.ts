/** Messages that a compaction kept next to its summary. Newer versions name them in the boundary record. */
import type { JsonObject } from '../../../core/json.js';
import { idText, listField, objectField } from '../reading/record-fields.js';
import type { RecordReader } from '../reading/record-reader.js';
import type { SessionIndex } from './claude-code-index.js';
import { RECORD_KIND } from './claude-code-record.js';
import type { KeptSegment } from './claude-code-tree.js';

/** More than any context holds. */
const KEPT_MAX = 10_000;

/** Segments of all compactions that kept one, in file order. */
export async function keptSegments(index: SessionIndex, reader: RecordReader): Promise<KeptSegment[]> {
  const segments: KeptSegment[] = [];
  for (let boundary = 0; boundary < index.size; boundary += 1) {
    if (index.kindOf(boundary) !== RECORD_KIND.compaction) continue;
    const { start, end } = index.rangeOf(boundary);
    const segment = segmentOf(await reader.read(start, end));
    const anchor = index.entryOf(idText(segment['anchorUuid']));
    const tail = index.entryOf(idText(segment['tailUuid']));
    if (anchor >= boundary && tail >= 0 && tail < boundary) segments.push({ boundary, anchor, tail });
  }
  return segments;
}

/** Entries of the kept messages: listed by name, or all between the two ends of the segment. */
export function keptEntries(boundary: JsonObject, index: SessionIndex): number[] {
  const kept = objectField(objectField(boundary, 'compactMetadata'), 'preservedMessages');
  const named = listField(kept, 'uuids')
    .slice(0, KEPT_MAX)
    .map((uuid) => index.entryOf(idText(uuid)));
  if (named.length > 0) return named.filter((entry) => entry >= 0);
  const segment = segmentOf(boundary);
  const head = index.entryOf(idText(segment['headUuid']));
  const entries: number[] = [];
  let at = index.entryOf(idText(segment['tailUuid']));
  while (at >= 0 && entries.length < KEPT_MAX) {
    entries.push(at);
    if (at === head) return entries.reverse();
    at = index.namedParentOf(at);
  }
  return [];
}

function segmentOf(boundary: JsonObject): JsonObject {
  return objectField(objectField(boundary, 'compactMetadata'), 'preservedSegment');
}
