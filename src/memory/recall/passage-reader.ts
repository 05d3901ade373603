/** Reads the texts of passages from the journal, where they are whole: the index holds none. */

import { isRekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { tryTraceFromJson } from '../models/trace-serializer.js';
import type { MemoryStore } from '../store/memory-store.js';
import type { Passage } from './passage.js';
import type { PassageInfo, Place } from './shard.js';
import { passagesIn } from './stored-passages.js';

/** Records that are read on over, rather than to look up a place of their own. */
const GAP_MAX = 16;
/** Passages whose texts are kept: the best hits are looked at twice. */
const KEPT_MAX = 512;

export class PassageReader {
  readonly #store: MemoryStore;
  readonly #kept = new Map<string, Passage>();

  constructor(store: MemoryStore) {
    this.#store = store;
  }

  forget(): void {
    this.#kept.clear();
  }

  /** In the order that was asked for; null for one that the journal does not have any more. */
  async read(
    infos: readonly PassageInfo[],
    placeBefore: (seq: number) => Place | null,
  ): Promise<(Passage | null)[]> {
    const missing = infos.filter((info) => !this.#kept.has(keyOf(info)));
    const seqs = [...new Set(missing.map(({ seq }) => seq))].sort((a, b) => a - b);
    const found = new Map<string, Passage>();
    for (const run of runsOf(seqs))
      for (const passage of await this.#readRun(run, placeBefore(run[0]!)))
        found.set(keyOf(passage), passage);
    const all = infos.map((info) => this.#kept.get(keyOf(info)) ?? found.get(keyOf(info)) ?? null);
    for (const passage of all) if (passage) this.#keep(passage);
    return all;
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
      if (!isRekindleError(thrown, 'INVALID_ARGUMENT')) throw thrown; // the place is gone: the next catching up finds that out
    }
    return passages;
  }

  async #passagesOf(row: JsonObject, seq: number): Promise<Passage[]> {
    const trace = tryTraceFromJson(row);
    return trace ? passagesIn(trace, seq, this.#store) : [];
  }

  #keep(passage: Passage): void {
    if (this.#kept.size >= KEPT_MAX) this.#kept.clear();
    this.#kept.set(keyOf(passage), passage);
  }
}

/** Numbers near each other are read in one go. */
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
