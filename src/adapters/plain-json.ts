/** Copies values of other libraries as plain JSON, exactly, or refuses them. As in JSON, undefined properties are dropped and -0 is 0. */
import { RekindleError } from '../core/errors.js';
import { type JsonObject, type JsonValue, setOwn } from '../core/json.js';
import { JSON_DEPTH_MAX, RECORD_BYTES_MAX } from '../core/limits.js';

/**
 * Every value takes at least two bytes, so no record can contain more. A limit is needed because shared parts
 * can multiply without end.
 */
const VALUES_MAX = RECORD_BYTES_MAX / 2;

/** How to write more than JSON has. */
export interface PlainJsonForms {
  /** The form of a value that is not JSON; undefined if it is to be refused. */
  readonly other?: (input: unknown) => JsonValue | undefined;
  /** The form of a copied object. */
  readonly object?: (copy: JsonObject) => JsonObject;
}

/** @throws INVALID_ARGUMENT with the place of what cannot be stored */
export function plainObjects(items: unknown, argument: string, forms: PlainJsonForms = {}): JsonObject[] {
  if (!Array.isArray(items)) throw refused(argument, 'it must be an array');
  const copying = new Copying(forms);
  return Array.from(items, (item: unknown, index) => copying.whole(item, `${argument}[${index}]`));
}

/** @throws INVALID_ARGUMENT with the place of what cannot be stored */
export function plainObject(item: unknown, argument: string, forms: PlainJsonForms = {}): JsonObject {
  return new Copying(forms).whole(item, argument);
}

class Copying {
  readonly #forms: PlainJsonForms;
  #room = VALUES_MAX;

  constructor(forms: PlainJsonForms) {
    this.#forms = forms;
  }

  whole(item: unknown, at: string): JsonObject {
    if (!isPlainObject(item)) throw refused(at, 'it must be a plain object');
    return this.#object(item, at, 1);
  }

  #value(input: unknown, at: string, depth: number): JsonValue {
    if (--this.#room < 0 || depth > JSON_DEPTH_MAX) throw refused(at, 'it is too large or nested too deep');
    if (input === null || typeof input === 'string' || typeof input === 'boolean') return input;
    if (typeof input === 'number' && Number.isFinite(input)) return input;
    if (Array.isArray(input))
      return Array.from(input, (member: unknown, index) => this.#value(member, `${at}[${index}]`, depth + 1));
    const other = this.#forms.other?.(input);
    if (other !== undefined) return other;
    if (isPlainObject(input)) return this.#object(input, at, depth);
    throw refused(at, `JSON cannot represent ${kindOf(input)}`);
  }

  #object(input: object, at: string, depth: number): JsonObject {
    const result: JsonObject = {};
    for (const [key, value] of Object.entries(input))
      if (value !== undefined) setOwn(result, key, this.#value(value, `${at}.${key}`, depth + 1));
    return this.#forms.object?.(result) ?? result;
  }
}

function isPlainObject(input: unknown): input is object {
  if (typeof input !== 'object' || input === null) return false;
  const prototype: unknown = Object.getPrototypeOf(input);
  // Also accept a literal of another realm, such as a worker or a test runner.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function kindOf(input: unknown): string {
  if (typeof input !== 'object' || input === null)
    return typeof input === 'number' ? String(input) : typeof input;
  return Object.prototype.toString.call(input).slice('[object '.length, -1);
}

function refused(argument: string, problem: string): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `${argument} cannot be stored: ${problem}.`, {
    details: { argument: argument.toWellFormed().slice(0, 200), problem },
  });
}
