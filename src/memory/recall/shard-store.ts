/**
 * The stored shards of one agent: lists them, writes new ones, merges small ones. The name shows what a shard covers
 * (`1-90.idx`), so a crash between a merge and the removal of its parts leaves both, and the larger one is used.
 */
import type { Name } from '../../storage/ports.js';
import type { MemoryStore } from '../store/memory-store.js';
import { mergeShards } from './merge-shards.js';
import { StoredShard } from './shard-file.js';

export const RECALL_FOLDER = 'recall';
/** Number of neighbours of one size that are merged. */
const MERGED_AT_ONCE = 8;
/** Maximum passages of a shard of the first size; each further size is `MERGED_AT_ONCE` times as large. */
export const SHARD_PASSAGES = 1_024;

interface Range {
  readonly from: number;
  readonly to: number;
}

export class ShardStore {
  readonly #store: MemoryStore;

  constructor(store: MemoryStore) {
    this.#store = store;
  }

  /** The usable shards, oldest first, without a gap from the first record on. */
  async load(): Promise<StoredShard[]> {
    const ranges = await this.#ranges();
    const shards: StoredShard[] = [];
    for (let from = 1; ; from = shards.at(-1)!.coverage.to.seq + 1) {
      const shard = await this.#firstReadable(ranges.filter((range) => range.from === from));
      if (!shard) return shards;
      shards.push(shard);
    }
  }

  /** Bytes of all files. */
  async write(bytes: Buffer): Promise<StoredShard> {
    const { agentId, backend } = this.#store;
    const shard = await StoredShard.read(bytes, agentId);
    const { fromSeq, to } = shard!.coverage;
    await backend.documents.writeBytes(this.#name({ from: fromSeq, to: to.seq }), bytes, {
      durability: 'cache',
    });
    return shard!;
  }

  /** Merges the newest shards while there are enough of one size. */
  async merged(shards: readonly StoredShard[]): Promise<StoredShard[]> {
    const all = [...shards];
    for (;;) {
      const size = sizeOf(all.at(-1));
      const parts = all.slice(-MERGED_AT_ONCE);
      if (parts.length < MERGED_AT_ONCE || !parts.every((part) => sizeOf(part) <= size)) return all;
      const one = await this.write(await mergeShards(parts, this.#store.agentId));
      all.splice(-MERGED_AT_ONCE, MERGED_AT_ONCE, one);
      for (const part of parts) await this.#remove(rangeOf(part));
    }
  }

  /** Removes every stored shard except these. */
  async keepOnly(shards: readonly StoredShard[]): Promise<void> {
    const kept = new Set(shards.map((shard) => keyOf(rangeOf(shard))));
    for (const range of await this.#ranges()) if (!kept.has(keyOf(range))) await this.#remove(range);
  }

  async #firstReadable(ranges: readonly Range[]): Promise<StoredShard | null> {
    for (const range of ranges.toSorted((a, b) => b.to - a.to)) {
      const bytes = await this.#store.backend.documents.readBytes(this.#name(range)).catch(() => null);
      const shard = bytes && (await StoredShard.read(bytes, this.#store.agentId));
      if (shard && keyOf(rangeOf(shard)) === keyOf(range)) return shard;
    }
    return null;
  }

  async #remove(range: Range): Promise<void> {
    await this.#store.backend.documents.delete(this.#name(range));
  }

  async #ranges(): Promise<Range[]> {
    const names = await this.#store.backend.documents.list(['agents', this.#store.agentId, RECALL_FOLDER]);
    return names.flatMap((name) => {
      const match = /^(\d{1,15})-(\d{1,15})\.idx$/.exec(name);
      return match ? [{ from: Number(match[1]), to: Number(match[2]) }] : [];
    });
  }

  #name(range: Range): Name {
    return ['agents', this.#store.agentId, RECALL_FOLDER, `${keyOf(range)}.idx`];
  }
}

function keyOf({ from, to }: Range): string {
  return `${from}-${to}`;
}

function rangeOf({ coverage }: StoredShard): Range {
  return { from: coverage.fromSeq, to: coverage.to.seq };
}

/** 0 for a shard of the first size. */
function sizeOf(shard: StoredShard | undefined): number {
  let size = 0;
  for (let most = SHARD_PASSAGES * 2; shard && shard.count > most; most *= MERGED_AT_ONCE) size += 1;
  return size;
}
