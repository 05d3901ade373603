/** Reads the texts of passages from the journal; the index holds no texts. */
import { isRekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { tryTraceFromJson } from '../models/trace-serializer.js';
import type { MemoryStore } from '../store/memory-store.js';
import type { Passage } from './passage.js';
import type { PassageInfo, Place } from './shard.js';
import { passagesIn } from './stored-passages.js';

/** Up to this many records in between are read, instead of finding a new position. */
const GAP_MAX = 8;
/** Runs that are read in parallel. A journal of files looks at its folder once for all of them. */
const PARALLEL = 64;
/** Cache size for texts, in characters: recent texts are found most often. */
const KEPT_CHARS_MAX = 4_000_000;

export class PassageReader {
  readonly #store: MemoryStore;
  readonly #kept = new Map<string, Passage>();
  #keptChars = 0;

  constructor(store: MemoryStore) {
    this.#store = store;
  }

  forget(): void {
    this.#kept.clear();
    this.#keptChars = 0;
  }

  /** In the requested order; null for a passage that the journal no longer has. */
  async read(
    infos: readonly PassageInfo[],
    placeBefore: (seq: number) => Place | null,
  ): Promise<(Passage | null)[]> {
    const missing = infos.filter((info) => !this.#kept.has(keyOf(info)));
    const seqs = [...new Set(missing.map(({ seq }) => seq))].sort((a, b) => a - b);
    const found = new Map<string, Passage>();
    const runs = runsOf(seqs);
    for (let from = 0; from < runs.length; from += PARALLEL) {
      const parts = runs.slice(from, from + PARALLEL);
      const read = await Promise.all(parts.map((run) => this.#readRun(run, placeBefore(run[0]!))));
      for (const passage of read.flat()) found.set(keyOf(passage), passage);
    }
    const all = infos.map((info) => this.#kept.get(keyOf(info)) ?? found.get(keyOf(info)) ?? null);
    for (const passage of all) if (passage) this.keep(passage);
    return all;
  }

  /** Drops the oldest if there are too many. */
  keep(passage: Passage): void {
    const key = keyOf(passage);
    if (this.#kept.has(key)) return;
    this.#kept.set(key, passage);
    this.#keptChars += passage.text.length;
    for (const [oldest, { text }] of this.#kept) {
      if (this.#keptChars <= KEPT_CHARS_MAX) return;
      this.#kept.delete(oldest);
      this.#keptChars -= text.length;
    }
  }

  async #readRun(seqs: readonly number[], place: Place | null): Promise<Passage[]> {
    const journal = await this.#store.journal('raw_traces');
    const wanted = new Set(seqs);
    const last = seqs.at(-1)!;
    const after = place ? place.seq - 1 : seqs[0]! - 1;
    const passages: Passage[] = [];
    try {
      const start = place?.cursor ? { cursor: place.cursor } : {};
      for await (const entry of journal.read({ after, ...start, limit: last - after })) {
        if (entry.kind !== 'record' || !wanted.has(entry.seq)) continue;
        passages.push(...(await this.#passagesOf(entry.record, entry.seq)));
        if (entry.seq >= last) break;
      }
    } catch (thrown) {
      if (!isRekindleError(thrown, 'INVALID_ARGUMENT')) throw thrown; // the position is invalid: the next update of the index detects that
    }
    return passages;
  }

  async #passagesOf(row: JsonObject, seq: number): Promise<Passage[]> {
    const trace = tryTraceFromJson(row);
    return trace ? passagesIn(trace, seq, this.#store) : [];
  }
}

/** Numbers near each other are read together. */
function runsOf(seqs: readonly number[]): number[][] {
  const runs: number[][] = [];
  for (const seq of seqs) {
    const run = runs.at(-1);
    if (run && seq - run.at(-1)! <= GAP_MAX) run.push(seq);
    else runs.push([seq]);
  }
  return runs;
}

function keyOf({ seq, piece }: Pick<PassageInfo, 'seq' | 'piece'>): string {
  return `${seq}/${piece}`;
}
