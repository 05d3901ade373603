/**
 * The vectors of one agent's newest passages, for a search by meaning. A cache of the journal, as the recall index is:
 * made in batches outside of turns, checked, and made again where it is missing, damaged or of another model.
 */
import type { RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { TimeSlices } from '../../core/time-slices.js';
import { followFrom, JOURNAL_START } from '../../storage/journal-position.js';
import type { Journal, JournalHead, JournalRecord } from '../../storage/ports.js';
import { tryTraceFromJson } from '../models/trace-serializer.js';
import type { MemoryStore } from '../store/memory-store.js';
import { BestOf } from './best-of.js';
import { type Embedder, embedTexts } from './embedder.js';
import type { Passage } from './passage.js';
import { passagesIn } from './stored-passages.js';
import {
  encodeVectors,
  type PassageKey,
  quantized,
  Spread,
  VectorFile,
  type VectorModel,
  type VectorRow,
} from './vector-file.js';
import { VectorStore } from './vector-store.js';

/** Bytes of vectors in memory and in files. Older passages have no vectors: they are found by their words. */
export const VECTOR_BYTES_MAX = 32 * 1024 * 1024;
/** A file with more bytes of vectors does not grow. */
const FILE_BYTES = 128 * 1024;
/** Texts of one call of the model. */
const BATCH_TEXTS = 32;
/** Passages are read until there are so many, a few records at a time: one record may have thousands. */
const STEP_PASSAGES = 64;
const STEP_RECORDS = 4;
/** For one batch of passages: nobody waits for it. */
const BATCH_TIMEOUT_MS = 60_000;

/** A passage that is similar in meaning. */
export interface NearPassage extends PassageKey {
  /**
   * How far its cosine is above that of all passages, in standard deviations: cosines of different models are not
   * comparable.
   */
  readonly above: number;
}

/** The passages that are similar to one question. Empty after a failure. */
export type NearestPassages = (
  limit: number,
  accepts?: (key: PassageKey) => boolean,
) => Promise<readonly NearPassage[]>;

export interface VectorIndexOptions {
  readonly embedder: Embedder;
  readonly onDamaged: (error: RekindleError) => void;
  /** Default 32 MiB. */
  readonly bytesMax?: number;
}

/** The recall index: it leaves some passages out. */
export interface IndexedPassages {
  /** Takes in the passages of new records. */
  catchUp(): Promise<void>;
  has(key: PassageKey): boolean;
}

interface Step {
  readonly head: JournalHead;
  readonly passages: readonly Passage[];
}

export class VectorIndex {
  readonly #store: MemoryStore;
  readonly #embedder: Embedder;
  readonly #files: VectorStore;
  readonly #onDamaged: (error: RekindleError) => void;
  readonly #rowsMax: number;
  /** Oldest first; replaced as a whole, because a search may be reading them. */
  #vectors: readonly VectorFile[] = [];
  /** The last file as it is stored; null if it has no file. */
  #storedTail: VectorFile | null = null;
  #loaded: Promise<void> | null = null;
  /** Whether other stored files were removed. */
  #begun = false;

  constructor(store: MemoryStore, { embedder, onDamaged, bytesMax = VECTOR_BYTES_MAX }: VectorIndexOptions) {
    this.#store = store;
    this.#embedder = embedder;
    this.#files = new VectorStore(store, embedder);
    this.#onDamaged = onDamaged;
    this.#rowsMax = Math.max(1, Math.floor(bytesMax / embedder.dimension));
  }

  get model(): VectorModel {
    return this.#embedder;
  }

  /** Number of passages that may have vectors. */
  get passagesMax(): number {
    return this.#rowsMax;
  }

  /** Number of passages with vectors. */
  get count(): number {
    return this.#vectors.reduce((sum, { count }) => sum + count, 0);
  }

  /**
   * Makes vectors of new passages, in batches, and writes them. Does nothing for an agent that is only read.
   * @param firstSeq the first record whose passages need vectors
   * @param index the passages that may have vectors; default: all
   * @throws EMBEDDER_FAILED, and what the journal and the documents throw. What was made before is kept
   */
  async catchUp(firstSeq: number, signal: AbortSignal, index: IndexedPassages | null = null): Promise<void> {
    if (!this.#store.lease?.held) return;
    await this.#load();
    const isCut = (this.#vectors[0]?.coverage.fromSeq ?? 0) > firstSeq;
    if (isCut) await this.#begin([]);
    else if (!this.#begun) await this.#begin(this.#vectors);
    try {
      while (await this.#extend(firstSeq, signal, index));
    } finally {
      await this.#writeTail();
    }
  }

  /** The most similar passages, best first. */
  async nearest(
    question: Float32Array,
    limit: number,
    accepts?: (key: PassageKey) => boolean,
  ): Promise<NearPassage[]> {
    await this.#load();
    const files = this.#vectors;
    const best = new BestOf(limit);
    const spread = new Spread();
    const comparison = { best, spread, slices: new TimeSlices(), ...(accepts ? { accepts } : {}) };
    const wanted = quantized(question);
    const starts: number[] = [];
    let start = 0;
    for (const file of files) {
      starts.push(start);
      await file.compare(wanted, start, comparison);
      start += file.count;
    }
    return best.sorted().flatMap(({ index, score }) => {
      const at = starts.findLastIndex((first) => first <= index);
      const above = spread.above(score);
      return above <= 0 ? [] : [{ ...files[at]!.keyAt(index - starts[at]!), above }];
    });
  }

  /** A failed read is tried again by the next call. */
  #load(): Promise<void> {
    this.#loaded ??= this.#read().catch((thrown: unknown) => {
      this.#loaded = null;
      throw thrown;
    });
    return this.#loaded;
  }

  async #read(): Promise<void> {
    const files = await this.#files.load(this.#onDamaged);
    const journal = await this.#store.journal('raw_traces');
    const isHere = async (file: VectorFile) =>
      (await followFrom(journal, file.coverage.to, () => {}, 0)) !== null;
    while (files.length > 0 && !(await isHere(files.at(-1)!))) files.pop();
    this.#vectors = files;
  }

  /** Makes the vectors of the next passages. False at the end of the journal. */
  async #extend(firstSeq: number, signal: AbortSignal, index: IndexedPassages | null): Promise<boolean> {
    const from = this.#vectors.at(-1)?.coverage.to ?? JOURNAL_START;
    const step = await this.#next(from);
    if (step === null) return this.#startAgain();
    if (step.head.seq === from.seq) return false;
    await index?.catchUp();
    const wanted = step.passages.filter(
      (passage) => passage.seq >= firstSeq && (index?.has(passage) ?? true),
    );
    const rows = await this.#rowsOf(wanted, signal);
    await this.#add(rows, step.head);
    return true;
  }

  /** The journal was replaced. False if there was nothing of the old one. */
  async #startAgain(): Promise<boolean> {
    if (this.#vectors.length === 0) return false;
    await this.#begin([]);
    return true;
  }

  async #begin(files: readonly VectorFile[]): Promise<void> {
    this.#vectors = files;
    this.#storedTail = files.at(-1) ?? null;
    await this.#files.keepOnly(files);
    this.#begun = true;
  }

  /** Null if the journal is another one. */
  async #next(from: JournalHead): Promise<Step | null> {
    const journal = await this.#store.journal('raw_traces');
    const passages: Passage[] = [];
    const take = async ({ record, seq }: JournalRecord<JsonObject>) => {
      const trace = tryTraceFromJson(record);
      if (trace) passages.push(...(await passagesIn(trace, seq, this.#store)));
    };
    let head = from;
    while (passages.length < STEP_PASSAGES) {
      const next = await this.#follow(journal, head, take);
      if (next === null) return null;
      if (next.seq === head.seq) break;
      head = next;
    }
    return { head, passages };
  }

  /** A few records; more if the next ones are damaged. */
  async #follow(
    journal: Journal<JsonObject>,
    from: JournalHead,
    take: (entry: JournalRecord<JsonObject>) => Promise<void>,
  ): Promise<JournalHead | null> {
    const { seq: last } = await journal.head();
    for (let limit = STEP_RECORDS; ; limit *= 8) {
      const head = await followFrom(journal, from, take, limit);
      if (head === null || head.seq > from.seq || from.seq + limit >= last) return head;
    }
  }

  async #rowsOf(passages: readonly Passage[], signal: AbortSignal): Promise<VectorRow[]> {
    const rows: VectorRow[] = [];
    for (let from = 0; from < passages.length; from += BATCH_TEXTS) {
      const batch = passages.slice(from, from + BATCH_TEXTS);
      const limits = { timeoutMs: BATCH_TIMEOUT_MS, signal };
      const vectors = await embedTexts(
        this.#embedder,
        batch.map(({ text }) => text),
        limits,
      );
      for (const [at, { seq, piece }] of batch.entries())
        rows.push({ seq, piece, ...quantized(vectors[at]!) });
    }
    return rows;
  }

  async #add(rows: readonly VectorRow[], to: JournalHead): Promise<void> {
    const tail = this.#vectors.at(-1);
    const isFull = tail !== undefined && tail.count * this.#embedder.dimension >= FILE_BYTES;
    if (isFull) await this.#writeTail();
    const grown = tail && !isFull ? tail : null;
    const all = grown ? [...grown.rows(), ...rows] : rows;
    const fromSeq = grown?.coverage.fromSeq ?? (tail ? tail.coverage.to.seq + 1 : 1);
    const { agentId } = this.#store;
    const bytes = encodeVectors(agentId, this.#embedder, { fromSeq, to }, all);
    const file = VectorFile.read(bytes, agentId, this.#embedder) as VectorFile;
    if (isFull) this.#storedTail = null;
    this.#vectors = [...(grown ? this.#vectors.slice(0, -1) : this.#vectors), file];
    await this.#dropOldest();
  }

  async #writeTail(): Promise<void> {
    const tail = this.#vectors.at(-1);
    const stored = this.#storedTail;
    if (!tail || tail === stored || !this.#store.lease?.held) return;
    await this.#files.write(tail);
    this.#storedTail = tail;
    if (stored) await this.#files.remove(stored);
  }

  async #dropOldest(): Promise<void> {
    while (this.#vectors.length > 1 && this.count - this.#vectors[0]!.count >= this.#rowsMax) {
      const [oldest, ...others] = this.#vectors;
      this.#vectors = others;
      await this.#files.remove(oldest!);
    }
  }
}
