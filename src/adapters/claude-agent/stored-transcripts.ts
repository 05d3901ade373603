/** Lists transcripts by the last record of each: nothing else of them is read. */
import PQueue from 'p-queue';
import type { JsonObject } from '../../core/json.js';
import { isHarmful } from '../../storage/journal-check.js';
import type { JournalEntry, Name, StorageBackend } from '../../storage/ports.js';
import { inFolder } from './transcript-place.js';
import { decodeRecord, type TranscriptRecord } from './transcript-record.js';

export interface StoredTranscript {
  /** The last segment of its folder. */
  readonly name: string;
  /** Null if it cannot be read: it is damaged, or a newer release wrote it. */
  readonly last: TranscriptRecord | null;
}

/** So many journals are open at the same time. */
const OPEN_MAX = 8;

/** The transcripts directly below a folder, in the order of their names. */
export async function transcriptsIn(backend: StorageBackend, folder: Name): Promise<StoredTranscript[]> {
  const queue = new PQueue({ concurrency: OPEN_MAX });
  const names = await backend.listNames(folder);
  const found = await queue.addAll(names.map((name) => () => transcriptIn(backend, folder, name)));
  return found.filter((one) => one !== null);
}

/** Null if nothing was appended: only a subagent of the session was stored, or a crash ended the first append. */
async function transcriptIn(
  backend: StorageBackend,
  folder: Name,
  name: string,
): Promise<StoredTranscript | null> {
  const { journal } = inFolder([...folder, name]);
  const reader = await backend.openJournal<JsonObject>(journal, { readOnly: true });
  try {
    let isDamaged = false;
    for await (const entry of reader.readBackward()) {
      if (entry.kind === 'record') return { name, last: decodeRecord(entry.record) };
      isDamaged ||= isDamage(entry);
    }
    return isDamaged ? { name, last: null } : null;
  } finally {
    await reader.close();
  }
}

function isDamage(entry: JournalEntry<JsonObject>): boolean {
  return entry.kind === 'damage' && isHarmful(entry);
}
