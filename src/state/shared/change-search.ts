/** Finds changes in the history of a shared state. */
import type { StateChange } from './shared-table.js';

/** Which changes of a shared state; all given fields must match. */
export interface ChangeQuery {
  readonly key?: string;
  /** The acting session. */
  readonly by?: string;
  /** Only changes with a smaller global version: the next page begins before the last change of this one. */
  readonly before?: number;
  /** Maximum of changes. Default 50. */
  readonly limit?: number;
}

/** Changes of one key, or of several. */
export interface KeyHistory {
  /** Newest first. */
  readonly changes: readonly StateChange[];
  /** False if older matching changes were removed, or left out because of the limit. */
  readonly complete: boolean;
  /** True if the store has older matching changes, which the limit left out. Removed ones do not count. */
  readonly hasMore: boolean;
}

/** A list of changes also ends at this size of its values, in bytes. */
const HISTORY_BYTES = 8 * 1024 * 1024;

/** The newest matching changes, newest first. `all`: none was left out. @param history oldest first */
export async function newestChanges(
  history: AsyncIterable<StateChange>,
  { key, by, before = Number.POSITIVE_INFINITY, limit = 50 }: ChangeQuery,
): Promise<{ readonly changes: StateChange[]; readonly all: boolean }> {
  const changes: StateChange[] = [];
  let bytes = 0;
  let seen = 0;
  for await (const change of history) {
    if (change.globalVersion >= before) break;
    if ((key !== undefined && change.key !== key) || (by !== undefined && change.by !== by)) continue;
    seen += 1;
    changes.push(change); // values are never changed in place
    bytes += change.bytes;
    while (changes.length > limit || (bytes > HISTORY_BYTES && changes.length > 1))
      bytes -= changes.shift()?.bytes ?? 0;
  }
  return { changes: changes.reverse(), all: seen === changes.length };
}
