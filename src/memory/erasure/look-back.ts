/** Records that quote others by their number: results of the tools that look back, and recalled passages. */
import { isJsonObject, type JsonObject, type JsonValue, textOr, tryParseJson } from '../../core/json.js';

/** Also under the prefix that an MCP client gives to names. */
const LOOK_BACK = /memory_(?:search|read)$/;

/** The numbers of the records that this row quotes. Empty for most rows. */
export function quotedBy(row: JsonObject): readonly number[] {
  if (row['trace_type'] === 'recall') return recalledBy(row['recall']);
  if (row['trace_type'] !== 'tool_result' || !LOOK_BACK.test(textOr(row['tool_name']))) return [];
  return [...recordsIn(row['tool_result'] ?? null), ...recordsIn((row['parts'] as JsonValue) ?? null)];
}

/** @param recall the field of a recalled message: `{passages: ["<record>/<piece>"]}` */
export function recalledBy(recall: JsonValue | undefined): readonly number[] {
  const passages = isJsonObject(recall) ? recall['passages'] : undefined;
  return Array.isArray(passages) ? passages.map((key) => Number.parseInt(String(key), 10)) : [];
}

/** The values of all members `record`. A client may have stored the result as JSON text. */
export function recordsIn(value: JsonValue): number[] {
  if (typeof value === 'string') {
    const parsed = /^\s*[[{]/.test(value) ? tryParseJson(value) : undefined;
    if (parsed !== undefined && typeof parsed === 'object' && parsed !== null) return recordsIn(parsed);
    return [...value.matchAll(/"record"\s*:\s*(\d+)/g)].map(([, number]) => Number(number));
  }
  if (Array.isArray(value)) return value.flatMap(recordsIn);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    key === 'record' && typeof item === 'number' ? [item] : recordsIn(item),
  );
}
