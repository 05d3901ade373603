/** Reads the objects of a journal: their list, their content, and the state that follows from both. */
import { RekindleError } from '../../../core/errors.js';
import type { JsonObject } from '../../../core/json.js';
import { EMPTY_HEAD, type StreamHead } from '../../sql/sql-engine.js';
import type { ConditionalObjects, ObjectStorage } from '../object-storage.js';
import { isDamagedName, journalAt, STREAM_STATE } from './object-places.js';
import {
  arrangeSegments,
  type ListedSegment,
  parseSegmentName,
  type SegmentName,
  type SegmentPart,
  type SmallName,
  smallName,
} from './segment-names.js';
import { type DecodedSegment, decodeSegment } from './segment-object.js';
import { decodeJson, numberIn } from './stored-json.js';

/** What a journal's objects say together. */
export interface StreamState {
  readonly head: StreamHead;
  /** The name of the next commit: only one writer can create it. */
  readonly next: SmallName;
  /** Of the last object; null if there is none, or it is damaged. */
  readonly fence: number | null;
  readonly parts: readonly SegmentPart[];
  /** Left over from a merge that was interrupted, and seals. */
  readonly covered: readonly SegmentName[];
  /** What repairs kept. */
  readonly damaged: readonly string[];
  /** Of the object with what is archived; null if there is none. */
  readonly stateVersion: string | null;
}

/** An object that a merge or a removal deletes between its listing and its reading is listed again. */
const LISTINGS_MAX = 20;
const CACHE_BYTES_MAX = 32 * 1024 * 1024;

export class SegmentReader {
  readonly #objects: ObjectStorage;
  readonly #cas: ConditionalObjects;
  /** By name and version, so they cannot be out of date. */
  readonly #cache = new Map<string, Uint8Array>();
  #cacheBytes = 0;

  constructor(objects: ObjectStorage, cas: ConditionalObjects) {
    this.#objects = objects;
    this.#cas = cas;
  }

  /** Null if there is no journal. `use` gets the state, and returns null if an object was deleted meanwhile. */
  async withState<T>(
    key: string,
    use: (state: StreamState | null) => Promise<{ readonly result: T } | null>,
  ): Promise<T> {
    for (let tried = 1; ; tried += 1) {
      const state = await this.#load(key);
      const used = state === 'changed' ? null : await use(state);
      if (used) return used.result;
      if (tried === LISTINGS_MAX) throw changing(key);
    }
  }

  /** Null if there is no journal. */
  state(key: string): Promise<StreamState | null> {
    return this.withState(key, async (state) => ({ result: state }));
  }

  async #load(key: string): Promise<StreamState | null | 'changed'> {
    const listed: ListedSegment[] = [];
    const damaged: string[] = [];
    let hasState = false;
    for await (const { name, size, version } of this.#objects.list(journalAt(key))) {
      const [segment = '', ...deeper] = name;
      if (deeper.length > 0) continue;
      const parsed = parseSegmentName(segment);
      if (parsed) listed.push({ name: parsed, size, version });
      else if (segment === STREAM_STATE) hasState = true;
      else if (isDamagedName(segment)) damaged.push(segment);
    }
    if (listed.length === 0 && !hasState) return null;
    const { parts, covered } = arrangeSegments(listed);
    const tail = parts.at(-1);
    const [last, stored] = await Promise.all([
      tail ? this.read(key, tail) : null,
      hasState ? this.#cas.read([...journalAt(key), STREAM_STATE]) : null,
    ]);
    if ((tail && !last) || (hasState && !stored)) return 'changed';
    const value = stored ? decodeJson([...journalAt(key), STREAM_STATE], stored.bytes) : {};
    const stateVersion = stored?.version ?? null;
    return { ...position(tail, last, value), parts, covered, damaged, stateVersion };
  }

  /** Null if it is absent. */
  async read(key: string, { name, version }: SegmentPart): Promise<DecodedSegment | null> {
    const place = [...journalAt(key), name.segment];
    const cacheKey = version === undefined ? null : cacheKeyOf(key, name, version);
    const cached = cacheKey === null ? undefined : this.#cache.get(cacheKey);
    const bytes = cached ?? (await this.#objects.get(place));
    if (!bytes) return null;
    if (cacheKey !== null && !cached) this.#keep(cacheKey, bytes);
    return decodeSegment(bytes, name.first);
  }

  /** A merge reads soon what was just written. */
  remember(key: string, name: SegmentName, version: string, bytes: Uint8Array): void {
    this.#keep(cacheKeyOf(key, name, version), bytes);
  }

  #keep(cacheKey: string, bytes: Uint8Array): void {
    if (bytes.length > CACHE_BYTES_MAX / 4 || this.#cache.has(cacheKey)) return;
    this.#cache.set(cacheKey, bytes);
    this.#cacheBytes += bytes.length;
    for (const [oldest, { length }] of this.#cache) {
      if (this.#cacheBytes <= CACHE_BYTES_MAX) break;
      this.#cache.delete(oldest);
      this.#cacheBytes -= length;
    }
  }

  /** After an erasure: what was read before must not stay in memory. */
  forget(): void {
    this.#cache.clear();
    this.#cacheBytes = 0;
  }
}

function position(
  tail: SegmentPart | undefined,
  last: DecodedSegment | null,
  stored: JsonObject,
): Pick<StreamState, 'head' | 'next' | 'fence'> {
  const archivedTo = numberIn(stored, 'archived_to');
  const removedTo = numberIn(stored, 'removed_to');
  const head = { ...EMPTY_HEAD, ...endOf(tail, last), archivedTo, removedTo };
  const generation =
    tail?.name.kind === 'small' && head.seq + 1 === tail.name.first ? tail.name.generation + 1 : 0;
  const fence = last?.header?.fence ?? null;
  if (head.seq >= removedTo) return { head, next: smallName(head.seq + 1, generation), fence };
  const crc = stored['removed_crc'];
  return {
    head: { ...head, seq: removedTo, crc: typeof crc === 'string' ? crc : null },
    next: smallName(removedTo + 1, 0),
    fence,
  };
}

/** The last record, by the header, or by the lines if the header is damaged. */
function endOf(
  tail: SegmentPart | undefined,
  last: DecodedSegment | null,
): { readonly seq: number; readonly crc: string | null } {
  if (!tail || !last) return { seq: 0, crc: null };
  const { header, records } = last;
  const end = records.at(-1);
  const byLines = end?.seq ?? tail.name.first - 1;
  const byName = tail.name.kind === 'merged' ? tail.name.last : 0;
  const byHeader = header ? header.first + header.count - 1 : 0;
  const seq = Math.max(byLines, byName, byHeader);
  if (header?.count === 0) return { seq, crc: header.previousCrc };
  return { seq, crc: end?.body && end.seq === seq ? end.crc : null };
}

function cacheKeyOf(key: string, name: SegmentName, version: string): string {
  return `${key}/${name.segment} ${version}`;
}

function changing(key: string): RekindleError {
  return new RekindleError(
    'STORAGE_UNAVAILABLE',
    `Other processes changed the objects of ${key} during ${LISTINGS_MAX} readings.`,
    { details: { name: key } },
  );
}
