/** Shows values and changes as lines, and parses typed values. */
import { RekindleError } from '../core/errors.js';
import { type JsonValue, tryParseJson } from '../core/json.js';
import type { JsonPatchStep } from '../core/json-patch.js';
import { excerpt } from './safe-text.js';

export function changeLine(step: JsonPatchStep): string {
  const path = step.path === '' ? '(all)' : excerpt(step.path, 120);
  if (step.op === 'remove') return `- ${path}`;
  return `${step.op === 'add' ? '+' : '~'} ${path}: ${excerpt(JSON.stringify(step.value), 200)}`;
}

/** JSON, or else the text itself, so that a single word needs no quotes. */
export function typedValue(text: string): JsonValue {
  const value = tryParseJson(text);
  return value === undefined ? text : value; // null is JSON, too
}

/** A whole number from the command line. @throws INVALID_ARGUMENT */
export function wholeNumber(text: string, name: string, min = 1, max = Number.MAX_SAFE_INTEGER): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= min && number <= max && /^\d+$/.test(text)) return number;
  throw new RekindleError(
    'INVALID_ARGUMENT',
    `${name} must be a whole number from ${min}${max < Number.MAX_SAFE_INTEGER ? ` to ${max}` : ''}, not ${JSON.stringify(text)}.`,
    {
      details: { argument: name, given: text },
    },
  );
}

/** The piped input. */
export async function readStdin(): Promise<string> {
  return Buffer.from(await readStdinBytes()).toString('utf8');
}

/** The piped input, as it is. */
export async function readStdinBytes(): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
