/**
 * The contents of this session that a new checkpoint can build on, as long as their data is stored.
 *
 * A process reads the newest checkpoint once and then tracks its own saves; saves of others are read when
 * they are the newest. Another process must be able to load the result, so reused data is read again and
 * compared with its digest. Damaged or missing data is not reused; its parts are stored again.
 */
import PQueue from 'p-queue';
import { isRekindleError } from '../../core/errors.js';
import { ChunkIndex, type ContentPlan, type Extent, planContent } from '../content/content-plan.js';
import { PACKS_MAX, type SaveRecord } from './checkpoint-record.js';
import type { ContentReader } from './content-reader.js';
import type { PackStore } from './pack-store.js';
import type { SessionLog } from './session-log.js';
import { packsOf } from './session-state.js';

/** If a content would use less than this fraction of the reused data, it is written whole. */
const UNUSED_FACTOR = 4;
const UNUSED_BYTES_MIN = 64 * 1024;
/** Packs that are checked at the same time. */
const LOOKS = 8;

export class ContentPlanner {
  readonly #log: SessionLog;
  readonly #reader: ContentReader;
  readonly #packs: PackStore;
  #index = new ChunkIndex();
  /** The load count of the journal that the index belongs to: another journal has other numbers. */
  #loads = 0;
  #removals = 0;

  constructor(log: SessionLog, reader: ContentReader, packs: PackStore) {
    this.#log = log;
    this.#reader = reader;
    this.#packs = packs;
  }

  /** Call it under the lock, before `plan`: ensures that the last saved content can be reused. */
  async prepare(agent: string | undefined): Promise<void> {
    const { state, loads } = this.#log;
    if (this.#loads !== loads) this.#forget();
    if (this.#removals !== state.removals) this.#index.keepOnly((pack) => state.isUsed(pack));
    this.#loads = loads;
    this.#removals = state.removals;
    const { checkpoints } = state;
    const bases = new Set([checkpoints.at(-1), checkpoints.findLast((record) => record.agent === agent)]);
    for (const record of bases) if (record && !this.knows(record)) await this.#read(record);
  }

  /** Whether it was read or saved here, so that its data was present. */
  knows({ number }: SaveRecord): boolean {
    return this.#index.covers(number);
  }

  learn(number: number, content: Uint8Array, extents: readonly Extent[]): void {
    this.#index.add(number, content, extents);
  }

  /** Uses only undamaged data. */
  async plan(content: Uint8Array, number: number): Promise<ContentPlan> {
    for (;;) {
      const plan = this.#planned(content, number);
      const bad = await this.#damagedOf(usedPacks(plan.extents, number));
      if (bad.size === 0) return plan;
      this.#forget(); // the parts of other packs are found again with the next checkpoint
    }
  }

  #planned(content: Uint8Array, number: number): ContentPlan {
    const { state } = this.#log;
    const plan = planContent(content, number, this.#index, (pack) => state.isUsed(pack));
    const packs = usedPacks(plan.extents, number);
    const used = packs.reduce((sum, pack) => sum + (state.writerOf(pack)?.pack.raw ?? 0), 0);
    if (packs.length <= PACKS_MAX && used <= UNUSED_FACTOR * content.length + UNUSED_BYTES_MIN) return plan;
    this.#forget();
    return planContent(content, number, this.#index, () => false);
  }

  /** Whether all data of a checkpoint is unchanged. */
  async isWhole(record: SaveRecord): Promise<boolean> {
    return (await this.#damagedOf(packsOf(record))).size === 0;
  }

  async #damagedOf(numbers: readonly number[]): Promise<Set<number>> {
    const bad = new Set<number>();
    const looking = new PQueue({ concurrency: LOOKS });
    const look = (number: number) => async () => {
      const stored = this.#log.state.writerOf(number)?.pack;
      if (!stored || !(await this.#packs.isWhole(number, stored))) bad.add(number);
    };
    await looking.addAll(numbers.map(look));
    return bad;
  }

  async #read(record: SaveRecord): Promise<void> {
    try {
      const { content, extents } = await this.#reader.read(record);
      this.#index.add(record.number, content, extents);
    } catch (thrown) {
      if (!isRekindleError(thrown, 'CHECKPOINT_DAMAGED')) throw thrown;
      this.#forget(); // other checkpoints may use the same data
    }
  }

  #forget(): void {
    this.#index = new ChunkIndex();
  }
}

/** Packs of other checkpoints, ascending. */
export function usedPacks(extents: readonly Extent[], own: number): number[] {
  return [...new Set(extents.map(({ pack }) => pack))].filter((pack) => pack !== own).sort((a, b) => a - b);
}
