/** Checks a row before it becomes durable, so that a later restore can read it. */
import { RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import type { Message } from '../../messages/message.js';
import { messageFromJson } from '../../messages/message-serializer.js';
import { traceFromJson } from './trace-serializer.js';

/** Fields with a required shape: a wrong value would be stored, but no request would contain it. */
const SHAPED = [
  ['parts', 'parts'],
  ['reasoning', 'reasoning'],
  ['provider_items', 'providerItems'],
  ['origin', 'origin'],
  ['status', 'status'],
] as const;

/** @throws MESSAGE_INVALID */
export function assertTrace(row: JsonObject): void {
  const trace = traceFromJson(row);
  if (trace.type === 'user' || trace.type === 'assistant' || trace.type === 'recall')
    assertShapes(row, trace.message);
  if (trace.type === 'tool_result' && isGiven(row['parts']))
    assertShapes(row, messageFromJson({ role: 'tool', content: null, parts: row['parts']! }));
}

function assertShapes(row: JsonObject, read: Message): void {
  for (const [key, name] of SHAPED) {
    if (!isGiven(row[key]) || read[name] !== undefined) continue;
    throw new RekindleError('MESSAGE_INVALID', `The field \`${key}\` has the wrong shape.`, {
      details: { field: key },
    });
  }
}

function isGiven(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null) return false;
  if (Array.isArray(value)) return value.length > 0;
  return !isJsonObject(value) || Object.keys(value).length > 0;
}
