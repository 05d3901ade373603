/** What the records of a session lead to. */
import type { BaseRecord, CheckpointRecord, SaveRecord } from './checkpoint-record.js';
import { numbersIn } from './number-ranges.js';

interface Saved {
  readonly record: SaveRecord;
  /** Of the record that said so. */
  readonly seq: number;
}

/** A record at its place in the journal. */
export interface PlacedRecord {
  readonly seq: number;
  readonly record: CheckpointRecord;
}

export class SessionState {
  /** Also of checkpoints that were removed: others may use their data. By number, ascending. */
  readonly #saves = new Map<number, Saved>();
  readonly #removed = new Set<number>();
  readonly #critical = new Set<number>();
  readonly #marks = new Set<string>();
  /** How many live checkpoints use a pack. */
  readonly #users = new Map<number, number>();
  /** How many records each data key sealed. */
  readonly #keyUses = new Map<string, number>();
  #since: string | null = null;
  #last = 0;
  #spent = 0;

  /** @param key the data key that it is sealed with, if it is */
  apply({ seq, record }: PlacedRecord, key: string | null = null): void {
    if (key !== null) this.#keyUses.set(key, this.usesOf(key) + 1);
    switch (record.type) {
      case 'save':
        this.#since ??= record.at;
        this.#add(record, seq);
        for (const number of record.removes ?? []) this.#remove(number);
        break;
      case 'remove':
        for (const number of record.numbers) this.#remove(number);
        break;
      case 'mark':
        this.#spent += 1;
        if (record.contextKey !== undefined) this.#marks.add(record.contextKey);
        if (record.number !== undefined) this.#critical.add(record.number);
        break;
      case 'base':
        this.#begin(record, seq);
    }
  }

  #begin(record: BaseRecord, seq: number): void {
    this.#since = record.since;
    this.#last = record.last;
    for (const save of record.saves) {
      this.#add(save, seq);
      if (save.removed) this.#remove(save.number);
    }
    for (const key of record.marks) this.#marks.add(key);
    for (const [key, uses] of Object.entries(record.keyUses ?? {}))
      this.#keyUses.set(key, this.usesOf(key) + uses);
    this.#spent = 0;
  }

  #add(record: SaveRecord, seq: number): void {
    const { number } = record;
    if (this.#saves.has(number)) return; // numbers are never used twice: the first one stands
    this.#saves.set(number, { record, seq });
    this.#last = Math.max(this.#last, number);
    if (record.critical) this.#critical.add(number);
    for (const pack of packsOf(record)) this.#users.set(pack, (this.#users.get(pack) ?? 0) + 1);
  }

  #remove(number: number): void {
    const saved = this.#saves.get(number);
    if (!saved || this.#removed.has(number)) return;
    this.#removed.add(number);
    this.#critical.delete(number);
    this.#spent += 1;
    for (const pack of packsOf(saved.record)) {
      const users = (this.#users.get(pack) ?? 1) - 1;
      if (users > 0) this.#users.set(pack, users);
      else this.#users.delete(pack);
    }
    this.#forgetUnused(number);
    for (const used of numbersIn(saved.record.uses)) this.#forgetUnused(used);
  }

  #forgetUnused(number: number): void {
    if (!this.#removed.has(number) || this.#users.has(number)) return;
    this.#saves.delete(number);
    this.#removed.delete(number);
  }

  /** Live ones, oldest first. */
  get checkpoints(): SaveRecord[] {
    return [...this.#saves.values()]
      .map(({ record }) => record)
      .filter(({ number }) => !this.#removed.has(number));
  }

  get newest(): SaveRecord | null {
    return this.checkpoints.at(-1) ?? null;
  }

  /** A live checkpoint. */
  find(number: number): SaveRecord | null {
    return this.#removed.has(number) ? null : (this.#saves.get(number)?.record ?? null);
  }

  /** Who wrote a pack, and where that is said, also when that checkpoint is gone. */
  writerOf(pack: number): Saved | null {
    return this.#saves.get(pack) ?? null;
  }

  /** Whether a live checkpoint uses it. */
  isUsed(pack: number): boolean {
    return this.#users.has(pack);
  }

  isCritical(number: number): boolean {
    return this.#critical.has(number);
  }

  /** Keys that views never drop. */
  get marks(): ReadonlySet<string> {
    return this.#marks;
  }

  /** When the first checkpoint was saved; null for a session that has none. */
  get since(): string | null {
    return this.#since;
  }

  /** The highest number that was given. */
  get last(): number {
    return this.#last;
  }

  /** How many records this data key sealed; each stands for one message under it, or more. */
  usesOf(key: string): number {
    return this.#keyUses.get(key) ?? 0;
  }

  /** How much of the journal is of no use any more, in records. */
  get spent(): number {
    return this.#spent;
  }

  /** Digests of the data that live checkpoints use. */
  get digests(): Set<string> {
    return new Set(
      [...this.#users.keys()].flatMap((pack) => this.#saves.get(pack)?.record.pack.digest ?? []),
    );
  }

  /** Bytes that the data takes; without these checkpoints, and with this one. */
  storedBytes(without: readonly number[] = [], added: SaveRecord | null = null): number {
    const gone = new Set(without);
    const packs = new Set(
      this.checkpoints.filter(({ number }) => !gone.has(number)).flatMap((record) => packsOf(record)),
    );
    for (const pack of numbersIn(added?.uses ?? [])) packs.add(pack);
    let bytes = added?.pack.bytes ?? 0;
    for (const pack of packs) bytes += this.#saves.get(pack)?.record.pack.bytes ?? 0;
    return bytes;
  }

  /** A record that stands for all of them. */
  baseRecord(at: string): BaseRecord {
    const saves = [...this.#saves.values()].map(({ record: { removes: _, ...record } }) => ({
      ...record,
      ...(this.#removed.has(record.number) ? { removed: true as const } : {}),
      ...(this.#critical.has(record.number) ? { critical: true as const } : {}),
    }));
    const { since, last, marks } = this;
    const stored = this.storedBytes();
    const keyUses = this.#keyUses.size === 0 ? {} : { keyUses: Object.fromEntries(this.#keyUses) };
    return { type: 'base', at, since: since ?? at, last, saves, marks: [...marks], stored, ...keyUses };
  }
}

export function packsOf({ number, uses }: SaveRecord): number[] {
  return [number, ...numbersIn(uses)];
}
