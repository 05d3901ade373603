/**
 * The recall index of one agent: finds messages, calls and results by their words. It is a cache of the trace journal.
 * Each use first adds the new records of the journal, so the index cannot contradict it. If it is deleted or damaged,
 * it is built again.
 */
import { turnNumber } from '../../core/ids.js';
import type { JsonObject } from '../../core/json.js';
import { followFrom, JOURNAL_START } from '../../storage/journal-position.js';
import type { JournalHead, JournalRecord } from '../../storage/ports.js';
import type { Trace } from '../models/trace.js';
import { tryTraceFromJson } from '../models/trace-serializer.js';
import type { MemoryStore } from '../store/memory-store.js';
import type { Scored } from './best-of.js';
import { type Language, loadStemmer } from './languages.js';
import { compareTerms } from './merge-shards.js';
import type { Passage } from './passage.js';
import { PassageReader } from './passage-reader.js';
import { type Question, rank } from './ranking.js';
import { type PassageInfo, type Place, type Shard, ShardBuilder } from './shard.js';
import { encodeShard, type StoredShard } from './shard-file.js';
import { SHARD_PASSAGES, ShardStore } from './shard-store.js';
import { passagesIn } from './stored-passages.js';
import { questionTerms, termsOf } from './terms.js';
import type { PassageKey } from './vector-file.js';
import type { NearestPassages } from './vector-index.js';

export interface RecallQuery {
  readonly text: string;
  /** Maximum number of passages. */
  readonly limit: number;
  /** Times that the question names, in seconds since 1970. */
  readonly times?: Question['times'];
  /** If omitted, every passage may be found. */
  readonly accepts?: (info: PassageInfo) => boolean;
  /** Passages of similar meaning; if omitted, the words rank alone. */
  readonly nearest?: NearestPassages;
}

/** A passage that was found, with its score. Higher is better. */
export interface RecallHit {
  readonly passage: Passage;
  readonly score: number;
  /** Whether it is among those whose meaning is most similar. Always false without an embedder. */
  readonly isNear: boolean;
}

/** Passages between two turns of the event loop. */
const SLICE_PASSAGES = 64;
/** Passages of similar meaning that are ranked. */
const NEAR_MAX = 200;
/** Hits that are read at once. */
const BATCH = 64;

export class RecallIndex {
  readonly #store: MemoryStore;
  readonly #files: ShardStore;
  readonly #reader: PassageReader;
  #shards: StoredShard[] = [];
  #live = new ShardBuilder();
  /** The end of the stored shards, and the end of the whole index. */
  #stored: JournalHead = JOURNAL_START;
  #head: JournalHead = JOURNAL_START;
  #loaded: Promise<void> | null = null;
  #catchingUp: Promise<void> = Promise.resolve();
  #sinceYield = 0;
  /** Passages of the newest shard when it becomes a file. */
  readonly #shardPassages: number;
  #flushAt: number;

  constructor(store: MemoryStore, { shardPassages = SHARD_PASSAGES } = {}) {
    this.#shardPassages = shardPassages;
    this.#flushAt = shardPassages;
    this.#store = store;
    this.#files = new ShardStore(store);
    this.#reader = new PassageReader(store);
  }

  /** Number of passages in the index. */
  get count(): number {
    return this.#all().reduce((sum, { count }) => sum + count, 0);
  }

  /** Number of passages of a range of records. */
  countBetween(first: number, last: number): number {
    return this.#all().reduce((sum, shard) => sum + firstFrom(shard, last + 1) - firstFrom(shard, first), 0);
  }

  /** Bytes of the stored index. */
  get storedBytes(): number {
    return this.#shards.reduce((sum, { bytesLength }) => sum + bytesLength, 0);
  }

  /** Adds new records of the journal. Writes only its own cache, and only if the agent may be written. */
  catchUp(): Promise<void> {
    this.#catchingUp = this.#catchingUp.catch(() => {}).then(() => this.#catchUp());
    return this.#catchingUp;
  }

