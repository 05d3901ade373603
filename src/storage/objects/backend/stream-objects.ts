/**
 * A journal as objects. A commit is one object, named by the number of its first record and created only if it does not exist,
 * so two writers never make the same number.
 *
 * A new owner of a lease whose earlier owner did not release it creates the next name itself, without records: a seal. The
 * earlier owner would need that name for its next commit, so it can no longer write. What it wrote before the seal was stored
 * before the new owner read the journal.
 */
import { isRekindleError, RekindleError } from '../../../core/errors.js';
import type { KeyRange } from '../../name-key.js';
import { SerialCalls } from '../../serial-calls.js';
import {
  EMPTY_HEAD,
  type LeaseRef,
  type RecordPage,
  type SqlOperations,
  type StoredRecord,
  type StreamHead,
} from '../../sql/sql-engine.js';
import type { ConditionalObjects, ObjectStorage } from '../object-storage.js';
import { atOnce } from './at-once.js';
import { journalAt } from './object-places.js';
import type { SegmentPart } from './segment-names.js';
import { smallName } from './segment-names.js';
import { decodeSegment, encodeSegment, newNonce, type SegmentHeader } from './segment-object.js';
import type { SegmentReader, StreamState } from './segment-reader.js';
import type { StreamMerges } from './stream-merges.js';

/** The leases under which streams are written. */
export interface StreamLeases {
  holds(lease: LeaseRef): Promise<boolean>;
  unsafeFence(lease: LeaseRef): number;
  ttlMs(lease: LeaseRef): number;
  markUncertain(lease: LeaseRef): void;
}

/** Approximate maximum bytes of a page of records. */
const PAGE_BYTES = 8 * 1024 * 1024;
const READ_AT_ONCE = 32;
const NO_STATE: StreamState = {
  head: EMPTY_HEAD,
  next: smallName(1, 0),
  fence: null,
  parts: [],
  covered: [],
  damaged: [],
  stateVersion: null,
};

type Append = Parameters<SqlOperations['append']>[0];
type Read = Parameters<SqlOperations['readRecords']>[0];

export class StreamObjects {
  readonly #objects: ObjectStorage;
  readonly #cas: ConditionalObjects;
  readonly #reader: SegmentReader;
  readonly #leases: StreamLeases;
  readonly #merges: StreamMerges;
  /** Of the streams that this process writes. */
  readonly #states = new Map<string, StreamState>();
  readonly #calls = new SerialCalls();

  constructor(
    objects: ObjectStorage,
    cas: ConditionalObjects,
    reader: SegmentReader,
    leases: StreamLeases,
    merges: StreamMerges,
  ) {
    this.#objects = objects;
    this.#cas = cas;
    this.#reader = reader;
    this.#leases = leases;
    this.#merges = merges;
  }

  async readHead({ key }: { readonly key: string }): Promise<StreamHead | null> {
    return (await this.#reader.state(key))?.head ?? null;
  }

  open({ key, lease }: Parameters<SqlOperations['openStream']>[0]): Promise<StreamHead | 'fenced'> {
    return this.#calls.run(key, async () => {
      let [held, state] = await Promise.all([this.#leases.holds(lease), this.#fresh(key)]);
      for (;;) {
        if (!held || (state.fence ?? 0) > lease.fence) return 'fenced';
        if (!this.#needsSeal(lease, state)) return this.#keep(key, state).head;
        const sealed = await this.#seal(key, lease, state);
        if (sealed) return this.#keep(key, sealed).head;
        [held, state] = await Promise.all([this.#leases.holds(lease), this.#fresh(key)]); // a last commit came first
      }
    });
  }

  #needsSeal(lease: LeaseRef, { fence }: StreamState): boolean {
    const unsafe = this.#leases.unsafeFence(lease);
    return unsafe > 0 && (fence === null || fence <= unsafe);
  }

  async #seal(key: string, lease: LeaseRef, state: StreamState): Promise<StreamState | null> {
    const { head, next } = state;
    const header = {
      first: next.first,
      count: 0,
      fence: lease.fence,
      nonce: newNonce(),
      previousCrc: head.crc,
    };
    const written = await this.#create(key, lease, next.segment, encodeSegment(header, []));
    const sealed = { ...state, fence: lease.fence, next: smallName(next.first, next.generation + 1) };
    return written === null ? null : sealed;
  }

  async #fresh(key: string): Promise<StreamState> {
    return (await this.#reader.state(key)) ?? NO_STATE;
  }

  #keep(key: string, state: StreamState): StreamState {
    this.#states.set(key, state);
    return state;
  }

  /** Other operations changed the objects. */
  forget(key: string): void {
    this.#states.delete(key);
  }

  forgetBelow({ start, end }: KeyRange): void {
    for (const key of this.#states.keys()) if (key >= start && key < end) this.forget(key);
  }

  append(request: Append): Promise<ReturnType<SqlOperations['append']>> {
    const { key, lease, expectedSeq } = request;
    return this.#calls.run(key, async () => {
      const state = this.#states.get(key) ?? this.#keep(key, await this.#fresh(key));
      if ((state.fence ?? 0) > lease.fence) return 'fenced';
      if (state.head.seq !== expectedSeq) return 'conflict';
      return this.#append(request, state);
    });
  }

