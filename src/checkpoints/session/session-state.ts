/** The state of a session after its records. */
import type {
  BaseRecord,
  BaseSave,
  CheckpointRecord,
  CheckpointStatus,
  SaveRecord,
  StatusChange,
} from './checkpoint-record.js';
import { numbersIn } from './number-ranges.js';

/** A record at its place in the journal. */
export interface PlacedRecord {
  readonly seq: number;
  readonly record: CheckpointRecord;
}

/**
 * How long the time of release is remembered across base records. A longer grace time counts from when the
 * data was stored.
 */
const FREED_DAYS = 30;
const DAY_MS = 86_400_000;

export class SessionState {
  /** Includes removed checkpoints, whose data others may use. By number, ascending. */
  readonly #saves = new Map<number, SaveRecord>();
  readonly #removed = new Set<number>();
  readonly #critical = new Set<number>();
  readonly #archived = new Set<number>();
  readonly #corrupt = new Set<number>();
  readonly #marks = new Set<string>();
  /** Number of live checkpoints that use a pack. */
  readonly #users = new Map<number, number>();
  /** Since when no live checkpoint uses the data, by digest. */
  readonly #freed = new Map<string, string>();
  /** Number of records that each data key sealed. */
  readonly #keyUses = new Map<string, number>();
  #since: string | null = null;
  #beganAt = 0;
  #spent = 0;
  #removals = 0;

  /** False for a record that is impossible at this place. @param key the data key that sealed it, if any */
  apply({ seq, record }: PlacedRecord, key: string | null = null): boolean {
    if (record.type === 'save' && record.number !== seq) return false;
    if (key !== null) this.#keyUses.set(key, this.usesOf(key) + 1);
    switch (record.type) {
      case 'save':
        this.#since ??= record.at;
        this.#add(record);
        for (const number of record.removes ?? []) this.#remove(number, record.at);
        break;
      case 'remove':
        for (const number of record.numbers) this.#remove(number, record.at);
        break;
      case 'mark':
        this.#spent += 1;
        if (record.contextKey !== undefined) this.#marks.add(record.contextKey);
        if (record.number !== undefined) this.#critical.add(record.number);
        break;
      case 'status':
        this.#spent += 1;
        for (const number of record.numbers) this.#setStatus(number, record);
        break;
      case 'lost':
        break; // the log handles it
      case 'base':
        this.#begin(record, seq);
    }
    return true;
  }