  /** Best first, read on demand. Catches up first. */
  async *hits(query: RecallQuery): AsyncGenerator<RecallHit> {
    await this.catchUp();
    const shards = this.#all();
    const words = await questionTerms(query.text, languagesOf(shards));
    const infoAt = infoFinder(shards);
    const read = (infos: readonly PassageInfo[]) => this.#reader.read(infos, placeFinder(shards));
    const { accepts } = query;
    const near = await nearIn(shards, query);
    const nearOnes = new Set(near.map(({ index }) => index));
    const found = await rank(
      shards,
      { words, times: query.times ?? [] },
      {
        limit: query.limit,
        near,
        ...(accepts ? { accepts: (shard: Shard, index: number) => accepts(shard.infoOf(index)) } : {}),
        termsOf: async (indexes) => {
          const passages = await read(indexes.map(infoAt));
          return Promise.all(
            passages.map(async (passage) => (passage ? (await termsOf(passage.text)).terms : [])),
          );
        },
      },
    );
    for (let from = 0; from < found.length; from += BATCH) {
      const batch = found.slice(from, from + BATCH);
      const passages = await read(batch.map(({ index }) => infoAt(index)));
      for (const [at, { index, score }] of batch.entries()) {
        const passage = passages[at];
        if (passage) yield { passage, score, isNear: nearOnes.has(index) };
      }
    }
  }

  /** All indexed passages in a range of records, in order. Catches up first. */
  async passagesBetween(first: number, last: number): Promise<Passage[]> {
    await this.catchUp();
    const shards = this.#all();
    const infos = shards.flatMap((shard) => {
      const found: PassageInfo[] = [];
      for (let index = firstFrom(shard, first); index < shard.count; index += 1) {
        const info = shard.infoOf(index);
        if (info.seq > last) break;
        found.push(info);
      }
      return found;
    });
    const passages = await this.#reader.read(infos, placeFinder(shards));
    return passages.filter((passage) => passage !== null);
  }

