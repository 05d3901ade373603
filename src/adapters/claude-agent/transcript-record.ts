/**
 * One record of a transcript's journal: the entries of one `append`, stored completely or not at all.
 *
 *     {"op":"append","at":"2026-03-01T10:00:00.000Z","entries":[{"type":"user","uuid":"...","message":{}}],"summary":{}}
 */
import { isJsonObject, type JsonObject } from '../../core/json.js';
import type { HiddenTexts } from './transcript-place.js';

export interface TranscriptRecord {
  /** Milliseconds since 1970; never earlier than in the record before. */
  readonly atMs: number;
  /** At least one. */
  readonly entries: readonly JsonObject[];
  /** `data` of the summary that includes these entries; absent without a fold, and in transcripts of subagents. */
  readonly summary?: JsonObject;
  readonly hidden: HiddenTexts;
}

export function encodeRecord({ atMs, entries, summary, hidden }: TranscriptRecord): JsonObject {
  return {
    op: 'append',
    at: new Date(atMs).toISOString(),
    ...hidden,
    entries: [...entries],
    ...(summary === undefined ? {} : { summary }),
  };
}

/** Null for an unknown kind. */
export function decodeRecord(record: JsonObject): TranscriptRecord | null {
  const { op, at, entries, summary, project, session, subpath } = record;
  if (op !== 'append' || typeof at !== 'string' || !Array.isArray(entries)) return null;
  const atMs = Date.parse(at);
  if (Number.isNaN(atMs) || !entries.every(isJsonObject)) return null;
  return {
    atMs,
    entries,
    ...(isJsonObject(summary) ? { summary } : {}),
    hidden: {
      ...(typeof project === 'string' ? { project } : {}),
      ...(typeof session === 'string' ? { session } : {}),
      ...(typeof subpath === 'string' ? { subpath } : {}),
    },
  };
}
