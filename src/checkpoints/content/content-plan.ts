/**
 * What of a context is stored already, and what is new. A content is a list of extents: ranges of the data that this checkpoint or an
 * earlier one of its session wrote.
 */
import { hash } from 'node:crypto';
import { chunksOf } from './chunks.js';

/** A range of the data in a pack. The number is that of the checkpoint which wrote the pack. */
export interface Extent {
  readonly pack: number;
  readonly offset: number;
  readonly length: number;
}

export interface ContentPlan {
  /** In order; together they are the content. */
  readonly extents: readonly Extent[];
  /** What is new. */
  readonly data: Buffer;
}

interface Place {
  readonly pack: number;
  readonly offset: number;
}

/** Where the chunks of the contents that were seen are stored. Of one session. */
export class ChunkIndex {
  readonly #places = new Map<string, Place>();
  /** Checkpoints whose content is in it. */
  readonly #covered = new Set<number>();

  covers(number: number): boolean {
    return this.#covered.has(number);
  }

  /** Learns where the content of a checkpoint is. */
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

  /** Forgets what lies in packs that are gone. */
  keepOnly(isThere: (pack: number) => boolean): void {
    for (const [digest, { pack }] of this.#places) if (!isThere(pack)) this.#places.delete(digest);
  }
}

/** @param number of the checkpoint that is made @param isThere whether a pack may be relied on */
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

/** Neighbours in a pack become one. */
class ExtentList {
  readonly list: Extent[] = [];

  add(extent: Extent): void {
    const last = this.list.at(-1);
    if (last && last.pack === extent.pack && last.offset + last.length === extent.offset)
      this.list[this.list.length - 1] = { ...last, length: last.length + extent.length };
    else this.list.push(extent);
  }
}

/** Finds places of the content in its extents; asked in order. */
class ExtentReader {
  readonly #extents: readonly Extent[];
  #at = 0;
  /** Where the extent begins in the content. */
  #start = 0;

  constructor(extents: readonly Extent[]) {
    this.#extents = extents;
  }

  /** Null when the range lies in more than one extent, as one does that was cut by other rules. */
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

/** 128 bits are enough to tell chunks apart; a content is checked as a whole besides. */
function digestOf(chunk: Uint8Array): string {
  return hash('sha256', chunk, 'buffer').toString('latin1', 0, 16);
}
