/** Rows about earlier rows: `{id, ts, mark, ids}`. Releases that do not know them ignore them. */
import type { JsonObject } from '../../core/json.js';

const MARKS = ['forget', 'purge', 'pin', 'unpin'] as const;
export type MarkKind = (typeof MARKS)[number];

export interface Mark {
  readonly id: string;
  /** Seconds since 1970. */
  readonly ts: number;
  readonly mark: MarkKind;
  readonly ids: readonly string[];
  /** For a purge: the source whose items were removed. */
  readonly source?: string;
}

export function markToJson({ id, ts, mark, ids, source }: Mark): JsonObject {
  return { id, ts, mark, ids: [...ids], ...(source === undefined ? {} : { source }) };
}

export function markOf(row: JsonObject): MarkKind | null {
  return MARKS.find((kind) => kind === row['mark']) ?? null;
}

/** The rows that a mark names. */
export function namedIds({ ids }: JsonObject): string[] {
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
}

/** Used in place of an id for a row that has none. */
export function rowId(seq: number): string {
  return `row-${seq}`;
}
