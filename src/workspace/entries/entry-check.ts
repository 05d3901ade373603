/** What may be written under a key. Nothing is coerced or filled in; JSON that was encoded twice is decoded once, and the notes say so. */
import { RekindleError } from '../../core/errors.js';
import type { JsonObject, JsonValue } from '../../core/json.js';
import { tryParseJson } from '../../core/json.js';
import { nameProblem } from '../../core/name-problem.js';
import { compileSchema, type SchemaCheck, type SchemaViolation } from '../../core/schema-check.js';
import { type JsonChangeKind, toJsonValue } from '../../core/to-json-value.js';
import type { StorageRedactor } from '../../storage/storage-redactor.js';

export interface EntrySchemas {
  /** JSON Schema (2020-12) by key. */
  readonly [key: string]: object;
}

/** `decoded`: the value came as a text that holds JSON, and was decoded once. */
export type WriteNote = 'decoded';

export interface CheckedEntry {
  readonly value: JsonValue;
  readonly notes: readonly WriteNote[];
}

/** What may be written, key by key. */
export interface EntryRules {
  readonly schemas?: EntrySchemas;
  /** Keys without a schema. */
  readonly unknownKeys?: 'allow' | 'refuse';
}

const KEY_LENGTH_MAX = 200;
const NO_SCHEMAS: EntrySchemas = {};

export class EntryCheck {
  readonly #given: EntryRules;
  readonly #configured: () => Promise<EntryRules>;
  readonly #redactor: StorageRedactor | null;
  readonly #own: ReadonlyMap<string, SchemaCheck>;
  /** The configuration gives the same object as long as nothing changed. */
  #known: { readonly schemas: EntrySchemas; readonly checks: ReadonlyMap<string, SchemaCheck> } | null = null;

  /** @param configured asked at each check @throws INVALID_ARGUMENT for what is not a schema */
  constructor(
    given: EntryRules,
    configured: () => Promise<EntryRules>,
    redactor: StorageRedactor | null = null,
  ) {
    this.#redactor = redactor;
    this.#given = given;
    this.#configured = configured;
    this.#own = compiledAll(given.schemas ?? {});
  }

  /** @throws ENTRY_INVALID with every violation, INVALID_ARGUMENT for what cannot be a key, DOCUMENT_DAMAGED */
  async check(key: string, given: unknown): Promise<CheckedEntry> {
    assertKey(key);
    const { schemas = NO_SCHEMAS, unknownKeys = 'allow' } = await this.#configured();
    const others = this.#checksOf(schemas);
    const schema = this.#own.get(key) ?? others.get(key);
    if (!schema && (this.#given.unknownKeys ?? unknownKeys) === 'refuse')
      throw invalid(key, [
        { path: '', rule: 'unknownKey', message: knownKeys([this.#own, others]), value: null },
      ]);
    const value = this.#redacted(key, plainJson(key, given));
    const isText = typeof value === 'string' && !(schema?.(value) ?? false);
    const parsed = isText ? decodeOnce(value) : undefined;
    const decoded = parsed === undefined ? undefined : this.#redacted(key, parsed);
    if (schema && !schema(decoded ?? value)) throw invalid(key, schema.violations());
    return decoded === undefined ? { value, notes: [] } : { value: decoded, notes: ['decoded'] };
  }

  /** With its key: the value of `api_key` is a secret, whatever its form. */
  #redacted(key: string, value: JsonValue): JsonValue {
    return this.#redactor?.json<JsonObject>({ [key]: value })[key] ?? value;
  }

  #checksOf(schemas: EntrySchemas): ReadonlyMap<string, SchemaCheck> {
    if (this.#known?.schemas !== schemas) this.#known = { schemas, checks: compiledAll(schemas) };
    return this.#known.checks;
  }
}

function knownKeys(checks: readonly ReadonlyMap<string, SchemaCheck>[]): string {
  const keys = new Set(checks.flatMap((one) => [...one.keys()]));
  return `is not one of the keys of this workspace: ${[...keys].join(', ')}`;
}

const PROBLEMS: Partial<Record<JsonChangeKind, string>> = {
  'non-finite': 'is NaN or infinite, which JSON does not have',
  'function-or-symbol': 'is a function or a symbol, which JSON does not have',
  cycle: 'refers back to what it is in',
  bigint: 'is a BigInt, which JSON does not have: write it as text',
  depth: 'is nested too deep',
  size: 'is too large',
};

/**
 * A copy, so that later changes of the caller's object have no effect. Nothing is converted: properties that are `undefined` are not
 * there, and anything else that JSON does not have is refused with its place.
 */
function plainJson(key: string, given: unknown): JsonValue {
  const { value, changes } = toJsonValue(given);
  const odd = changes.filter(
    ({ kind, path }) => given === undefined || kind !== 'undefined' || isItem(path, given),
  );
  if (odd.length === 0) return value;
  const violations = odd.map(({ kind, path }) => ({
    path,
    rule: 'json',
    message: given === undefined ? 'must be a value' : (PROBLEMS[kind] ?? `is not plain JSON (${kind})`),
    value: null,
  }));
  throw invalid(key, violations);
}

/** Whether a place is one of a list: an item cannot be left out. */
function isItem(path: string, given: unknown): boolean {
  const names = path
    .split('/')
    .slice(1, -1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  let at: unknown = given;
  for (const name of names) at = (at as { readonly [name: string]: unknown } | null | undefined)?.[name];
  return Array.isArray(at);
}

/** An object or a list inside a text. A number or a word in quotes is left as the text that it is. */
function decodeOnce(text: string): JsonValue | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  return tryParseJson(text);
}

function assertKey(key: string): void {
  const problem = nameProblem(key, KEY_LENGTH_MAX);
  if (problem === null) return;
  throw new RekindleError('INVALID_ARGUMENT', `This cannot be a key of the workspace: ${problem}.`, {
    details: { key: String(key).toWellFormed().slice(0, KEY_LENGTH_MAX), problem },
  });
}

function compiledAll(schemas: EntrySchemas): ReadonlyMap<string, SchemaCheck> {
  return new Map(Object.entries(schemas).map(([key, schema]) => [key, compiled(key, schema)]));
}

function compiled(key: string, schema: object): SchemaCheck {
  try {
    return compileSchema(schema as JsonObject);
  } catch (cause) {
    throw new RekindleError(
      'INVALID_ARGUMENT',
      `The schema of ${JSON.stringify(key)} is no JSON Schema (2020-12).`,
      {
        details: { key },
        cause,
      },
    );
  }
}

function invalid(key: string, violations: readonly SchemaViolation[]): RekindleError {
  const lines = violations.slice(0, 3).map(({ path, message }) => `${path === '' ? 'it' : path} ${message}`);
  return new RekindleError('ENTRY_INVALID', `${JSON.stringify(key)} is refused: ${lines.join('; ')}.`, {
    details: { key, violations: violations as unknown as JsonValue },
  });
}
