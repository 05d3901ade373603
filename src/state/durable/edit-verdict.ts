/**
 * Judges a person's edit of a document: either a value to adopt, or problems with their places in the file.
 */
import { isRekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import { parseJsonText } from '../../core/json-source.js';
import type { SchemaViolation } from '../../core/schema-check.js';
import { migrateDocument } from './migrate.js';
import { SHOWS, splitShownVersion } from './shown-version.js';
import type { CompiledState } from './state-definition.js';
import { checkedValue } from './state-value.js';

/** One problem of a person's edit, with its place in the file. */
export interface EditProblem {
  /** Starts at 1, like `column`. */
  readonly line: number;
  readonly column: number;
  /** JSON Pointer; empty for the whole document, or if the file is not JSON. */
  readonly path: string;
  /** The violated rule of the schema; `syntax` if the file is not JSON. */
  readonly rule: string;
  readonly message: string;
  readonly value: JsonValue;
}

export interface RefusedVerdict {
  readonly kind: 'refused';
  readonly code: string;
  readonly problems: readonly EditProblem[];
}

export type EditVerdict = { readonly kind: 'valid'; readonly value: JsonObject } | RefusedVerdict;

/** The file as the person saved it. */
export interface EditedText {
  readonly text: string;
  /** False if it is not UTF-8. */
  readonly isText: boolean;
}

function notUtf8(text: string): EditProblem {
  const lines = text.slice(0, Math.max(0, text.indexOf('\ufffd'))).split('\n');
  const message = 'must be saved as UTF-8';
  return {
    line: lines.length,
    column: lines.at(-1)!.length + 1,
    path: '',
    rule: 'encoding',
    message,
    value: null,
  };
}

/** An older schema version is migrated first: a person may have restored an old file. */
export async function judgeEdit(state: CompiledState, { text, isText }: EditedText): Promise<EditVerdict> {
  if (!isText) return { kind: 'refused', code: 'STATE_INVALID', problems: [notUtf8(text)] };
  const parsed = await parseJsonText(text);
  if (parsed.problem) {
    const problem = { path: '', rule: 'syntax', value: null, ...parsed.problem };
    return { kind: 'refused', code: 'STATE_INVALID', problems: [problem] };
  }
  try {
    const { document: value } = splitShownVersion(parsed.value);
    const document = isJsonObject(value) ? value : checkedValue(state, value);
    return { kind: 'valid', value: checkedValue(state, migrateIfOlder(state, document)) };
  } catch (thrown) {
    if (!isRekindleError(thrown)) throw thrown;
    const { violations } = thrown.details;
    const found = Array.isArray(violations)
      ? (violations as unknown as Omit<EditProblem, 'line' | 'column'>[])
      : [];
    const whole = { path: '', rule: thrown.code, message: thrown.message, value: null };
    const problems = (found.length > 0 ? found : [whole]).map((problem) => ({
      ...problem,
      ...parsed.positionOf(problem.path),
    }));
    return { kind: 'refused', code: thrown.code, problems };
  }
}

/** The person edited a version that this journal does not have, so their changes cannot be determined. */
export async function unknownBase({ text }: EditedText): Promise<RefusedVerdict> {
  const rule = 'version';
  const message = `names a version that this journal does not have; to adopt the whole file as an edit of the newest version, remove the line`;
  return refusedAt(text, [{ path: `/${SHOWS}`, rule, message, value: null }]);
}

/** The merge of the person's changes with the agents' later changes is invalid. */
export function mergeRefused(
  { text }: EditedText,
  violations: readonly SchemaViolation[],
): Promise<RefusedVerdict> {
  const late = 'after it is merged into the newest version';
  return refusedAt(
    text,
    violations.map((violation) => ({ ...violation, message: `${violation.message} ${late}` })),
  );
}

async function refusedAt(text: string, violations: readonly SchemaViolation[]): Promise<RefusedVerdict> {
  const parsed = await parseJsonText(text);
  const problems = violations.map((violation) => ({
    ...violation,
    ...(parsed.problem ? { line: 1, column: 1 } : parsed.positionOf(violation.path)),
  }));
  return { kind: 'refused', code: 'STATE_INVALID', problems };
}

/** For a missing or invalid version number the schema reports the problem, with its place. */
function migrateIfOlder(state: CompiledState, document: JsonObject): JsonObject {
  const version = document['schema_version'];
  const isOther = typeof version === 'number' && version !== state.version;
  return isOther ? migrateDocument(state, document).value : document;
}

export function describeProblem({ line, column, path, message }: EditProblem): string {
  return `line ${line}, column ${column}: ${path === '' ? '' : `${path} `}${message}`;
}
