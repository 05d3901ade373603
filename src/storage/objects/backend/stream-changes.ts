/** Changes of a journal other than appends: archiving, removing, repairing, erasing. Under a lease that is checked first. */
import { randomBytes } from 'node:crypto';
import { RekindleError } from '../../../core/errors.js';
import {
  EMPTY_HEAD,
  type LeaseRef,
  type SqlOperations,
  type StoredRecord,
  type StreamHead,
} from '../../sql/sql-engine.js';
import type { ConditionalObjects, ObjectStorage } from '../object-storage.js';
import { atOnce } from './at-once.js';
import { damagedName, journalAt, STREAM_STATE } from './object-places.js';
import { mergedName, type SegmentPart } from './segment-names.js';
import { type DecodedSegment, encodeSegment, newNonce } from './segment-object.js';
import type { SegmentReader, StreamState } from './segment-reader.js';
import { encodeJson } from './stored-json.js';
import type { StreamMerges } from './stream-merges.js';
import type { StreamLeases, StreamObjects } from './stream-objects.js';

const REQUESTS_AT_ONCE = 16;

interface Kept {
  readonly archivedTo: number;
  readonly removedTo: number;
  readonly crc: string | null;
}

export class StreamChanges {
  readonly #objects: ObjectStorage;
  readonly #cas: ConditionalObjects;
  readonly #reader: SegmentReader;
  readonly #leases: StreamLeases;
  readonly #streams: StreamObjects;
  readonly #merges: StreamMerges;

  constructor(
    objects: ObjectStorage,
    cas: ConditionalObjects,
    reader: SegmentReader,
    leases: StreamLeases,
    streams: StreamObjects,
    merges: StreamMerges,
  ) {
    this.#objects = objects;
    this.#cas = cas;
    this.#reader = reader;
    this.#leases = leases;
    this.#streams = streams;
    this.#merges = merges;
  }

  /** The newest state, for the holder of the lease; what other operations remember of it is out of date afterwards. */
  async #begin(key: string, lease: LeaseRef): Promise<StreamState | null | 'fenced'> {
    await this.#merges.settled(key);
    const [held, state] = await Promise.all([this.#leases.holds(lease), this.#reader.state(key)]);
    return held ? state : 'fenced';
  }

  /** The state for archived and removed records is durable before an object is deleted. */
  async setAside(request: Parameters<SqlOperations['setRecordsAside']>[0]): Promise<StreamHead | 'fenced'> {
    const { key, lease, archivedTo, remove } = request;
    const state = await this.#begin(key, lease);
    if (state === 'fenced') return 'fenced';
    if (!state) return EMPTY_HEAD;
    const { head, parts } = state;
    const to = Math.max(head.archivedTo, archivedTo);
    const next = { ...head, archivedTo: to, removedTo: remove ? to : head.removedTo };
    if (next.archivedTo !== head.archivedTo || next.removedTo !== head.removedTo) {
      if (!(await this.#writeState(key, state.stateVersion, next))) return this.setAside(request);
    }
    if (remove) {
      const gone = parts.filter(({ end }) => (end ?? head.seq + 1) <= next.removedTo + 1);
      await this.#deleteRecords(key, gone);
    }
    this.#streams.forget(key);
    return next;
  }

  #writeState(key: string, stateVersion: string | null, kept: Kept): Promise<string | null> {
    const condition = stateVersion === null ? ({ ifAbsent: true } as const) : { ifMatch: stateVersion };
    const value = { archived_to: kept.archivedTo, removed_to: kept.removedTo, removed_crc: kept.crc };
    return this.#cas.writeIf([...journalAt(key), STREAM_STATE], encodeJson(value), condition);
  }

  /** Seals stay: see `stream-objects.ts`. */
  async #deleteRecords(key: string, parts: readonly SegmentPart[]): Promise<void> {
    const contents = await this.#readAll(key, parts);
    const gone = contents.filter(({ content }) => content.header?.count !== 0);
    await this.#deleteAll(
      key,
      gone.map(({ part }) => part.name.segment),
    );
  }

