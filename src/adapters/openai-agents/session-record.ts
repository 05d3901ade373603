/**
 * One record of a session's journal: one change, stored completely or not at all.
 *
 *     {"op":"add","at":"2026-03-01T10:00:00.000Z","items":[{"type":"message","role":"user","content":"Hello"}]}
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';

export type SessionChange =
  | { readonly op: 'add'; readonly items: readonly JsonObject[] }
  | { readonly op: 'pop' }
  | { readonly op: 'clear' }
  /** What came before is replaced by its compaction. */
  | { readonly op: 'compact'; readonly items: readonly JsonObject[] }
  /** Removes the last `drop` items and adds others. */
  | {
      readonly op: 'transaction';
      readonly operation_id: string;
      /** SHA-256 of the transaction as canonical JSON, in hex. */
      readonly digest: string;
      readonly drop: number;
      readonly items: readonly JsonObject[];
    }
  | { readonly op: 'rewrite'; readonly replacements: readonly CallReplacement[] };

/** The first call with this id becomes `item`; others with the same id are removed. */
export interface CallReplacement {
  readonly call_id: string;
  readonly item: JsonObject;
}

/** `atMs` milliseconds since 1970. */
export function encodeChange(change: SessionChange, atMs: number): JsonObject {
  const { op, ...rest } = change;
  return { op, at: new Date(atMs).toISOString(), ...(rest as unknown as JsonObject) };
}

/** Null for an unknown kind. */
export function decodeChange(record: JsonObject): SessionChange | null {
  const { op, items, operation_id, digest, drop, replacements } = record;
  if (op === 'pop' || op === 'clear') return { op };
  if ((op === 'add' || op === 'compact') && areItems(items)) return { op, items };
  if (op === 'rewrite' && Array.isArray(replacements) && replacements.every(isReplacement))
    return { op, replacements };
  if (op !== 'transaction' || !areItems(items) || typeof drop !== 'number') return null;
  if (typeof operation_id !== 'string' || typeof digest !== 'string') return null;
  return { op, operation_id, digest, drop, items };
}

function areItems(value: JsonValue | undefined): value is JsonObject[] {
  return Array.isArray(value) && value.every(isJsonObject);
}

function isReplacement(value: unknown): value is CallReplacement & JsonObject {
  return isJsonObject(value) && typeof value['call_id'] === 'string' && isJsonObject(value['item']);
}
