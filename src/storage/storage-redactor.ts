/** The part of a redactor that storage needs. */
import type { JsonValue } from '../core/json.js';

/**
 * Takes sensitive text out of values before they are stored. Idempotent; it returns the same value when there is nothing to take. Code
 * that keeps a record in memory beside the journal passes the record through it first, so that both are equal.
 */
export interface StorageRedactor {
  /** @throws SENSITIVE_DATA where a kind must not be stored at all */
  json<T extends JsonValue>(value: T): T;
  /** @throws SENSITIVE_DATA */
  text(text: string): string;
}
