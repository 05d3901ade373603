/**
 * Decides which parts of a context are stored already and which are new. A content is a list of extents:
 * ranges of data written by this checkpoint or an earlier one of its session.
 */
import { hash } from 'node:crypto';
import { chunksOf } from './chunks.js';

/** A range of the data in a pack. `pack` is the number of the checkpoint that wrote it. */
export interface Extent {
  readonly pack: number;
  readonly offset: number;
  readonly length: number;
}

export interface ContentPlan {
  /** In order; together they form the content. */
  readonly extents: readonly Extent[];
  /** The new data. */
  readonly data: Buffer;
}

interface Place {
  readonly pack: number;
  readonly offset: number;
}

/** Where the chunks of one session's known contents are stored. */
export class ChunkIndex {
  readonly #places = new Map<string, Place>();
  /** Checkpoints whose content is indexed. */
  readonly #covered = new Set<number>();

  covers(number: number): boolean {
    return this.#covered.has(number);
  }

  /** Adds the places of a checkpoint's content. */
  add(number: number, content: Uint8Array, extents: readonly Extent[]): void {
    this.#covered.add(number);
    const reader = new ExtentReader(extents);
    for (const { start, end } of chunksOf(content)) {
      const place = reader.placeOf(start, end);
      if (place) this.#places.set(digestOf(content.subarray(start, end)), place);
    }
  }

  find(digest: string): Place | undefined {
    return this.#places.get(digest);
  }

  /** Forgets chunks in packs that were removed. */
  keepOnly(isThere: (pack: number) => boolean): void {
    for (const [digest, { pack }] of this.#places) if (!isThere(pack)) this.#places.delete(digest);
  }
}

/** @param number of the new checkpoint @param isThere whether a pack may be used */
export function planContent(
  content: Uint8Array,
  number: number,
  index: ChunkIndex,
  isThere: (pack: number) => boolean,
): ContentPlan {
  const extents = new ExtentList();
  const own = new Map<string, Place>();
  const fresh: Uint8Array[] = [];
  let offset = 0;
  for (const { start, end } of chunksOf(content)) {
    const chunk = content.subarray(start, end);
    const digest = digestOf(chunk);
    const known = index.find(digest);
    let place = known && isThere(known.pack) ? known : own.get(digest);
    if (!place) {
      own.set(digest, (place = { pack: number, offset }));
      fresh.push(chunk);
      offset += chunk.length;
    }
    extents.add({ ...place, length: chunk.length });
  }
  return { extents: extents.list, data: Buffer.concat(fresh, offset) };
}

/** Merges neighbouring extents of a pack. */
class ExtentList {
  readonly list: Extent[] = [];

  add(extent: Extent): void {
    const last = this.list.at(-1);
    if (last && last.pack === extent.pack && last.offset + last.length === extent.offset)
      this.list[this.list.length - 1] = { ...last, length: last.length + extent.length };
    else this.list.push(extent);
  }
}

/** Finds places of the content in its extents. Ask in ascending order. */
class ExtentReader {
  readonly #extents: readonly Extent[];
  #at = 0;
  /** The extent's position in the content. */
  #start = 0;

  constructor(extents: readonly Extent[]) {
    this.#extents = extents;
  }

  /** Null if the range spans several extents, for example because it was cut by other rules. */
  placeOf(start: number, end: number): Place | null {
    let extent = this.#extents[this.#at];
    while (extent && this.#start + extent.length <= start) {
      this.#start += extent.length;
      this.#at += 1;
      extent = this.#extents[this.#at];
    }
    if (!extent || end > this.#start + extent.length) return null;
    return { pack: extent.pack, offset: extent.offset + start - this.#start };
  }
}

/** 128 bits suffice to distinguish chunks; the digest of the whole content is checked, too. */
function digestOf(chunk: Uint8Array): string {
  return hash('sha256', chunk, 'buffer').toString('latin1', 0, 16);
}
