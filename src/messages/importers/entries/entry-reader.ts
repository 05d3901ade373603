/** Reads the entries of one conversation, in order. */
import type { JsonValue } from '../../../core/json.js';
import type { TranscriptItem } from '../transcript.js';

export interface EntryReader {
  /** Items that are complete after this entry. */
  read(entry: JsonValue, place: string): Iterable<TranscriptItem>;
  /** Items that were still incomplete. */
  end(): Iterable<TranscriptItem>;
}
