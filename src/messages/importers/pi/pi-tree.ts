/**
 * The tree of a pi session: entries name their parents, and the newest entry is the tip of the active branch. Only
 * numbers and ids are held. Sessions of the first version have no ids; their entries form one line.
 */
import type { JsonObject } from '../../../core/json.js';
import type { LossAccount } from '../loss-account.js';
import { readJsonLines } from '../reading/json-lines.js';
import type { TranscriptSource } from '../transcript.js';

const NONE = -1;

export class PiTree {
  readonly #ids = new Map<string, number>();
  readonly #parents: number[] = [];
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  readonly #lines: number[] = [];
  readonly #headers = new Set<number>();
  #isOnPath = new Uint8Array();

  static async of(source: TranscriptSource, losses: LossAccount): Promise<PiTree> {
    const tree = new PiTree();
    for await (const { value, line, start, end } of readJsonLines(source.chunks(), losses)) {
      const index = tree.#lines.push(line) - 1;
      tree.#starts.push(start);
      tree.#ends.push(end);
      tree.#parents.push(tree.#parentOf(value, index, losses));
      if (value['type'] === 'session') tree.#headers.add(index);
      else if (typeof value['id'] === 'string') tree.#ids.set(value['id'], index);
    }
    tree.#markPath();
    return tree;
  }

  /** An entry that follows the one before it names no parent, or a parent that is lost. */
  #parentOf(entry: JsonObject, index: number, losses: LossAccount): number {
    const { parentId } = entry;
    if (parentId === null) return NONE;
    if (typeof parentId !== 'string' || entry['type'] === 'session') return index - 1;
    const parent = this.#ids.get(parentId);
    if (parent !== undefined) return parent;
    losses.approximate('entry whose parent is missing, taken after the entry before it', this.placeOf(index));
    return index - 1;
  }

  #markPath(): void {
    this.#isOnPath = new Uint8Array(this.#parents.length);
    // A parent is always an earlier entry, so this terminates.
    for (let at = this.#parents.length - 1; at >= 0; at = this.#parents[at] ?? NONE) this.#isOnPath[at] = 1;
  }

  get size(): number {
    return this.#parents.length;
  }

  /** Headers belong to no branch. */
  isInUse(index: number): boolean {
    return this.#isOnPath[index] === 1 || this.#headers.has(index);
  }

  rangeOf(index: number): readonly [start: number, end: number] {
    return [this.#starts[index] ?? 0, this.#ends[index] ?? 0];
  }

  placeOf(index: number): string {
    return `line ${this.#lines[index] ?? 0}`;
  }

  indexOf(id: string): number | undefined {
    return this.#ids.get(id);
  }
}
