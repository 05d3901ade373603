/** Reads the entries of one conversation, in order. */
import type { JsonValue } from '../../../core/json.js';
import type { TranscriptItem } from '../transcript.js';

export interface EntryReader {
  /** What is finished with this entry. */
  read(entry: JsonValue, place: string): Iterable<TranscriptItem>;
  /** What was still under way. */
  end(): Iterable<TranscriptItem>;
}
