/** Assembles the content of a checkpoint from the packs with its parts. */
import PQueue from 'p-queue';
import type { Extent } from '../content/content-plan.js';
import { contentDigest, type Pack } from '../content/pack.js';
import type { SaveRecord } from './checkpoint-record.js';
import { damaged } from './damaged.js';
import type { PackStore } from './pack-store.js';
import { packsOf, type SessionState } from './session-state.js';

/** The JSON text of a context, and the places of its parts. */
export interface StoredContent {
  readonly content: Buffer;
  readonly extents: readonly Extent[];
}

/** A bounded cache of packs. */
export class PackCache {
  readonly #packs = new Map<number, Promise<Pack>>();
  #bytes = 0;

  async get(number: number, read: () => Promise<Pack>): Promise<Pack> {
    const known = this.#packs.get(number);
    if (known) return known;
    const reading = read();
    this.#packs.set(number, reading);
    const pack = await reading;
    this.#bytes += pack.data.length;
    if (this.#bytes > CACHE_BYTES) this.#clear();
    return pack;
  }

  #clear(): void {
    this.#packs.clear();
    this.#bytes = 0;
  }
}

const CACHE_BYTES = 64 * 1024 * 1024;

/** Packs that are read at the same time. */
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
  async read(record: SaveRecord, cache: PackCache = new PackCache()): Promise<StoredContent> {
    const packs = await this.#readPacks(record, cache);
    const { extents, digest } = packs.get(record.number)!;
    const bytes = extents.reduce((sum, { length }) => sum + length, 0);
    if (bytes !== record.context.bytes)
      throw damaged(
        this.#session,
        record.number,
        `its parts are ${bytes} bytes, not ${record.context.bytes}`,
      );
    const content = Buffer.allocUnsafe(bytes);
    let at = 0;
    for (const { pack, offset, length } of extents) {
      const data = packs.get(pack)?.data;
      if (!data || offset + length > data.length)
        throw damaged(
          this.#session,
          record.number,
          `it refers to what ${this.#session}@${pack} does not have`,
        );
      at += data.copy(content, at, offset, offset + length);
    }
    if (contentDigest(this.#session, record.number, content).equals(digest)) return { content, extents };
    throw damaged(this.#session, record.number, 'its content does not match its digest');
  }

  async #readPacks(record: SaveRecord, cache: PackCache): Promise<Map<number, Pack>> {
    const packs = new Map<number, Pack>();
    const reading = new PQueue({ concurrency: READS });
    const read = (number: number) => async () => {
      packs.set(number, await cache.get(number, () => this.#pack(record.number, number)));
    };
    await reading.addAll(packsOf(record).map(read));
    return packs;
  }

  async #pack(user: number, number: number): Promise<Pack> {
    const writer = this.#state().writerOf(number);
    if (writer) return this.#packs.get(number, writer.pack);
    const problem = `the record of ${this.#session}@${number} is missing, whose data it uses`;
    throw damaged(this.#session, user, problem);
  }
}
