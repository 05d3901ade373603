/**
 * Merges small objects of a journal, so that a restore reads few. The wide object is written before the small ones are deleted,
 * and readers prefer the widest: a crash in between loses and doubles nothing. Seals stay, because the names that they take
 * must stay taken. The last object stays too: it shows the next name.
 */
import type { LeaseRef, StoredRecord } from '../../sql/sql-engine.js';
import { entryOf } from '../../sql/sql-record.js';
import type { ConditionalObjects, ObjectStorage } from '../object-storage.js';
import { atOnce } from './at-once.js';
import { journalAt } from './object-places.js';
import { mergedName, type SegmentPart } from './segment-names.js';
import { type DecodedSegment, encodeSegment, newNonce } from './segment-object.js';
import type { SegmentReader, StreamState } from './segment-reader.js';

export interface MergeLimits {
  /** Small objects that start a merge. */
  readonly count: number;
  /** A merged object is not merged again beyond this size. */
  readonly bytesMax: number;
}

/** A merged object is taken into the next one while it is less than this many times as large. So each record is merged few times. */
const RATIO = 4;
const REQUESTS_AT_ONCE = 16;

export class StreamMerges {
  readonly #objects: ObjectStorage;
  readonly #cas: ConditionalObjects;
  readonly #reader: SegmentReader;
  readonly #holds: (lease: LeaseRef) => Promise<boolean>;
  readonly #limits: MergeLimits;
  readonly #running = new Map<string, Promise<void>>();
  /** Number of small objects at the last merge that was not possible: damage would be read again at each append. */
  readonly #refused = new Map<string, number>();

  constructor(
    objects: ObjectStorage,
    cas: ConditionalObjects,
    reader: SegmentReader,
    holds: (lease: LeaseRef) => Promise<boolean>,
    limits: MergeLimits,
  ) {
    this.#objects = objects;
    this.#cas = cas;
    this.#reader = reader;
    this.#holds = holds;
    this.#limits = limits;
  }

  /** Starts a merge if there are enough small objects. A failure changes nothing, and a later append tries again. */
  after(
    key: string,
    lease: LeaseRef,
    state: StreamState,
    onMerged: (parts: readonly SegmentPart[]) => void,
  ): void {
    if (this.#running.has(key)) return;
    const parts = state.parts.slice(0, -1);
    const small = parts.filter(({ name }) => name.kind === 'small').length;
    if (small < this.#limits.count + (this.#refused.get(key) ?? 0)) return;
    const merging = this.#merge(key, lease, state, parts)
      .then(
        (merged) => {
          if (!merged) this.#refused.set(key, small);
          else onMerged(merged);
        },
        () => {},
      )
      .finally(() => this.#running.delete(key));
    this.#running.set(key, merging);
  }

  async #merge(
    key: string,
    lease: LeaseRef,
    state: StreamState,
    parts: readonly SegmentPart[],
  ): Promise<readonly SegmentPart[] | null> {
    const run = this.#run(parts);
    const contents = await atOnce(run, REQUESTS_AT_ONCE, (part) => this.#reader.read(key, part));
    const first = run[0]?.name.first ?? 0;
    const records = recordsFrom(first, contents);
    if (!records || run.length < 2) return null;
    const next = first + records.length;
    const name = mergedName(first, next - 1);
    const header = { first, count: records.length, fence: lease.fence, nonce: newNonce(), previousCrc: null };
    const bytes = encodeSegment(header, records);
    if (!(await this.#holds(lease))) return null;
    const version = await this.#cas.writeIf([...journalAt(key), name.segment], bytes, { ifAbsent: true });
    if (version === null || !(await this.#holds(lease))) return null;
    const isSeal = (index: number) => contents[index]?.header?.count === 0;
    const segments = run.filter((_, index) => !isSeal(index)).map((part) => part.name.segment);
    await this.#delete(key, [...segments, ...(await this.#leftOver(key, state))]);
    const before = parts.slice(0, parts.indexOf(run[0]!));
    return [...before, { name, end: next, size: bytes.length, version }];
  }

  /** The newest objects, back to a merged one that is much larger. */
  #run(parts: readonly SegmentPart[]): readonly SegmentPart[] {
    let bytes = 0;
    let start = parts.length;
    for (; start > 0; start -= 1) {
      const { name, size } = parts[start - 1]!;
      const isLarge =
        name.kind === 'merged' && (size > RATIO * bytes || size + bytes > this.#limits.bytesMax);
      if (isLarge || (bytes > 0 && size + bytes > 2 * this.#limits.bytesMax)) break;
      bytes += size;
    }
    return parts.slice(start);
  }

  /** Objects that an interrupted merge has left, without the seals. */
  async #leftOver(key: string, { covered }: StreamState): Promise<string[]> {
    const found = await atOnce(covered, REQUESTS_AT_ONCE, async (name) => {
      const content = await this.#reader.read(key, { name, end: undefined, size: 0, version: undefined });
      return content?.header && content.header.count > 0 ? name.segment : null;
    });
    return found.filter((segment) => segment !== null);
  }

  async #delete(key: string, segments: readonly string[]): Promise<void> {
    await atOnce(segments, REQUESTS_AT_ONCE, (segment) => this.#objects.delete([...journalAt(key), segment]));
  }

  /** Before the objects are changed in another way. */
  async settled(key: string): Promise<void> {
    await this.#running.get(key);
  }

  async close(): Promise<void> {
    await Promise.all(this.#running.values());
  }
}

/** All records in order; null if one is missing or damaged, because it must stay as it is, to be reported and repaired. */
function recordsFrom(
  first: number,
  contents: readonly (DecodedSegment | null)[],
): readonly StoredRecord[] | null {
  const records: StoredRecord[] = [];
  for (const content of contents) {
    if (!content?.header) return null;
    for (const record of content.records) {
      const next = first + records.length;
      if (record.seq < next) continue;
      if (record.seq > next || entryOf(record, '')?.kind === 'damage') return null;
      records.push(record);
    }
  }
  return records.length > 0 ? records : null;
}
