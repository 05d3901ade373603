/** The journal of one transcript: of a session, or of a subagent. */
import type { Clock } from '../../core/clock.js';
import type { JsonObject } from '../../core/json.js';
import { erasePlaces } from '../../storage/erasure/erase-places.js';
import { assertNotErasing } from '../../storage/erasure/erasure-marker.js';
import type { JournalRecord, Name, StorageBackend } from '../../storage/ports.js';
import { plainObject } from '../plain-json.js';
import { type JournalState, WholeJournal } from '../whole-journal.js';
import type { FoldSessionSummary, SessionKey, SessionStoreEntry } from './session-store-types.js';
import { inFolder, type TranscriptPlace } from './transcript-place.js';
import { decodeRecord, encodeRecord } from './transcript-record.js';

export interface TranscriptLogOptions {
  readonly clock: Clock;
  /** Absent for the transcript of a subagent: it has no summary. */
  readonly fold?: FoldSessionSummary;
}

/** What the next append has to know. Other entries are not kept: a transcript can be large. */
class TranscriptEnd implements JournalState {
  readonly uuids = new Set<string>();
  lastMs = 0;
  /** `data` of the last record that has a summary, and the entries after it: a process without a fold wrote them. */
  summary: JsonObject | null = null;
  unfolded: JsonObject[] = [];
  readonly #keepsUnfolded: boolean;

  constructor(keepsUnfolded: boolean) {
    this.#keepsUnfolded = keepsUnfolded;
  }

  apply({ record: row }: JournalRecord<JsonObject>): boolean {
    const record = decodeRecord(row);
    if (record === null) return false;
    const { atMs, entries, summary } = record;
    this.lastMs = Math.max(this.lastMs, atMs);
    for (const entry of entries) {
      const uuid = uuidOf(entry);
      if (uuid !== null) this.uuids.add(uuid);
    }
    if (summary) {
      this.summary = summary;
      this.unfolded = [];
    } else if (this.#keepsUnfolded) this.unfolded.push(...entries);
    return true;
  }

  /** Those that are not stored yet. */
  newOf(entries: readonly JsonObject[]): JsonObject[] {
    const seen = new Set<string>();
    return entries.filter((entry) => {
      const uuid = uuidOf(entry);
      if (uuid === null) return true;
      if (this.uuids.has(uuid) || seen.has(uuid)) return false;
      seen.add(uuid);
      return true;
    });
  }
}

class AllEntries implements JournalState {
  readonly entries: JsonObject[] = [];

  apply({ record: row }: JournalRecord<JsonObject>): boolean {
    const record = decodeRecord(row);
    for (const entry of record?.entries ?? []) this.entries.push(entry);
    return record !== null;
  }
}

export class TranscriptLog {
  readonly #backend: StorageBackend;
  readonly #name: Name;
  readonly #options: TranscriptLogOptions;
  readonly #journal: WholeJournal<TranscriptEnd>;

  constructor(backend: StorageBackend, folder: Name, options: TranscriptLogOptions) {
    const { journal, lease } = inFolder(folder);
    this.#backend = backend;
    this.#name = journal;
    this.#options = options;
    const newState = () => new TranscriptEnd(options.fold !== undefined);
    this.#journal = new WholeJournal(backend, { journal, lease, newState });
  }

  /** Appends those entries that are not stored yet. Durable when it resolves. @throws as `WholeJournal.change` */
  append({ key, hidden }: TranscriptPlace, entries: readonly JsonObject[]): Promise<void> {
    return this.#journal.change(async (end) => {
      const added = end.newOf(entries);
      const done = () => {};
      // A retry must not report success for something that may vanish.
      if (added.length === 0) return { secure: true, done };
      const atMs = Math.max(this.#options.clock.nowMs(), end.lastMs);
      const summary = this.#summaryOf(key, end, added, atMs);
      return {
        record: encodeRecord({ atMs, entries: added, hidden, ...(summary ? { summary } : {}) }),
        done,
      };
    });
  }

  #summaryOf(
    key: SessionKey,
    end: TranscriptEnd,
    added: readonly JsonObject[],
    mtime: number,
  ): JsonObject | null {
    const { fold } = this.#options;
    if (!fold) return null;
    const before = end.summary && { sessionId: key.sessionId, mtime: end.lastMs, data: end.summary };
    // Copies, because a fold of another library must not change what is stored.
    const [prev, entries] = structuredClone([before ?? undefined, [...end.unfolded, ...added]] as const);
    return plainObject(fold(prev, key, entries as SessionStoreEntry[], { mtime }).data, 'summary.data');
  }

  /** All entries, oldest first; null if there are none. @throws ERASURE_UNFINISHED, and as `WholeJournal.read` */
  async load(): Promise<JsonObject[] | null> {
    await assertNotErasing(this.#backend, this.#name); // half a transcript would look complete
    const { entries } = await this.#journal.readInto(new AllEntries());
    return entries.length > 0 ? entries : null;
  }

  close(): Promise<void> {
    return this.#journal.close();
  }
}

/** The same wait as for other changes. */
const WAIT_MS = 15_000;

/**
 * Erases a transcript, and those of the session's subagents if it is the main one. Leases must stay, so that a suspended
 * writer cannot return. Writes nothing if there is nothing. @throws LEASE_HELD
 */
export async function eraseTranscripts(backend: StorageBackend, place: TranscriptPlace): Promise<void> {
  const { folder, key } = place;
  const parts = [
    folder[0],
    key.projectKey,
    key.sessionId,
    ...(key.subpath === undefined ? [] : [key.subpath]),
  ];
  const plan = { target: { thread: parts.join('/') }, lease: inFolder(folder).lease, trees: [folder] };
  const found = await erasePlaces(backend, plan, { dryRun: true });
  if (!found.resumed && found.places.length === 0) return;
  await erasePlaces(backend, plan, { quick: true, waitMs: WAIT_MS });
}

function uuidOf({ uuid }: JsonObject): string | null {
  return typeof uuid === 'string' && uuid !== '' ? uuid : null;
}
