/** The tool that reads what was taken out of the context: results stored separately, cleared results, trimmed messages. */
import { RekindleError } from '../../core/errors.js';
import type { JsonObject, JsonValue } from '../../core/json.js';
import { inputObject, type ToolDefinition } from '../../core/tool-definition.js';
import type { Blobs, StorageBackend } from '../../storage/ports.js';

const CHARS_DEFAULT = 4_000;
const CHARS_MAX = 20_000;
const MATCHES_MAX = 20;
/** Maximum characters of a line in a search result. */
const LINE_CHARS = 300;

/** The store, and the agent whose results can be read. */
export interface ReadResultOptions {
  readonly backend: StorageBackend;
  /** The agent whose results are read. No argument of a call names another agent. */
  readonly agentId: string;
}

/** Reads ranges of a text, by characters or lines, and finds lines in it. It changes nothing. */
export function readResultTool({ backend, agentId }: ReadResultOptions): ToolDefinition {
  return {
    name: 'read_result',
    description:
      'Reads a text that was left out of your context, by the ref that stands in its place. Give `from` and `chars` for a range of characters, `line` and `lines` for lines, or `search` for the lines that contain a text.',
    inputSchema: inputObject(
      {
        ref: { type: 'string', pattern: '^[0-9a-f]{8,64}$', description: 'The ref, as the line has it.' },
        from: { type: 'integer', minimum: 0, description: 'First character. Default 0.' },
        chars: { type: 'integer', minimum: 1, maximum: CHARS_MAX, description: 'Default 4,000.' },
        line: { type: 'integer', minimum: 1, description: 'First line, from 1.' },
        lines: { type: 'integer', minimum: 1, maximum: 1_000, description: 'Default 50.' },
        search: { type: 'string', minLength: 1, maxLength: 200, description: 'Letter case does not count.' },
      },
      ['ref'],
    ),
    idempotent: true,
    execute: async (args) => {
      const text = await textOf(backend.blobs(['agents', agentId, 'artifacts']), String(args['ref']));
      if (typeof args['search'] === 'string') return found(text, args['search'], numberOr(args['line'], 1));
      if (args['line'] !== undefined || args['lines'] !== undefined) {
        return lineRange(text, numberOr(args['line'], 1), numberOr(args['lines'], 50));
      }
      return charRange(text, numberOr(args['from'], 0), numberOr(args['chars'], CHARS_DEFAULT));
    },
  };
}

function numberOr(value: JsonValue | undefined, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

/** @throws INVALID_ARGUMENT if no text, or more than one, has a digest that starts like this */
async function textOf(artifacts: Blobs, ref: string): Promise<string> {
  const digests: string[] = [];
  if (ref.length === 64) digests.push(ref);
  else for await (const { digest } of artifacts.list()) if (digest.startsWith(ref)) digests.push(digest);
  const [digest] = digests;
  const bytes = digests.length === 1 && digest !== undefined ? await artifacts.get(digest) : null;
  if (bytes) return new TextDecoder().decode(bytes);
  const problem = digests.length > 1 ? 'is the beginning of several refs' : 'is unknown';
  throw new RekindleError(
    'INVALID_ARGUMENT',
    `The ref ${ref} ${problem}. Copy it whole from the line that names it.`,
    {
      details: { ref },
    },
  );
}

function charRange(text: string, from: number, chars: number): JsonObject {
  const to = Math.min(text.length, from + chars);
  return { from, to, of: text.length, text: text.slice(from, to).toWellFormed() };
}

function lineRange(text: string, first: number, count: number): JsonObject {
  const all = text.split('\n');
  const shown: string[] = [];
  let room = CHARS_MAX;
  for (const line of all.slice(first - 1, first - 1 + count)) {
    room -= line.length + 1;
    if (room < 0 && shown.length > 0) break;
    shown.push(line.slice(0, CHARS_MAX).toWellFormed());
  }
  return {
    first_line: first,
    last_line: first + shown.length - 1,
    of_lines: all.length,
    text: shown.join('\n'),
  };
}

/** Lines that contain the text, starting at a line. */
function found(text: string, wanted: string, fromLine: number): JsonObject {
  const needle = wanted.toLowerCase();
  const all = text.split('\n');
  const matches: JsonObject[] = [];
  let line = fromLine;
  for (; line <= all.length && matches.length < MATCHES_MAX; line += 1) {
    const at = all[line - 1]!.toLowerCase().indexOf(needle);
    if (at < 0) continue;
    const start = Math.max(0, at - LINE_CHARS / 3);
    matches.push({ line, text: all[line - 1]!.slice(start, start + LINE_CHARS).toWellFormed() });
  }
  return { matches, of_lines: all.length, next_line: line <= all.length ? line : null };
}