  /** The first and the last record of some turns, within a range of records; null if there is none. Catches up first. */
  async recordsOfTurns(
    from: number,
    to: number,
    { after, upTo } = { after: 0, upTo: Number.POSITIVE_INFINITY },
  ): Promise<{ readonly first: number; readonly last: number } | null> {
    await this.catchUp();
    let first: number | null = null;
    let last = 0;
    for (const shard of this.#all())
      for (let index = 0; index < shard.count; index += 1) {
        const { turn, seq } = shard.infoOf(index);
        if (turn < from || turn > to || seq <= after || seq > upTo) continue;
        first ??= seq;
        last = seq;
      }
    return first === null ? null : { first, last };
  }

  /** The record of the passage that is so many from the end; 1 if there are fewer. */
  recordFromEnd(count: number): number {
    const at = this.count - count;
    return at <= 0 ? 1 : infoFinder(this.#all())(at).seq;
  }

  has(key: PassageKey): boolean {
    return passageNumber(this.#all(), key) !== null;
  }

  #all(): readonly Shard[] {
    return this.#live.count > 0 ? [...this.#shards, this.#live] : this.#shards;
  }

  async #catchUp(): Promise<void> {
    this.#loaded ??= this.#load();
    await this.#loaded;
    if (await this.#follow()) return;
    this.#begin([]);
    if (!this.#store.readOnly) await this.#files.keepOnly([]);
    await this.#follow();
  }

  async #load(): Promise<void> {
    this.#begin(await this.#files.load());
    // Outside of turns, so that the first question does not wait for them.
    await Promise.all([...languagesOf(this.#shards)].map(loadStemmer));
  }

  #begin(shards: readonly StoredShard[]): void {
    this.#shards = [...shards];
    this.#live = new ShardBuilder();
    this.#stored = shards.at(-1)?.coverage.to ?? JOURNAL_START;
    this.#head = this.#stored;
    this.#flushAt = this.#shardPassages;
    this.#reader.forget();
  }

  /** False if the index was made from another journal. */
  async #follow(): Promise<boolean> {
    const journal = await this.#store.journal('raw_traces');
    if (isEndAt(await journal.head(), this.#head)) return true;
    const head = await followFrom(journal, this.#head, (entry) => this.#take(entry));
    return head !== null;
  }

  async #take(entry: JournalRecord<JsonObject>): Promise<void> {
    const trace = tryTraceFromJson(entry.record);
    const passages = trace && this.#isIndexed(trace) ? await passagesIn(trace, entry.seq, this.#store) : [];
    for (const passage of passages) {
      const { terms, language } = await termsOf(passage.text);
      this.#reader.keep(passage);
      this.#live.add({ passage, turn: turnNumber(passage.turnId), terms, language });
      this.#sinceYield += 1;
      if (this.#sinceYield % SLICE_PASSAGES === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    if (passages.length > 0) this.#live.addPlace(entry);
    this.#head = { seq: entry.seq, cursor: entry.cursor, crc: entry.crc };
    if (this.#live.count >= this.#flushAt) await this.#tryFlush();
  }

  /** A context that was set as a whole counts only if nothing was recorded before; otherwise its messages are already indexed. */
  #isIndexed(trace: Trace): boolean {
    return trace.type !== 'boundary' || this.count === 0;
  }

  /** A failed write of the cache is ignored, because results do not depend on it. */
  async #tryFlush(): Promise<void> {
    this.#flushAt = this.#live.count + this.#shardPassages;
    const { lease } = this.#store;
    if (!lease?.held) return;
    await this.#flush().then(
      () => {
        this.#flushAt = this.#shardPassages;
      },
      () => {},
    );
  }

  /** Writes the live shard to a file. */
  async #flush(): Promise<void> {
    const live = this.#live;
    const bytes = await encodeShard({
      agentId: this.#store.agentId,
      coverage: { fromSeq: this.#stored.seq + 1, to: this.#head },
      shard: live,
      places: live.places,
      postings: [...live.postings].sort(([a], [b]) => compareTerms(a, b)),
    });
    this.#shards.push(await this.#files.write(bytes));
    this.#live = new ShardBuilder();
    this.#stored = this.#head;
    this.#shards = await this.#files.merged(this.#shards);
  }
}

/** Whether the journal ends with the record that was indexed last. Nothing is read then. */
function isEndAt(end: JournalHead, { seq, cursor, crc }: JournalHead): boolean {
  if (cursor === null || crc === null) return false;
  const { segment, offset } = end.cursor ?? {};
  return end.seq === seq && end.crc === crc && segment === cursor.segment && offset === cursor.offset;
}

function placeFinder(shards: readonly Shard[]): (seq: number) => Place | null {
  return (seq) => {
    for (const shard of shards.toReversed()) {
      const place = shard.placeBefore(seq);
      if (place) return place;
    }
    return null;
  };
}

/** The first passage at or after a record. */
function firstFrom(shard: Shard, seq: number): number {
  let low = 0;
  let high = shard.count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (shard.infoOf(middle).seq < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The passages of similar meaning, by their numbers over all shards. */
async function nearIn(
  shards: readonly Shard[],
  { nearest, accepts }: RecallQuery,
): Promise<readonly Scored[]> {
  if (!nearest) return [];
  const numberOf = (key: PassageKey) => passageNumber(shards, key);
  const infoAt = infoFinder(shards);
  const isWanted = (key: PassageKey) => {
    const index = numberOf(key);
    return index !== null && (!accepts || accepts(infoAt(index)));
  };
  const found = await nearest(NEAR_MAX, isWanted);
  return found.map((hit) => ({ index: numberOf(hit)!, score: hit.above }));
}

/** Null for a passage that the index does not contain. */
function passageNumber(shards: readonly Shard[], { seq, piece }: PassageKey): number | null {
  let start = 0;
  for (const shard of shards) {
    const first = firstFrom(shard, seq);
    if (first < shard.count && shard.infoOf(first).seq === seq) {
      const at = first + piece;
      const isIt = at < shard.count && shard.infoOf(at).seq === seq && shard.infoOf(at).piece === piece;
      return isIt ? start + at : null;
    }
    start += shard.count;
  }
  return null;
}

function languagesOf(shards: readonly Shard[]): Set<Language> {
  return new Set(shards.flatMap((shard) => [...shard.languages.keys()]));
}

function infoFinder(shards: readonly Shard[]): (index: number) => PassageInfo {
  return (index) => {
    let at = index;
    for (const shard of shards) {
      if (at < shard.count) return shard.infoOf(at);
      at -= shard.count;
    }
    throw new RangeError('no such passage');
  };
}
