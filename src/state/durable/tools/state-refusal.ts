/** Refusals as the model reads them: what is wrong, that nothing was written, and what to do next. */
import { isRekindleError, RekindleError } from '../../../core/errors.js';
import { isJsonObject, type JsonValue } from '../../../core/json.js';

/** A schema with alternatives reports each of them; more problems than this do not help. */
const PROBLEMS_MAX = 8;

/** The same error with a text for the model. Other errors are returned as they are. */
export function refusalFor(name: string, thrown: unknown): unknown {
  if (!isRekindleError(thrown)) return thrown;
  const text = textFor(name, thrown);
  if (text === null) return thrown;
  const { code, details, advice } = thrown;
  return new RekindleError(code, text, { details, advice, cause: thrown });
}

/** The change would overwrite what the model may not have seen. */
export function versionNeeded(name: string): RekindleError {
  return new RekindleError(
    'INVALID_ARGUMENT',
    `${name} was not changed: the change replaces items of a list, which others may have changed. Give \`version\`, the version that read_state gave. To add an item at the end of a list, use a pointer that ends with /-.`,
    { details: { argument: 'version', name } },
  );
}

function textFor(name: string, { code, message, details }: RekindleError): string | null {
  if (code === 'DOCUMENT_CONFLICT')
    return `${name} was not changed: it is now at version ${details['currentVersion']}, and you gave version ${details['ifVersion']}. Read it again with read_state.`;
  if (code === 'HUMAN_EDIT') return humanEdit(name, details['remainingMs']);
  if (code === 'STATE_INVALID')
    return `${name} was not changed, because the change does not fit its schema. ${problemsOf(details['violations']) || message}`;
  if (code === 'STATE_TOO_LARGE') return `${name} was not changed. ${message}`;
  if (code === 'LEASE_HELD') return `${name} was not changed, because others are writing. Try again later.`;
  return null;
}

function humanEdit(name: string, remainingMs: JsonValue | undefined): string {
  if (typeof remainingMs === 'number')
    return `${name} was not changed, because a person has just edited it. Try again later, in ${Math.ceil(remainingMs / 1000)} s. Read it again first.`;
  return `${name} was not changed, because a person's edit of it has mistakes that they must fix first. Try again later.`;
}

function problemsOf(violations: JsonValue | undefined): string {
  const found = Array.isArray(violations) ? violations.filter(isJsonObject) : [];
  const lines = found
    .slice(0, PROBLEMS_MAX)
    .map(({ path, rule, message }) => `${path === '' ? 'the document' : path} ${message} (rule ${rule})`);
  const more = found.length > lines.length ? `; and ${found.length - lines.length} more` : '';
  return lines.length === 0 ? '' : `${lines.join('; ')}${more}.`;
}