  #begin(record: BaseRecord, seq: number): void {
    this.#since = record.since;
    this.#beganAt = seq;
    for (const save of record.saves) {
      this.#add(save);
      this.#setStatus(save.number, save);
    }
    for (const save of record.saves) if (save.removed) this.#remove(save.number, record.at);
    for (const key of record.marks) this.#marks.add(key);
    for (const [digest, at] of Object.entries(record.freed)) this.#freed.set(digest, at);
    for (const [key, uses] of Object.entries(record.keyUses)) this.#keyUses.set(key, this.usesOf(key) + uses);
    this.#spent = 0;
  }

  #add(record: SaveRecord): void {
    const { number } = record;
    this.#saves.set(number, record);
    this.#freed.delete(record.pack.digest);
    if (record.critical) this.#critical.add(number);
    for (const pack of packsOf(record)) this.#users.set(pack, (this.#users.get(pack) ?? 0) + 1);
  }

  #setStatus(number: number, { archived, corrupt }: StatusChange): void {
    if (this.find(number) === null) return;
    if (archived === true) this.#archived.add(number);
    if (archived === false) this.#archived.delete(number);
    if (corrupt === true) this.#corrupt.add(number);
    if (corrupt === false) this.#corrupt.delete(number);
  }

  #remove(number: number, at: string): void {
    const record = this.#saves.get(number);
    if (!record || this.#removed.has(number)) return;
    this.#removed.add(number);
    this.#critical.delete(number);
    this.#archived.delete(number);
    this.#corrupt.delete(number);
    this.#spent += 1;
    this.#removals += 1;
    for (const pack of packsOf(record)) {
      const users = (this.#users.get(pack) ?? 1) - 1;
      if (users > 0) this.#users.set(pack, users);
      else this.#users.delete(pack);
    }
    for (const pack of packsOf(record)) this.#forgetUnused(pack, at);
  }

  #forgetUnused(number: number, at: string): void {
    const record = this.#saves.get(number);
    if (!record || !this.#removed.has(number) || this.#users.has(number)) return;
    this.#freed.set(record.pack.digest, at);
    this.#saves.delete(number);
    this.#removed.delete(number);
  }

  /** Live checkpoints, oldest first. */
  get checkpoints(): SaveRecord[] {
    return [...this.#saves.values()].filter(({ number }) => !this.#removed.has(number));
  }

  /** Archived ones aside. */
  get newest(): SaveRecord | null {
    return this.checkpoints.findLast(({ number }) => !this.#archived.has(number)) ?? null;
  }

  statusOf(number: number): CheckpointStatus {
    if (this.#corrupt.has(number)) return 'corrupt';
    return this.#archived.has(number) ? 'archived' : 'active';
  }

  /** Whether the change would be one. */
  differsFrom(number: number, { archived, corrupt }: StatusChange): boolean {
    return (
      (archived !== undefined && archived !== this.#archived.has(number)) ||
      (corrupt !== undefined && corrupt !== this.#corrupt.has(number))
    );
  }

  /** A live checkpoint. */
  find(number: number): SaveRecord | null {
    return this.#removed.has(number) ? null : (this.#saves.get(number) ?? null);
  }

  /** The checkpoint that wrote a pack, even if it was removed. */
  writerOf(pack: number): SaveRecord | null {
    return this.#saves.get(pack) ?? null;
  }

  /** Whether a live checkpoint uses it. */
  isUsed(pack: number): boolean {
    return this.#users.has(pack);
  }

  isCritical(number: number): boolean {
    return this.#critical.has(number);
  }

  /** Keys that no view drops. */
  get marks(): ReadonlySet<string> {
    return this.#marks;
  }

  /** When the first checkpoint was saved; null if there is none. */
  get since(): string | null {
    return this.#since;
  }

  /** The number of the base record that replaced earlier ones; 0 if there is none. */
  get beganAt(): number {
    return this.#beganAt;
  }

  /** Grows with each removed checkpoint. */
  get removals(): number {
    return this.#removals;
  }

  /** Since when no live checkpoint uses this data, ISO 8601; null if unknown. */
  freedAt(digest: string): string | null {
    return this.#freed.get(digest) ?? null;
  }

  /** Number of records that this data key sealed; each one stands for at least one message. */
  usesOf(key: string): number {
    return this.#keyUses.get(key) ?? 0;
  }

  /** Number of obsolete records in the journal. */
  get spent(): number {
    return this.#spent;
  }

  /** Digests of the data that live checkpoints use. */
  get digests(): Set<string> {
    return new Set([...this.#users.keys()].flatMap((pack) => this.#saves.get(pack)?.pack.digest ?? []));
  }

  /** Bytes of the data, without some checkpoints and with a new one. */
  storedBytes(without: readonly number[] = [], added: SaveRecord | null = null): number {
    const gone = new Set(without);
    const packs = new Set(
      this.checkpoints.filter(({ number }) => !gone.has(number)).flatMap((record) => packsOf(record)),
    );
    for (const pack of numbersIn(added?.uses ?? [])) packs.add(pack);
    let bytes = added?.pack.bytes ?? 0;
    for (const pack of packs) bytes += this.#saves.get(pack)?.pack.bytes ?? 0;
    return bytes;
  }

  #baseSave({ removes: _, ...record }: SaveRecord): BaseSave {
    const { number } = record;
    return {
      ...(this.#removed.has(number) ? { ...unlabelled(record), removed: true } : record),
      ...(this.#critical.has(number) ? { critical: true } : {}),
      ...(this.#archived.has(number) ? { archived: true } : {}),
      ...(this.#corrupt.has(number) ? { corrupt: true } : {}),
    };
  }

  /** A record that replaces all of them. */
  baseRecord(at: string, chain: string): BaseRecord {
    const saves = [...this.#saves.values()].map((record) => this.#baseSave(record));
    const oldest = new Date(Date.parse(at) - FREED_DAYS * DAY_MS).toISOString();
    return {
      type: 'base',
      at,
      since: this.#since ?? at,
      saves,
      marks: [...this.#marks],
      freed: Object.fromEntries([...this.#freed].filter(([, since]) => since > oldest)),
      keyUses: Object.fromEntries(this.#keyUses),
      chain,
      stored: this.storedBytes(),
    };
  }
}

/** A removed checkpoint is kept only for its data. */
function unlabelled({
  name,
  agent,
  workflow,
  tags,
  kind,
  layers,
  leftOut,
  ...record
}: SaveRecord): SaveRecord {
  return record;
}

export function packsOf({ number, uses }: SaveRecord): number[] {
  return [number, ...numbersIn(uses)];
}
