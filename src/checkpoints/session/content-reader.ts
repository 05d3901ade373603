/** Puts the content of a checkpoint together from the packs that hold its parts. */
import { hash } from 'node:crypto';
import PQueue from 'p-queue';
import type { Extent } from '../content/content-plan.js';
import type { Pack } from '../content/pack.js';
import type { SaveRecord } from './checkpoint-record.js';
import { damaged } from './damaged.js';
import type { PackStore } from './pack-store.js';
import { packsOf, type SessionState } from './session-state.js';

/** The JSON text of a context, and where its parts are. */
export interface StoredContent {
  readonly content: Buffer;
  readonly extents: readonly Extent[];
}

/** Packs that were read, by number. */
export type PackCache = Map<number, Promise<Pack>>;

/** Packs that are read at once. */
const READS = 8;

export class ContentReader {
  readonly #session: string;
  readonly #packs: PackStore;
  readonly #state: () => SessionState;

  constructor(session: string, packs: PackStore, state: () => SessionState) {
    this.#session = session;
    this.#packs = packs;
    this.#state = state;
  }

  /** @throws CHECKPOINT_DAMAGED, KEY_UNAVAILABLE, STORAGE_UNAVAILABLE */
  async read(record: SaveRecord, cache: PackCache = new Map()): Promise<StoredContent> {
    const packs = await this.#readPacks(record, cache);
    const { extents, digest } = packs.get(record.number)!;
    const content = Buffer.allocUnsafe(record.context.bytes);
    let at = 0;
    for (const { pack, offset, length } of extents) {
      const data = packs.get(pack)?.data;
      if (!data || offset + length > data.length || at + length > content.length)
        throw damaged(
          this.#session,
          record.number,
          `it refers to what ${this.#session}@${pack} does not have`,
        );
      at += data.copy(content, at, offset, offset + length);
    }
    if (at === content.length && hash('sha256', content, 'buffer').equals(digest))
      return { content, extents };
    throw damaged(this.#session, record.number, 'its content does not match its digest');
  }

  async #readPacks(record: SaveRecord, cache: PackCache): Promise<Map<number, Pack>> {
    const packs = new Map<number, Pack>();
    const reading = new PQueue({ concurrency: READS });
    const read = (number: number) => async () => {
      const known = cache.get(number) ?? this.#pack(record.number, number);
      cache.set(number, known);
      packs.set(number, await known);
    };
    await reading.addAll(packsOf(record).map(read));
    return packs;
  }

  async #pack(user: number, number: number): Promise<Pack> {
    const writer = this.#state().writerOf(number);
    if (writer) return this.#packs.get(number, writer.record.pack);
    const problem = `the record of ${this.#session}@${number} is missing, whose data it uses`;
    throw damaged(this.#session, user, problem);
  }
}