  /**
   * The lease is looked up while the object is written: a seal protects the journal, and the look-up finds a take-over even if
   * the new owner has not opened this journal. A look-up that is old when the object is stored is repeated.
   */
  async #append(request: Append, state: StreamState): Promise<'appended' | 'fenced' | 'conflict'> {
    const { key, lease, records, appendKey } = request;
    const { next } = state;
    const count = records.length;
    const header: SegmentHeader = {
      first: next.first,
      count,
      fence: lease.fence,
      nonce: appendKey,
      previousCrc: null,
    };
    const bytes = encodeSegment(header, records);
    const begun = performance.now();
    const [stored, held] = await Promise.allSettled([
      this.#create(key, lease, next.segment, bytes),
      this.#leases.holds(lease),
    ]);
    if (stored.status === 'rejected') {
      this.forget(key);
      throw stored.reason;
    }
    if (stored.value === null) return this.#lostTo(request, next.segment);
    const part = { name: next, end: undefined, size: bytes.length, version: stored.value };
    this.#reader.remember(key, next, stored.value, bytes);
    const now = this.#states.get(key) ?? state; // a merge may have ended meanwhile
    this.#keep(key, grown(now, part, header, records.at(-1)?.crc ?? null));
    const isOld = performance.now() - begun > this.#leases.ttlMs(lease) / 3;
    const isHeld = isOld || held.status === 'rejected' ? await this.#holdsAfter(lease) : held.value;
    if (!isHeld) return 'fenced';
    this.#merges.after(key, lease, this.#states.get(key)!, (merged) => this.#merged(key, merged));
    return 'appended';
  }

  async #holdsAfter(lease: LeaseRef): Promise<boolean> {
    try {
      return await this.#leases.holds(lease);
    } catch (thrown) {
      throw outcomeUnknown(thrown);
    }
  }

  /** Null if the name is taken. */
  async #create(key: string, lease: LeaseRef, segment: string, bytes: Uint8Array): Promise<string | null> {
    try {
      return await this.#cas.writeIf([...journalAt(key), segment], bytes, { ifAbsent: true });
    } catch (thrown) {
      if (!isRekindleError(thrown, 'STORAGE_UNAVAILABLE')) throw thrown;
      this.#leases.markUncertain(lease);
      throw outcomeUnknown(thrown);
    }
  }

  async #lostTo(
    { key, lease, appendKey }: Append,
    segment: string,
  ): Promise<'appended' | 'fenced' | 'conflict'> {
    this.forget(key);
    const bytes = await this.#objects.get([...journalAt(key), segment]);
    const header = bytes && decodeSegment(bytes, 0).header;
    if (header?.nonce === appendKey) return (await this.#holdsAfter(lease)) ? 'appended' : 'fenced';
    if (header && header.fence > lease.fence) return 'fenced';
    return (await this.#leases.holds(lease)) ? 'conflict' : 'fenced';
  }

  #merged(key: string, parts: readonly SegmentPart[]): void {
    const state = this.#states.get(key);
    const end = parts.at(-1)?.end;
    if (!state || end === undefined) return;
    const later = state.parts.filter(({ name }) => name.first >= end);
    this.#keep(key, { ...state, parts: [...parts, ...later] });
  }

  async find({ key, seq }: Parameters<SqlOperations['findAppend']>[0]): Promise<string | null> {
    this.forget(key);
    return this.#reader.withState(key, async (state) => {
      const part = state?.parts.findLast(({ name }) => name.kind === 'small' && name.first === seq);
      if (!part) return { result: null };
      const content = await this.#reader.read(key, part);
      return content && { result: content.header?.count ? content.header.nonce : null };
    });
  }

  read(request: Read): Promise<RecordPage> {
    return this.#reader.withState<RecordPage>(request.key, async (state) => {
      if (!state) return { result: { head: null, records: [], last: true } };
      const page = await this.#page(request, state);
      return page && { result: page };
    });
  }

  async #page(request: Read, { head, parts }: StreamState): Promise<RecordPage | null> {
    const { key, after, upTo, backward, archived, limit } = request;
    const low = Math.max(after, archived ? head.removedTo : head.archivedTo);
    const high = Math.min(upTo, head.seq);
    const wanted = parts.filter(
      ({ name, end }) => name.first <= high && (end === undefined || end > low + 1),
    );
    if (backward) wanted.reverse();
    const records: StoredRecord[] = [];
    let bytes = 0;
    let [from, to] = [low + 1, high]; // still to read
    for (let at = 0; at < wanted.length; ) {
      const size = limit - records.length === 1 ? 1 : READ_AT_ONCE;
      const group = wanted.slice(at, at + size);
      const contents = await atOnce(group, READ_AT_ONCE, (part) => this.#reader.read(key, part));
      at += group.length;
      for (const content of contents) {
        if (!content) return null;
        const inOrder = backward ? content.records.toReversed() : content.records;
        for (const record of inOrder) {
          if (record.seq < from || record.seq > to) continue;
          if (records.length === limit || bytes > PAGE_BYTES) return { head, records, last: false };
          records.push(record);
          bytes += record.body?.length ?? 0;
          if (backward) to = record.seq - 1;
          else from = record.seq + 1;
        }
      }
    }
    return { head, records, last: true };
  }

  /** Waits for merges: they need the lease. */
  settled(): Promise<void> {
    return this.#merges.close();
  }
}

function grown(
  state: StreamState,
  part: SegmentPart,
  { first, count, fence }: SegmentHeader,
  crc: string | null,
): StreamState {
  const before = state.parts.at(-1);
  const earlier = before ? [...state.parts.slice(0, -1), { ...before, end: before.end ?? first }] : [];
  return {
    ...state,
    head: { ...state.head, seq: first + count - 1, crc },
    next: smallName(first + count, 0),
    fence,
    parts: [...earlier, part],
  };
}

function outcomeUnknown(cause: unknown): RekindleError {
  return new RekindleError(
    'JOURNAL_OUTCOME_UNKNOWN',
    'The object store did not answer. The records may have been stored. The next append finds out before it writes.',
    { cause },
  );
}
