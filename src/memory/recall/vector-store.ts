/**
 * The stored vectors of one agent: files next to the shards of the recall index. The name shows what a file covers
 * (`1-90.vec`). The last file grows under a new name, so a crash may leave the old one, which is then left out.
 */
import { RekindleError } from '../../core/errors.js';
import type { Name } from '../../storage/ports.js';
import type { MemoryStore } from '../store/memory-store.js';
import { RECALL_FOLDER } from './shard-store.js';
import { VectorFile, type VectorModel } from './vector-file.js';

interface Range {
  readonly from: number;
  readonly to: number;
}

/** Files that are read in parallel. */
const PARALLEL = 8;

export class VectorStore {
  readonly #store: MemoryStore;
  readonly #model: VectorModel;

  constructor(store: MemoryStore, model: VectorModel) {
    this.#store = store;
    this.#model = model;
  }

  /**
   * The usable files, oldest first, without a gap between them. Those after an unusable one are left out.
   * @param onDamaged called for each damaged file
   */
  async load(onDamaged: (error: RekindleError) => void): Promise<VectorFile[]> {
    const ranges = withoutParts(await this.#ranges());
    const files: VectorFile[] = [];
    for (let at = 0; at < ranges.length; at += PARALLEL) {
      const part = ranges.slice(at, at + PARALLEL);
      const read = await Promise.all(part.map((range) => this.#read(range, onDamaged)));
      for (const file of read) {
        const last = files.at(-1)?.coverage.to.seq;
        if (!file || (last !== undefined && file.coverage.fromSeq !== last + 1)) return files;
        files.push(file);
      }
    }
    return files;
  }

  write(file: VectorFile): Promise<void> {
    const name = this.#name(rangeOf(file));
    return this.#store.backend.documents.writeBytes(name, file.bytes, { durability: 'cache' });
  }

  async remove(file: VectorFile): Promise<void> {
    await this.#store.backend.documents.delete(this.#name(rangeOf(file)));
  }

  /** Removes every stored file except these. */
  async keepOnly(files: readonly VectorFile[]): Promise<void> {
    const kept = new Set(files.map((file) => keyOf(rangeOf(file))));
    for (const range of await this.#ranges())
      if (!kept.has(keyOf(range))) await this.#store.backend.documents.delete(this.#name(range));
  }

  async #read(range: Range, onDamaged: (error: RekindleError) => void): Promise<VectorFile | null> {
    const name = this.#name(range);
    const bytes = await this.#store.backend.documents.readBytes(name);
    if (!bytes) return null; // replaced by a longer one since the listing
    const file = VectorFile.read(bytes, this.#store.agentId, this.#model);
    if (file === 'other') return null;
    if (file !== 'damaged' && keyOf(rangeOf(file)) === keyOf(range)) return file;
    const text = `The vectors in ${name.join('/')} are damaged. They are made again.`;
    onDamaged(new RekindleError('DOCUMENT_DAMAGED', text, { details: { file: name.join('/') } }));
    return null;
  }

  async #ranges(): Promise<Range[]> {
    const names = await this.#store.backend.documents.list(['agents', this.#store.agentId, RECALL_FOLDER]);
    return names.flatMap((name) => {
      const match = /^(\d{1,15})-(\d{1,15})\.vec$/.exec(name);
      return match ? [{ from: Number(match[1]), to: Number(match[2]) }] : [];
    });
  }

  #name(range: Range): Name {
    return ['agents', this.#store.agentId, RECALL_FOLDER, `${keyOf(range)}.vec`];
  }
}

/** Oldest first, without those that another one contains. */
function withoutParts(ranges: readonly Range[]): Range[] {
  const whole: Range[] = [];
  for (const range of ranges.toSorted((a, b) => a.from - b.from || b.to - a.to))
    if (range.to > (whole.at(-1)?.to ?? 0)) whole.push(range);
  return whole;
}

function keyOf({ from, to }: Range): string {
  return `${from}-${to}`;
}

function rangeOf({ coverage }: VectorFile): Range {
  return { from: coverage.fromSeq, to: coverage.to.seq };
}
