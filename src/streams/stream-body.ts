/** The body of a request as what it adds to a stream. */
import { RekindleError } from '../core/errors.js';
import type { JsonValue } from '../core/json.js';
import { quoteLargeIntegers } from '../core/json-digits.js';
import { isNestedDeeper } from '../core/json-text-depth.js';
import { JSON_DEPTH_MAX } from '../core/limits.js';
import type { StreamPayload } from './stream-record.js';
import { isJsonType } from './stream-type.js';

/** The journal's own nesting around a message. */
const RECORD_DEPTH = 4;

/**
 * A JSON stream takes one message, or a list of messages; any other takes bytes. Null: nothing to add (no bytes, or an empty list).
 * @throws INVALID_ARGUMENT for a body that is not JSON, or has numbers that would be rounded; LIMIT_EXCEEDED for deep nesting
 */
export function payloadOf(type: string, body: Uint8Array): StreamPayload | null {
  if (body.length === 0) return null;
  if (!isJsonType(type)) return { kind: 'bytes', bytes: body };
  const value = parsed(body);
  const messages = Array.isArray(value) ? value : [value];
  return messages.length === 0 ? null : { kind: 'messages', messages };
}

function parsed(body: Uint8Array): JsonValue {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    if (isNestedDeeper(text, JSON_DEPTH_MAX - RECORD_DEPTH)) throw tooDeep();
    const value = JSON.parse(text) as JsonValue;
    if (quoteLargeIntegers(text) === text) return value;
  } catch (cause) {
    if (cause instanceof RekindleError) throw cause;
    throw new RekindleError('INVALID_ARGUMENT', 'The body is not JSON.', {
      details: { field: 'body' },
      cause,
    });
  }
  throw new RekindleError(
    'INVALID_ARGUMENT',
    'The body has a number with too many digits (above 2^53), which would be rounded. Send it as text.',
    { details: { field: 'body', problem: 'number' } },
  );
}

function tooDeep(): RekindleError {
  const allowed = JSON_DEPTH_MAX - RECORD_DEPTH;
  return new RekindleError('LIMIT_EXCEEDED', `The body is nested more than ${allowed} levels deep.`, {
    details: { limit: 'depth', allowed },
  });
}
