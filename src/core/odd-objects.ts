/**
 * Identifies objects whose own properties do not show what they are. It uses the engine's internal slots: objects of
 * another realm (a worker, `node:vm`, a test runner) are recognised, and an object that only imitates a map is not
 * taken for one. It needs no Node API: `rekindle/messages` must also run in browsers.
 */

/** An object literal, or an object without a prototype: nearly every object. */
export function isPlain(input: object): boolean {
  try {
    const prototype: unknown = Object.getPrototypeOf(input);
    return prototype === Object.prototype || prototype === null;
  } catch {
    return true; // a proxy that hides its prototype may still have properties
  }
}

/** The primitive inside `Object(1)`, `Object('a')`, `Object(1n)` and the like; null for every other object. */
export function unboxed(input: object): { readonly primitive: unknown } | null {
  const box = BOXES.find((kind) => mayBe(input, kind));
  return box ? answerOf(() => ({ primitive: (box.prototype.valueOf as () => unknown).call(input) })) : null;
}

/** The entries of a map, read by the engine's own method because a subclass may override it. */
export function mapEntries(input: object): Iterable<unknown> | null {
  const entries = mayBe(input, Map) ? answerOf(() => Map.prototype.entries.call(input)) : null;
  return entries ?? (input instanceof Map ? input : null);
}

export function setMembers(input: object): Iterable<unknown> | null {
  const members = mayBe(input, Set) ? answerOf(() => Set.prototype.values.call(input)) : null;
  return members ?? (input instanceof Set ? input : null);
}

/** A view that shares the memory of the input; null if the input holds no bytes. */
export function bytesOf(input: object): Uint8Array | null {
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  if (!BUFFERS.some((kind) => mayBe(input, kind))) return null;
  return answerOf(() => {
    const bytes = new Uint8Array(input as ArrayBuffer);
    return bytes.buffer === input ? bytes : null; // anything else would have been treated as a list
  });
}

export function timeOf(input: object): number | null {
  return mayBe(input, Date) ? answerOf(() => Date.prototype.getTime.call(input)) : null;
}

export function isError(input: object): input is Error {
  return input instanceof Error || tagOf(input) === '[object Error]';
}

/** What an error carries besides its name and message. The standard fields are not enumerable. */
export function errorKeys(input: Error): string[] {
  const keys = Object.keys(input).filter((key) => key !== 'name' && key !== 'message');
  const standard = ['errors', 'error', 'suppressed'].filter((key) => Object.hasOwn(input, key));
  return [...new Set([...keys, ...standard, ...('cause' in input ? ['cause'] : [])])];
}

const BOXES = [Number, String, Boolean, BigInt, Symbol];
/** A page without cross-origin isolation has no SharedArrayBuffer. */
const BUFFERS = [ArrayBuffer, ...(typeof SharedArrayBuffer === 'undefined' ? [] : [SharedArrayBuffer])];

/** A cheap first check. What passes may still be an imitation. */
function mayBe(input: object, kind: { readonly name: string; readonly prototype: object }): boolean {
  return tagOf(input) === `[object ${kind.name}]` || inherits(input, kind.prototype);
}

function tagOf(input: object): string | null {
  return answerOf(() => Object.prototype.toString.call(input));
}

function inherits(input: object, prototype: object): boolean {
  return answerOf(() => Object.prototype.isPrototypeOf.call(prototype, input)) ?? false;
}

/** The engine's own methods throw for objects of another kind. */
function answerOf<T>(ask: () => T): T | null {
  try {
    return ask();
  } catch {
    return null;
  }
}
