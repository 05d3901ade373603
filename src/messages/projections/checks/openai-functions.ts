/** Checks names and arguments of functions, which have the same form in both OpenAI APIs. */
import { tryParseJson } from '../../../core/json.js';
import { quote } from './request-check.js';

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** @returns what is wrong with the name of a function, or null. */
export function functionNameProblem(name: unknown): string | null {
  if (typeof name === 'string' && NAME.test(name)) return null;
  return `The function name ${quote(name)} is not made of 1 to 64 letters, digits, underscores or hyphens.`;
}

/** @returns what is wrong with the arguments of a call, or null. */
export function argumentsProblem(text: unknown): string | null {
  if (typeof text !== 'string') return 'The arguments are not a text.';
  return tryParseJson(text) === undefined ? 'The arguments do not parse as JSON.' : null;
}
