/**
 * A context as it is stored: JSON text that loads exactly. Values that JSON cannot represent are refused,
 * with their place.
 */
import { hash } from 'node:crypto';
import { canonicalJson } from '../../core/canonical-json.js';
import { RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import { JSON_DEPTH_MAX } from '../../core/limits.js';
import type { StorageRedactor } from '../../storage/storage-redactor.js';

export interface ContextContent {
  /** What is stored: as given, or redacted. */
  readonly context: JsonObject;
  /** JSON text, as UTF-8. Keys stay in their order. */
  readonly content: Buffer;
  /** SHA-256 of the canonical JSON (RFC 8785), hex. Independent of the order of keys. */
  readonly hash: string;
  /** Bytes of each value as JSON, by key. */
  readonly sizes: ReadonlyMap<string, number>;
}

/** Largest context, in bytes of JSON text. */
export const CONTEXT_BYTES_MAX = 64 * 1024 * 1024;

/**
 * A context without the keys at its top that are of the running program only, and their names. What is not a plain object stays as it
 * is, to be refused.
 */
export function withoutRuntimeKeys(
  given: unknown,
  isRuntimeKey?: (key: string, value: unknown) => boolean,
): { readonly given: unknown; readonly leftOut: readonly string[] } {
  if (!isRuntimeKey || !isJsonObject(given) || !isPlain(given)) return { given, leftOut: [] };
  const leftOut = Object.keys(given).filter((key) => isRuntimeKey(key, given[key]));
  const gone = new Set(leftOut);
  const kept = Object.entries(given).filter(([key]) => !gone.has(key));
  return { given: Object.fromEntries(kept), leftOut };
}

/** Drops `undefined` properties and stores -0 as 0, like JSON. @throws INVALID_ARGUMENT, LIMIT_EXCEEDED */
export function contextContent(given: unknown, redactor: StorageRedactor | null = null): ContextContent {
  if (!isJsonObject(given)) throw refused({ path: '', problem: 'a context is a JSON object' });
  const found = problemIn(given, 0);
  if (found) throw refused(found);
  const context = redactor?.json(given) ?? given;
  const sizes = new Map<string, number>();
  const parts: Buffer[] = [];
  let bytes = 2;
  for (const [key, value] of Object.entries(context)) {
    if (value === undefined) continue;
    const json = Buffer.from(JSON.stringify(value), 'utf8');
    const start = Buffer.from(`${parts.length === 0 ? '{' : ','}${JSON.stringify(key)}:`, 'utf8');
    parts.push(start, json);
    sizes.set(key, json.length);
    bytes += start.length + json.length;
    if (bytes > CONTEXT_BYTES_MAX) throw tooLarge(bytes);
  }
  const content = Buffer.concat([...parts, Buffer.from(parts.length === 0 ? '{}' : '}')]);
  return { context, content, hash: contextHash(context), sizes };
}

export function contextHash(context: JsonValue): string {
  return hash('sha256', canonicalJson(context), 'hex');
}

/** The session id of a workflow that begins with this context. */
export function derivedSessionId(workflowId: string | null, contextHashHex: string): string {
  return `session_${contextHash([workflowId, contextHashHex]).slice(0, 32)}`;
}

interface Problem {
  /** JSON Pointer. */
  readonly path: string;
  readonly problem: string;
}

/** The path is built only when a problem is found, because most contexts have none. */
function problemIn(value: unknown, depth: number): Problem | null {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return null;
  if (typeof value === 'number') return Number.isFinite(value) ? null : here(`${value} is no number in JSON`);
  if (typeof value !== 'object') return here(`a ${typeof value} cannot be saved`);
  if (depth >= JSON_DEPTH_MAX) return here(`it is nested more than ${JSON_DEPTH_MAX} deep`);
  if (Array.isArray(value)) return problemInArray(value, depth);
  if (!isPlain(value)) return here(notPlain(value));
  for (const key of Object.keys(value)) {
    const item = (value as { [key: string]: unknown })[key];
    const problem = item === undefined ? null : problemIn(item, depth + 1);
    if (problem) return below(key, problem);
  }
  return null;
}

function problemInArray(array: readonly unknown[], depth: number): Problem | null {
  if ('toJSON' in array) return here('a list with a toJSON of its own cannot be saved');
  for (let index = 0; index < array.length; index += 1) {
    const problem = problemIn(array[index], depth + 1);
    if (problem) return below(String(index), problem);
  }
  return null;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** An instance of a class would be loaded as something else. */
function notPlain(value: object): string {
  const name = (value.constructor as { name?: string } | undefined)?.name || 'an object of a class';
  return `${name} cannot be saved; make plain JSON of it`;
}

function here(problem: string): Problem {
  return { path: '', problem };
}

function below(key: string, { path, problem }: Problem): Problem {
  return { path: `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}${path}`, problem };
}

function refused({ path, problem }: Problem): RekindleError {
  const where = path === '' ? 'The context' : `The context at ${path.slice(0, 200)}`;
  return new RekindleError('INVALID_ARGUMENT', `${where} is refused: ${problem}.`, {
    details: { field: 'context', path: path.slice(0, 1_000), problem },
  });
}

function tooLarge(actual: number): RekindleError {
  const text = `The context is more than ${CONTEXT_BYTES_MAX} bytes of JSON.`;
  return new RekindleError('LIMIT_EXCEEDED', text, {
    details: { limit: 'contextBytes', allowed: CONTEXT_BYTES_MAX, actual },
  });
}
