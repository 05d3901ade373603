/** A way to tamper with a session. */
import type { SeededRandom } from '../../../src/storage/simulated/seeded-random.js';
import type { SessionFiles, StoredSession } from '../stores.js';

export interface Tampered {
  readonly files: SessionFiles;
  /** What was done, for whoever repeats it. */
  readonly what: string;
}

export interface Mutation {
  readonly kind: string;
  /** By somebody who makes checksums fit: in a session that is not sealed it may change what is said of a checkpoint. */
  readonly crafted: boolean;
  /** Makes whole records and data that are valid but for their codes. */
  readonly valid?: boolean;
  /** Null where there is nothing to do it to. */
  apply(session: StoredSession, others: readonly StoredSession[], random: SeededRandom): Tampered | null;
}

export function replaced(files: SessionFiles, name: string, bytes: Buffer): Map<string, Buffer> {
  return new Map([...files, [name, bytes]]);
}

/** Null for an empty list. */
export function pickOf<T>(random: SeededRandom, list: readonly T[]): T | null {
  return list.length === 0 ? null : random.pick(list);
}

/** A file by its place among the others: the names of data differ from run to run. */
export function labelOf(files: SessionFiles, name: string): string {
  const packs = [...files.keys()].filter(isPack);
  return isPack(name) ? `pack ${packs.indexOf(name) + 1}` : name;
}

export function isPack(name: string): boolean {
  return name.startsWith('packs');
}
