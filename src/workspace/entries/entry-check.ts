/** What may be written under a key. Nothing is coerced or filled in; JSON that was encoded twice is decoded once, and that is told. */
import { RekindleError } from '../../core/errors.js';
import type { JsonObject, JsonValue } from '../../core/json.js';
import { tryParseJson } from '../../core/json.js';
import { nameProblem } from '../../core/name-problem.js';
import { compileSchema, type SchemaCheck, type SchemaViolation } from '../../core/schema-check.js';
import { toJsonValue } from '../../core/to-json-value.js';

export interface EntrySchemas {
  /** JSON Schema (2020-12) by key. */
  readonly [key: string]: object;
}

/** `decoded`: the value came as a text that holds JSON, and was decoded once. `converted`: it was no plain JSON in places. */
export type WriteNote = 'decoded' | 'converted';

export interface CheckedEntry {
  readonly value: JsonValue;
  readonly notes: readonly WriteNote[];
}

const KEY_LENGTH_MAX = 200;

export class EntryCheck {
  readonly #schemas: ReadonlyMap<string, SchemaCheck>;
  readonly #unknownKeys: 'allow' | 'refuse';

  /** @throws INVALID_ARGUMENT for a schema that is none */
  constructor(schemas: EntrySchemas, unknownKeys: 'allow' | 'refuse') {
    this.#schemas = new Map(Object.entries(schemas).map(([key, schema]) => [key, compiled(key, schema)]));
    this.#unknownKeys = unknownKeys;
  }

  /** @throws ENTRY_INVALID with every violation, INVALID_ARGUMENT for a key that is none */
  check(key: string, given: unknown): CheckedEntry {
    assertKey(key);
    const schema = this.#schemas.get(key);
    if (!schema && this.#unknownKeys === 'refuse')
      throw invalid(key, [{ path: '', rule: 'unknownKey', message: this.#knownKeys(), value: null }]);
    if (given === undefined)
      throw invalid(key, [{ path: '', rule: 'json', message: 'must be a value', value: null }]);
    const { value, changes } = toJsonValue(given);
    const converted: WriteNote[] = changes.length > 0 ? ['converted'] : [];
    const decoded = typeof value === 'string' && !(schema?.(value) ?? false) ? decodeOnce(value) : undefined;
    if (schema && !schema(decoded ?? value)) throw invalid(key, schema.violations());
    return decoded === undefined
      ? { value, notes: converted }
      : { value: decoded, notes: [...converted, 'decoded'] };
  }

  #knownKeys(): string {
    return `is not one of the keys of this workspace: ${[...this.#schemas.keys()].join(', ')}`;
  }
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
