/** The rules for a document's value: plain JSON that fits its schema, without large texts. */
import { RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue, tryParseJson } from '../../core/json.js';
import type { SchemaViolation } from '../../core/schema-check.js';
import { toJsonValue } from '../../core/to-json-value.js';
import type { StorageRedactor } from '../../storage/storage-redactor.js';
import { SHOWS } from './shown-version.js';
import type { CompiledState } from './state-definition.js';

/** Largest text inside a document, in bytes of UTF-8. Store larger ones with `attach`. */
export const INLINE_BYTES_MAX = 64 * 1024;
/** Largest document, in bytes of JSON. */
export const DOCUMENT_BYTES_MAX = 1024 * 1024;

/** Every reason to refuse a value; empty if it is valid. Nothing is coerced, filled in or changed. */
export function violationsOf(state: CompiledState, value: unknown): SchemaViolation[] {
  const { changes } = toJsonValue(value);
  if (changes.length > 0) {
    return changes.map(({ path, kind }) => ({
      path,
      rule: 'json',
      message: `must be plain JSON (${kind})`,
      value: null,
    }));
  }
  if (isJsonObject(value) && Object.hasOwn(value, SHOWS))
    return [
      {
        path: `/${SHOWS}`,
        rule: 'reserved',
        message: 'is the line of the file, not of the document',
        value: null,
      },
    ];
  return state.violations(value);
}

/** A checked copy of the value. @throws STATE_INVALID with every violation, STATE_TOO_LARGE */
export function checkedValue(state: CompiledState, value: unknown): JsonObject {
  const violations = violationsOf(state, value);
  if (violations.length > 0 || !isJsonObject(value)) throw stateInvalid(state.definition.name, violations);
  const copy = toJsonValue(value).value as JsonObject;
  assertSmall(state.definition.name, copy);
  return copy;
}

/** What a store keeps of a checked value. It is checked again where it changed, because a mask may not fit the schema. @throws as `checkedValue` */
export function storedValue(
  state: CompiledState,
  value: JsonObject,
  redactor: StorageRedactor | null | undefined,
): JsonObject {
  const redacted = redactor?.json(value) ?? value;
  return redacted === value ? value : checkedValue(state, redacted);
}

/** The same for the text of a file: only a redacted document is formatted again. */
export function storedText(text: string, redactor: StorageRedactor): string {
  const value = tryParseJson(text);
  if (value === undefined) return redactor.text(text);
  const redacted = redactor.json(value);
  return redacted === value ? text : `${JSON.stringify(redacted, null, 2)}\n`;
}

export function stateInvalid(name: string, violations: readonly SchemaViolation[]): RekindleError {
  const lines = violations.map(({ path, message }) => `${path === '' ? 'the document' : path} ${message}`);
  const more = lines.length > 3 ? `; and ${lines.length - 3} more` : '';
  return new RekindleError('STATE_INVALID', `${name} is refused: ${lines.slice(0, 3).join('; ')}${more}.`, {
    details: { name, violations: violations as unknown as JsonValue },
  });
}

function assertSmall(name: string, value: JsonObject): void {
  const large = findLarge(value, '');
  const bytes = large?.bytes ?? Buffer.byteLength(JSON.stringify(value));
  const max = large ? INLINE_BYTES_MAX : DOCUMENT_BYTES_MAX;
  if (bytes <= max) return;
  const what = large ? `The text at ${large.path}` : 'The document';
  throw new RekindleError('STATE_TOO_LARGE', `${what} of ${name} has ${bytes} bytes; the limit is ${max}.`, {
    details: { name, path: large?.path ?? '', bytes, max },
  });
}

function findLarge(value: JsonValue, path: string): { readonly path: string; readonly bytes: number } | null {
  if (typeof value === 'string') {
    const bytes = value.length > INLINE_BYTES_MAX / 4 ? Buffer.byteLength(value) : 0;
    return bytes > INLINE_BYTES_MAX ? { path, bytes } : null;
  }
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, item] of Object.entries(value)) {
    const found = findLarge(item, `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
    if (found) return found;
  }
  return null;
}
