/**
 * A writer of a store in PostgreSQL that tells of every call what it asks for, before, and how it ended: appends under leases that
 * several writers contend for, documents, a counter by compare-and-set, blobs.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isRekindleError } from '../../src/core/errors.js';
import type { JsonObject } from '../../src/core/json.js';
import { digestOf } from '../../src/storage/blob-digest.js';
import type { Journal, Lease, StorageBackend } from '../../src/storage/ports.js';
import { SeededRandom } from '../../src/storage/simulated/seeded-random.js';

export const AGENTS = ['ada', 'ben', 'cid', 'dot'] as const;

export function journalOf(agent: string): readonly string[] {
  return ['agents', agent, 'traces'];
}

export type Work =
  | {
      readonly op: 'append';
      readonly agent: string;
      readonly ids: readonly string[];
      readonly expectedSeq?: number;
    }
  /** Content that replaces what stands, whatever it is. */
  | { readonly op: 'write'; readonly name: string; readonly version: number }
  /** What stands there, told as `seq`: nobody else writes it. */
  | { readonly op: 'look'; readonly name: string }
  /** One more entry in a list, by compare-and-set. */
  | { readonly op: 'add'; readonly name: string; readonly id: string }
  | { readonly op: 'put'; readonly digest: string }
  | { readonly op: 'read' | 'take' | 'open' | 'release' | 'close' };

export type WriterEvent =
  | { readonly t: 'begin'; readonly call: string; readonly work: Work }
  /** `code` is null when it went well. */
  | {
      readonly t: 'end';
      readonly call: string;
      readonly code: string | null;
      readonly seq?: number;
      readonly ms: number;
      readonly limitMs: number;
    }
  /** The answer to an append was lost, and found again by its key. */
  | { readonly t: 'found' }
  | { readonly t: 'idle' };

export interface WriterSettings {
  readonly name: string;
  readonly seed: number;
  readonly deadlineMs: number;
}

/** What a call that does not end is told to have ended with. */
export const HUNG = 'no end';
const TTL_MS = 1_000;
const ANSWER_SLACK_MS = 1_000;

export class PostgresWriter {
  readonly #storage: StorageBackend;
  readonly #settings: WriterSettings;
  readonly #tell: (event: WriterEvent) => void;
  readonly #random: SeededRandom;
  #counter = 0;
  #version = 0;
  #round = 0;
  #goes = false;
  #running: Promise<unknown> = Promise.resolve();

  constructor(storage: StorageBackend, settings: WriterSettings, tell: (event: WriterEvent) => void) {
    this.#storage = storage;
    this.#settings = settings;
    this.#tell = tell;
    this.#random = new SeededRandom(settings.seed);
  }

  go(round: number): void {
    this.#round = round;
    this.#goes = true;
    this.#running = Promise.all([this.#appending(), this.#changing()]);
  }

  /** Resolves when no call is under way. */
  async pause(): Promise<void> {
    this.#goes = false;
    await this.#running;
    this.#tell({ t: 'idle' });
  }

  /** @param operations how many operations of the engine it is made of, each of which has the deadline for itself */
  async call<T>(
    work: Work,
    run: () => Promise<T>,
    operations = 1,
  ): Promise<{ readonly value: T | null; readonly code: string | null }> {
    const call = `${this.#settings.name}.${++this.#counter}`;
    const limitMs = operations * this.#settings.deadlineMs + ANSWER_SLACK_MS;
    const start = performance.now();
    this.#tell({ t: 'begin', call, work });
    const late = new AbortController();
    // A call that is late is told with its time; one that never ends must not hold up the others for ever.
    const hung = sleep(2 * limitMs, null, { signal: late.signal }).catch(() => null);
    let value: T | null = null;
    let code: string | null = null;
    try {
      const ended = await Promise.race([run().then((answer) => ({ answer })), hung]);
      value = ended?.answer ?? null;
      if (ended === null) code = HUNG;
    } catch (thrown) {
      code = isRekindleError(thrown) ? thrown.code : String(thrown);
    }
    late.abort();
    if (code === HUNG) this.#goes = false;
    const seq = (value as { readonly seq?: unknown } | null)?.seq;
    const ms = Math.round(performance.now() - start);
    this.#tell({ t: 'end', call, code, ...(typeof seq === 'number' ? { seq } : {}), ms, limitMs });
    return { value, code };
  }

