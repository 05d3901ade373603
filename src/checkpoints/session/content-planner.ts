/**
 * What a new checkpoint can build on: the contents of this session that were seen, as long as their data is there.
 *
 * A process reads the newest checkpoint once and knows from then on what it saves itself; what others saved meanwhile is read when it
 * is the newest. What cannot be read is not built on.
 */
import { isRekindleError } from '../../core/errors.js';
import type { Blobs } from '../../storage/ports.js';
import { ChunkIndex, type ContentPlan, type Extent, planContent } from '../content/content-plan.js';
import { PACKS_MAX, type SaveRecord } from './checkpoint-record.js';
import type { ContentReader } from './content-reader.js';
import type { SessionLog } from './session-log.js';
import { packsOf } from './session-state.js';

/** A content that leaves most of what it would use unused is written whole. */
const UNUSED_FACTOR = 4;
const UNUSED_BYTES_MIN = 64 * 1024;
/** How long it is taken for granted that data which was there still is: nobody takes it away who keeps to the rules. */
const THERE_MS = 60_000;

export class ContentPlanner {
  readonly #log: SessionLog;
  readonly #reader: ContentReader;
  readonly #blobs: Blobs;
  #index = new ChunkIndex();
  /** What the index was made for: another journal has other numbers. */
  #loads = 0;
  #removals = 0;
  #lookedMs = Number.NEGATIVE_INFINITY;

  constructor(log: SessionLog, reader: ContentReader, blobs: Blobs) {
    this.#log = log;
    this.#reader = reader;
    this.#blobs = blobs;
  }

  /** Under the lock, before `plan`: makes sure that what was saved last can be built on, by anybody and by this agent. */
  async prepare(agent: string | undefined): Promise<void> {
    const { state, loads } = this.#log;
    if (this.#loads !== loads || !(await this.#isThere())) this.#forget();
    if (this.#removals !== state.removals) this.#index.keepOnly((pack) => state.isUsed(pack));
    this.#loads = loads;
    this.#removals = state.removals;
    const { checkpoints } = state;
    const bases = new Set([checkpoints.at(-1), checkpoints.findLast((record) => record.agent === agent)]);
    for (const record of bases) if (record && !this.knows(record)) await this.#read(record);
  }

  /** Whether it was read here, or saved, so that its data was there. */
  knows({ number }: SaveRecord): boolean {
    return this.#index.covers(number);
  }

  learn(number: number, content: Uint8Array, extents: readonly Extent[]): void {
    this.#index.add(number, content, extents);
  }

  plan(content: Uint8Array, number: number): ContentPlan {
    const { state } = this.#log;
    const plan = planContent(content, number, this.#index, (pack) => state.isUsed(pack));
    const packs = usedPacks(plan.extents, number);
    const used = packs.reduce((sum, pack) => sum + (state.writerOf(pack)?.pack.raw ?? 0), 0);
    if (packs.length <= PACKS_MAX && used <= UNUSED_FACTOR * content.length + UNUSED_BYTES_MIN) return plan;
    this.#forget();
    return planContent(content, number, this.#index, () => false);
  }

  async #read(record: SaveRecord): Promise<void> {
    try {
      const { content, extents } = await this.#reader.read(record);
      this.#index.add(record.number, content, extents);
    } catch (thrown) {
      if (!isRekindleError(thrown, 'CHECKPOINT_DAMAGED')) throw thrown;
      this.#forget(); // others may use the same data
    }
  }

  /** Whether the data of the newest checkpoint is there, as far as that was not seen a moment ago. */
  async #isThere(): Promise<boolean> {
    const { state } = this.#log;
    const now = performance.now();
    if (!state.newest || now - this.#lookedMs < THERE_MS) return true;
    this.#lookedMs = now;
    const digests = packsOf(state.newest).flatMap((pack) => state.writerOf(pack)?.pack.digest ?? []);
    const found = await Promise.all(digests.map((digest) => this.#blobs.has(digest)));
    return found.every(Boolean);
  }

  #forget(): void {
    this.#index = new ChunkIndex();
  }
}

/** Other packs than its own, ascending. */
export function usedPacks(extents: readonly Extent[], own: number): number[] {
  return [...new Set(extents.map(({ pack }) => pack))].filter((pack) => pack !== own).sort((a, b) => a - b);
}