  async #readAll(key: string, parts: readonly SegmentPart[]) {
    const contents = await atOnce(parts, REQUESTS_AT_ONCE, async (part) => {
      const content = await this.#reader.read(key, part);
      return content && { part, content };
    });
    return contents.filter((one) => one !== null);
  }

  async #deleteAll(key: string, segments: readonly string[]): Promise<void> {
    await atOnce(segments, REQUESTS_AT_ONCE, (segment) => this.#objects.delete([...journalAt(key), segment]));
  }

  /** Keeps the damaged objects under other names, and puts marks in place of the damaged records. */
  async replace(request: Parameters<SqlOperations['replaceRecords']>[0]): Promise<'replaced' | 'fenced'> {
    const { key, lease, seqs } = request;
    const state = await this.#begin(key, lease);
    if (state === 'fenced') return 'fenced';
    if (state) await this.#mark(key, lease, state, new Set(seqs), true);
    return 'replaced';
  }

  /** Also deletes what repairs kept, and what an interrupted merge left. */
  async erase(request: Parameters<SqlOperations['eraseRecords']>[0]): Promise<number | 'fenced'> {
    const { key, lease, seqs } = request;
    const state = await this.#begin(key, lease);
    if (state === 'fenced') return 'fenced';
    if (!state) return 0;
    await this.#deleteAll(key, state.damaged);
    const covered = state.covered.map((name) => ({ name, end: undefined, size: 0, version: undefined }));
    await this.#deleteRecords(key, covered);
    if (seqs.length === 0) return 0;
    return this.#mark(key, lease, state, new Set(seqs), false);
  }

  async #mark(
    key: string,
    lease: LeaseRef,
    state: StreamState,
    seqs: ReadonlySet<number>,
    keep: boolean,
  ): Promise<number> {
    let marked = 0;
    const found = new Set<number>();
    for (const { part, content } of await this.#readAll(key, state.parts)) {
      const records = content.records.map((record) => {
        found.add(record.seq);
        if (!seqs.has(record.seq) || record.body === null) return record;
        marked += 1;
        return { ...record, crc: '', body: null };
      });
      const isEnd = content.header?.count === 0 && seqs.has(part.name.first - 1);
      if (isEnd || records.some((record, index) => record !== content.records[index]))
        await this.#rewrite(key, lease, part, { ...content, records }, keep);
    }
    const missing = [...seqs].filter(
      (seq) => !found.has(seq) && seq <= state.head.seq && seq > state.head.removedTo,
    );
    for (const [first, last] of runsOf(missing)) await this.#fill(key, lease, first, last);
    this.#streams.forget(key);
    this.#reader.forget();
    return marked;
  }

  async #rewrite(
    key: string,
    lease: LeaseRef,
    part: SegmentPart,
    { header, records }: DecodedSegment,
    keep: boolean,
  ): Promise<void> {
    const place = [...journalAt(key), part.name.segment];
    const before = await this.#cas.read(place);
    if (!before) throw changedMeanwhile(key);
    if (keep) {
      const kept = [...journalAt(key), damagedName(randomBytes(6).toString('hex'))];
      await this.#cas.writeIf(kept, before.bytes, { ifAbsent: true });
    }
    const { first, fence, nonce } = header ?? {
      first: part.name.first,
      fence: lease.fence,
      nonce: newNonce(),
    };
    const whole = allFrom(first, records);
    const bytes = encodeSegment({ first, count: whole.length, fence, nonce, previousCrc: null }, whole);
    const version = await this.#cas.writeIf(place, bytes, { ifMatch: before.version });
    if (version === null) throw changedMeanwhile(key);
  }

  /** Marks in place of records whose objects are missing. */
  async #fill(key: string, lease: LeaseRef, first: number, last: number): Promise<void> {
    const count = last - first + 1;
    const marks = Array.from({ length: count }, (_, index) => ({ seq: first + index, crc: '', body: null }));
    const header = { first, count, fence: lease.fence, nonce: newNonce(), previousCrc: null };
    const bytes = encodeSegment(header, marks);
    await this.#cas.writeIf([...journalAt(key), mergedName(first, last).segment], bytes, { ifAbsent: true });
  }

  async continueAfter(
    request: Parameters<SqlOperations['continueStream']>[0],
  ): Promise<'continued' | 'fenced' | 'conflict'> {
    const { key, lease, after } = request;
    const state = await this.#begin(key, lease);
    if (state === 'fenced') return 'fenced';
    if (state && state.head.seq > 0) return 'conflict';
    const kept = { archivedTo: after, removedTo: after, crc: null };
    const written = await this.#writeState(key, state?.stateVersion ?? null, kept);
    this.#streams.forget(key);
    return written === null ? 'conflict' : 'continued';
  }

  async remove(request: Parameters<SqlOperations['removeStream']>[0]): Promise<boolean | 'fenced'> {
    const { key, lease } = request;
    const state = await this.#begin(key, lease);
    if (state === 'fenced') return 'fenced';
    this.#streams.forget(key);
    if (!state) return false;
    const parts = [...state.parts.map(({ name }) => name), ...state.covered].map(({ segment }) => segment);
    // The state last: without it, an interrupted removal would show other numbers.
    await this.#deleteAll(key, [...parts, ...state.damaged]);
    if (state.stateVersion !== null) await this.#deleteAll(key, [STREAM_STATE]);
    return state.head.seq > 0;
  }
}

/** With marks for those that are missing between them. */
function allFrom(first: number, records: readonly StoredRecord[]): StoredRecord[] {
  const whole: StoredRecord[] = [];
  for (const record of records) {
    while (first + whole.length < record.seq) whole.push({ seq: first + whole.length, crc: '', body: null });
    whole.push(record);
  }
  return whole;
}

function runsOf(seqs: readonly number[]): [number, number][] {
  const runs: [number, number][] = [];
  for (const seq of seqs.toSorted((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last && last[1] + 1 === seq) last[1] = seq;
    else runs.push([seq, seq]);
  }
  return runs;
}

function changedMeanwhile(key: string): RekindleError {
  return new RekindleError('STORAGE_FAILED', `Another process changed the objects of ${key}. Try again.`, {
    details: { name: key },
  });
}