  async #appending(): Promise<void> {
    while (this.#goes) {
      const agent = this.#random.pick(AGENTS);
      const taken = await this.call({ op: 'take' }, () => this.#take(agent), 2);
      if (taken.value) await this.#own(agent, taken.value);
      else await sleep(20 + this.#random.below(60));
    }
  }

  #take(agent: string): Promise<Lease> {
    return this.#storage.leases.acquire(['agents', agent], { ttlMs: TTL_MS });
  }

  async #own(agent: string, lease: Lease): Promise<void> {
    const opened = await this.call({ op: 'open' }, () =>
      this.#storage.openJournal<JsonObject>(journalOf(agent), { lease }),
    );
    const journal = opened.value;
    let unsure = false;
    for (let left = 5 + this.#random.below(40); journal && lease.held && this.#goes && left > 0; left -= 1) {
      const codes = await this.#appendSome(agent, journal, unsure);
      unsure = codes.includes('JOURNAL_OUTCOME_UNKNOWN') || (unsure && codes.includes('STORAGE_UNAVAILABLE'));
      await sleep(this.#random.below(8));
    }
    if (journal) await this.call({ op: 'close' }, () => journal.close());
    await this.call({ op: 'release' }, () => lease.release());
  }

  /** Mostly one, sometimes several at once, sometimes one that relies on the number of the last. */
  async #appendSome(
    agent: string,
    journal: Journal<JsonObject>,
    unsure: boolean,
  ): Promise<(string | null)[]> {
    const dice = this.#random.below(12);
    if (dice === 0) return [await this.#relying(agent, journal)];
    const many = dice < 3 ? 3 : 1;
    return Promise.all(Array.from({ length: many }, () => this.#append(agent, journal, unsure ? 2 : 1)));
  }

  async #relying(agent: string, journal: Journal<JsonObject>): Promise<string | null> {
    const head = await this.call({ op: 'read' }, () => journal.head());
    if (head.value === null) return head.code;
    const wrong = this.#random.below(3) === 0 ? 1 : 0;
    return this.#append(agent, journal, 1, head.value.seq + wrong);
  }

  async #append(
    agent: string,
    journal: Journal<JsonObject>,
    operations: number,
    expectedSeq?: number,
  ): Promise<string | null> {
    const { name } = this.#settings;
    const ids = Array.from(
      { length: 1 + this.#random.below(3) },
      (_, index) => `${name}.${this.#counter}.${index}`,
    );
    const options = expectedSeq === undefined ? {} : { expectedSeq };
    const records = ids.map((id) => ({ id, text: 'x'.repeat(this.#random.below(300)) }));
    const work: Work = { op: 'append', agent, ids, ...options };
    return (await this.call(work, () => journal.append(records, options), operations)).code;
  }

  async #changing(): Promise<void> {
    const { name } = this.#settings;
    while (this.#goes) {
      const dice = this.#random.below(3);
      if (dice === 0) await this.#add(`list-${this.#round}`);
      else if (dice === 1) await this.#write(`own-${name}`);
      else await this.#put();
      await sleep(this.#random.below(20));
    }
  }

  async #add(name: string): Promise<void> {
    const place = ['documents', name];
    const read = await this.call({ op: 'read' }, () => this.#storage.documents.read(place));
    if (read.code !== null) return;
    const { ids = [] } = (read.value?.value ?? {}) as { readonly ids?: readonly string[] };
    const id = `${this.#settings.name}.${this.#counter}`;
    const ifVersion = read.value?.version ?? null;
    const value = { ids: [...ids, id] };
    await this.call({ op: 'add', name, id }, () =>
      this.#storage.documents.write(place, value, { ifVersion }),
    );
  }

  async #write(name: string): Promise<void> {
    const { documents } = this.#storage;
    const place = ['documents', name];
    await this.call({ op: 'look', name }, async () => {
      const stored = (await documents.read(place))?.value as { readonly version: number } | undefined;
      return { seq: stored?.version ?? 0 };
    });
    const version = ++this.#version;
    const value = { version, text: 'y'.repeat(this.#random.below(12_000)) };
    await this.call({ op: 'write', name, version }, () => documents.write(place, value));
  }

  async #put(): Promise<void> {
    const { name } = this.#settings;
    const bytes = Buffer.from(`${name} ${this.#counter} ${'z'.repeat(this.#random.below(8_000))}`);
    await this.call({ op: 'put', digest: digestOf(bytes) }, () => this.#storage.blobs(['blobs']).put(bytes));
  }
}
