/**
 * Says what an object is when its own properties do not tell. It looks at what the engine knows of it, so that objects of
 * another realm (a worker, `node:vm`, a test runner) are recognised, and what pretends to be a map is not taken for one.
 */
import { types } from 'node:util';

/** An object of a literal, or without a prototype: nearly every object. */
export function isPlain(input: object): boolean {
  try {
    const prototype: unknown = Object.getPrototypeOf(input);
    return prototype === Object.prototype || prototype === null;
  } catch {
    return true; // a proxy that hides its prototype may have properties all the same
  }
}

/** The primitive inside `Object(1)`, `Object('a')`, `Object(1n)` and the like; null for every other object. */
export function unboxed(input: object): { readonly primitive: unknown } | null {
  if (!types.isBoxedPrimitive(input)) return null;
  if (types.isNumberObject(input)) return { primitive: Number.prototype.valueOf.call(input) };
  if (types.isStringObject(input)) return { primitive: String.prototype.valueOf.call(input) };
  if (types.isBooleanObject(input)) return { primitive: Boolean.prototype.valueOf.call(input) };
  if (types.isBigIntObject(input)) return { primitive: BigInt.prototype.valueOf.call(input) };
  return { primitive: Symbol.prototype.valueOf.call(input) };
}

/** The entries of a map: of a true one by the engine's own method, because a subclass may have another idea of them. */
export function mapEntries(input: object): Iterable<unknown> | null {
  if (types.isMap(input)) return Map.prototype.entries.call(input);
  return input instanceof Map ? input : null;
}

export function setMembers(input: object): Iterable<unknown> | null {
  if (types.isSet(input)) return Set.prototype.values.call(input);
  return input instanceof Set ? input : null;
}

/** A view that shares the memory of the input; null when it holds no bytes. */
export function bytesOf(input: object): Buffer | null {
  if (ArrayBuffer.isView(input)) return Buffer.from(input.buffer, input.byteOffset, input.byteLength);
  return types.isAnyArrayBuffer(input) ? Buffer.from(input) : null;
}

export function timeOf(input: object): number | null {
  return types.isDate(input) ? Date.prototype.getTime.call(input) : null;
}

export function isError(input: object): input is Error {
  return types.isNativeError(input) || input instanceof Error;
}

/** What an error carries beside its name and message. The standard's own fields are not enumerable. */
export function errorKeys(input: Error): string[] {
  const keys = Object.keys(input).filter((key) => key !== 'name' && key !== 'message');
  const standard = ['errors', 'error', 'suppressed'].filter((key) => Object.hasOwn(input, key));
  return [...new Set([...keys, ...standard, ...('cause' in input ? ['cause'] : [])])];
}
