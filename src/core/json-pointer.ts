/** JSON Pointer (RFC 6901): the place of a value inside another. */
import type { JsonValue } from './json.js';

/** The decoded parts of a pointer; null if it is neither empty nor begins with `/`. */
export function pointerParts(pointer: string): string[] | null {
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) return null;
  return pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The index of an existing item; null if the part names none. */
export function itemIndex(part: string, length: number): number | null {
  const index = /^(?:0|[1-9]\d{0,8})$/.test(part) ? Number(part) : length;
  return index < length ? index : null;
}

/** The value at a pointer; undefined if there is none. Only own properties count. */
export function valueAt(value: JsonValue, pointer: string): JsonValue | undefined {
  let found: JsonValue | undefined = value;
  for (const part of pointerParts(pointer) ?? [null]) {
    if (part === null || typeof found !== 'object' || found === null) return undefined;
    if (Array.isArray(found)) {
      const index = itemIndex(part, found.length);
      found = index === null ? undefined : found[index];
    } else found = Object.hasOwn(found, part) ? found[part] : undefined;
  }
  return found;
}
