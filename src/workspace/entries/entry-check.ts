/**
 * Checks the keys and values of entries. Nothing is coerced or filled in, but JSON that was encoded twice is
 * decoded once, with a note.
 */
import { RekindleError } from '../../core/errors.js';
import type { JsonObject, JsonValue } from '../../core/json.js';
import { tryParseJson } from '../../core/json.js';
import { nameProblem } from '../../core/name-problem.js';
import { compileSchema, type SchemaCheck, type SchemaViolation } from '../../core/schema-check.js';
import { type JsonChangeKind, toJsonValue } from '../../core/to-json-value.js';
import type { StorageRedactor } from '../../storage/storage-redactor.js';

/** JSON Schema (2020-12) by key. */
export interface EntrySchemas {
  readonly [key: string]: object;
}

/** `decoded`: the value was a text with JSON in it, and was decoded once. */
export type WriteNote = 'decoded';

export interface CheckedEntry {
  readonly value: JsonValue;
  readonly notes: readonly WriteNote[];
}

/** The rules for entries, by key. */
export interface EntryRules {
  readonly schemas?: EntrySchemas;
  /** Whether keys without a schema may be written. */
  readonly unknownKeys?: 'allow' | 'refuse';
}

const KEY_LENGTH_MAX = 200;
const NO_SCHEMAS: EntrySchemas = {};

export class EntryCheck {
  readonly #given: EntryRules;
  readonly #configured: () => Promise<EntryRules>;
  readonly #redactor: StorageRedactor | null;
  readonly #own: ReadonlyMap<string, SchemaCheck>;
  /** The configuration returns the same object until its file changes. */
  #known: { readonly schemas: EntrySchemas; readonly checks: ReadonlyMap<string, SchemaCheck> } | null = null;

  /** @param configured called at each check @throws INVALID_ARGUMENT for an invalid schema */
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

  /** @throws ENTRY_INVALID with every violation, INVALID_ARGUMENT for an invalid key, DOCUMENT_DAMAGED */
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
 * Copies the value, so that later changes by the caller have no effect. Nothing is converted: `undefined`
 * properties are dropped, and everything else outside of JSON is refused, with its place.
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

/** Whether the place is in a list: an item cannot be left out. */
function isItem(path: string, given: unknown): boolean {
  const names = path
    .split('/')
    .slice(1, -1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  let at: unknown = given;
  for (const name of names) at = (at as { readonly [name: string]: unknown } | null | undefined)?.[name];
  return Array.isArray(at);
}

/** Decodes an object or a list inside a text. A quoted number or word stays text. */
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
      `The schema of ${JSON.stringify(key)} is not a valid JSON Schema (2020-12).`,
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
