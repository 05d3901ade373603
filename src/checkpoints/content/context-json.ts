/** A context as it is stored: its JSON text, from which exactly the same comes back. What JSON cannot hold is refused, with its place. */
import { hash } from 'node:crypto';
import { canonicalJson } from '../../core/canonical-json.js';
import { RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import { JSON_DEPTH_MAX } from '../../core/limits.js';

export interface ContextContent {
  /** JSON text, as UTF-8. Keys stay in their order. */
  readonly content: Buffer;
  /** SHA-256 of the canonical JSON (RFC 8785), hex: equal contexts have equal ones, whatever the order of their keys. */
  readonly hash: string;
}

/** Of one context, as JSON text in bytes. */
export const CONTEXT_BYTES_MAX = 256 * 1024 * 1024;

/** Properties that are `undefined` are not there, as JSON has it. @throws INVALID_ARGUMENT, LIMIT_EXCEEDED */
export function contextContent(context: unknown): ContextContent {
  if (!isJsonObject(context)) throw refused('', 'a context is a JSON object');
  assertJson(context, '', 0);
  const content = Buffer.from(JSON.stringify(context), 'utf8');
  if (content.length <= CONTEXT_BYTES_MAX) return { content, hash: contextHash(context) };
  const text = `The context is ${content.length} bytes of JSON; ${CONTEXT_BYTES_MAX} are allowed.`;
  throw new RekindleError('LIMIT_EXCEEDED', text, {
    details: { limit: 'contextBytes', allowed: CONTEXT_BYTES_MAX, actual: content.length },
  });
}

export function contextHash(context: JsonValue): string {
  return hash('sha256', canonicalJson(context), 'hex');
}

/** The session of a workflow that begins with this context, at any depth of it. */
export function derivedSessionId(workflowId: string | null, context: JsonObject): string {
  return `session_${contextHash([workflowId, context]).slice(0, 32)}`;
}

function assertJson(value: unknown, path: string, depth: number): void {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return;
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return;
    throw refused(path, `${value} is no number in JSON`);
  }
  if (typeof value !== 'object') throw refused(path, `a ${typeof value} cannot be saved`);
  if (depth >= JSON_DEPTH_MAX) throw refused(path, `it is nested more than ${JSON_DEPTH_MAX} deep`);
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1)
      assertJson(value[index], `${path}/${index}`, depth + 1);
    return;
  }
  assertPlain(value, path);
  for (const [key, item] of Object.entries(value))
    if (item !== undefined) assertJson(item, `${path}/${pointer(key)}`, depth + 1);
}

/** An object of a class would come back as another thing. */
function assertPlain(value: object, path: string): void {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return;
  const name = (value.constructor as { name?: string } | undefined)?.name || 'an object of a class';
  throw refused(path, `${name} cannot be saved; make plain JSON of it`);
}

/** As a JSON Pointer has it. */
function pointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function refused(path: string, problem: string): RekindleError {
  const where = path === '' ? 'The context' : `The context at ${path.slice(0, 200)}`;
  return new RekindleError('INVALID_ARGUMENT', `${where} is refused: ${problem}.`, {
    details: { argument: 'context', path: path.slice(0, 1_000), problem },
  });
}
