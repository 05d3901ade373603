/**
 * Replaces the whole content of a thread: new records are appended as one section, which takes effect with its last
 * record. Then everything before it is erased. So a crash leaves the old content or the new one.
 */
import { isRekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import type { Journal } from '../../storage/ports.js';
import type { ValueSource } from './channel-values.js';
import type { KeptContent } from './kept-content.js';
import { SectionRecords } from './section-records.js';
import type { ValueStore } from './stored-value.js';
import type { ThreadIndex } from './thread-index.js';
import type { ThreadLog } from './thread-log.js';
import { type CopyOrigin, decodeThreadRecord, valuesIn } from './thread-record.js';

/** The new content, and where it is read. */
export interface NewContent {
  readonly thread: string;
  readonly source: ValueSource;
  readonly kept: KeptContent;
  readonly copy?: CopyOrigin;
}

/** Characters that are appended at once. */
const BATCH_SIZE = 1024 * 1024;
const LOST_MAX = 5;

/**
 * Decides the content on the newest state, in turn with other writers; null: only erases what an interrupted call left.
 * The caller scrubs the store. After a failure the call can be repeated.
 * @throws LEASE_HELD, JOURNAL_DAMAGED, BLOB_DAMAGED, UNSUPPORTED_VERSION, STORAGE_FULL, STORAGE_FAILED,
 * JOURNAL_OUTCOME_UNKNOWN, JOURNAL_CLOSED
 */
export async function replaceContent(
  log: ThreadLog,
  values: ValueStore,
  decide: (index: ThreadIndex) => Promise<NewContent | null>,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1)
    try {
      await log.journal.extend(async (index, journal) => {
        const content = await decide(index);
        if (content) await appendSection(log, journal, values, content);
      });
      return await eraseBefore(log);
    } catch (thrown) {
      if (attempt === LOST_MAX || !isRekindleError(thrown, 'LEASE_LOST')) throw thrown;
    }
}

async function appendSection(
  log: ThreadLog,
  journal: Journal<JsonObject>,
  values: ValueStore,
  { thread, source, kept, copy }: NewContent,
): Promise<void> {
  const begin = (await journal.head()).seq + 1;
  let batch: JsonObject[] = [{ type: 'begin', thread, ...(copy ? { copy: { ...copy } } : {}) }];
  let size = 0;
  const records = new SectionRecords(source, { values, blobs: log.blobs, first: begin + 1 });
  for await (const record of records.of(kept)) {
    const { thread: _, ...row } = record as unknown as JsonObject; // `begin` has it
    batch.push({ ...row, in: begin });
    size += JSON.stringify(row).length;
    if (size < BATCH_SIZE) continue;
    await journal.append(batch);
    [batch, size] = [[], 0];
  }
  await journal.append([...batch, { type: 'end', begin }]);
}

/** The records go last: as long as there are some, a repeated call continues. */
async function eraseBefore(log: ThreadLog): Promise<void> {
  if ((await log.read()).before().length === 0) return;
  await log.journal.maintain(async (index, journal, lease) => {
    const before = index.before();
    const used = await blobsSince(journal, index.begin);
    for await (const { digest } of log.blobs.list()) {
      if (used.has(digest)) continue;
      await lease.check(); // the next owner may store this value again
      await log.blobs.delete(digest);
    }
    await journal.erase(before);
    await journal.removeBefore(index.begin);
    index.forget(before);
  });
}

/** The digests that records name, from a number on. */
async function blobsSince(journal: Journal<JsonObject>, begin: number): Promise<Set<string>> {
  const digests = new Set<string>();
  for await (const entry of journal.read({ after: begin - 1 })) {
    const record = entry.kind === 'record' ? decodeThreadRecord(entry.record) : null;
    for (const value of record ? valuesIn(record) : []) if ('blob' in value) digests.add(value.blob);
  }
  return digests;
}
