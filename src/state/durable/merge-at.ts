/** Applies a merge patch (RFC 7396) at a place inside a document, so that one item of a list can be changed. */
import { RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonValue, setOwn } from '../../core/json.js';
import { itemIndex, pointerParts } from '../../core/json-pointer.js';
import { mergePatch } from '../../core/merge-patch.js';
import { toJsonValue } from '../../core/to-json-value.js';

/**
 * A new document. The place must exist, or be a new member of an object, or `-`: the end of a list.
 * @throws INVALID_ARGUMENT for a pointer without a place, and for a patch that is not plain JSON
 */
export function mergeAt(document: JsonValue, pointer: string, patch: unknown): JsonValue {
  const { value, changes } = toJsonValue(patch);
  if (changes[0]) {
    const { kind, path } = changes[0];
    throw invalid('patch', `The patch must be plain JSON (${kind} at ${JSON.stringify(path)}).`);
  }
  const parts = pointerParts(pointer);
  if (parts === null)
    throw invalid(
      'pointer',
      `${JSON.stringify(pointer)} is not a JSON Pointer: it must be empty or begin with "/".`,
    );
  return merged(document, parts, value, () =>
    invalid('pointer', `There is no place ${JSON.stringify(pointer)} in the document.`),
  );
}

function merged(
  value: JsonValue | undefined,
  [part, ...rest]: readonly string[],
  patch: JsonValue,
  noPlace: () => RekindleError,
): JsonValue {
  if (part === undefined) return mergePatch(value, patch);
  if (Array.isArray(value)) {
    const isEnd = part === '-' && rest.length === 0;
    const index = isEnd ? value.length : itemIndex(part, value.length);
    if (index === null) throw noPlace();
    return value.toSpliced(index, 1, merged(value[index], rest, patch, noPlace));
  }
  if (!isJsonObject(value) || (rest.length > 0 && !Object.hasOwn(value, part))) throw noPlace();
  const copy = mergePatch(value, {}) as { [key: string]: JsonValue };
  setOwn(copy, part, merged(Object.hasOwn(value, part) ? value[part] : undefined, rest, patch, noPlace));
  return copy;
}

function invalid(argument: string, problem: string): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `${problem} Nothing was changed.`, { details: { argument } });
}
