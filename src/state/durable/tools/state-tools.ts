/**
 * The tools with which agents use durable documents. Documents and author are fixed here; the model cannot choose
 * others.
 */
import { RekindleError } from '../../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue, tryParseJson } from '../../../core/json.js';
import { valueAt } from '../../../core/json-pointer.js';
import { inputObject, type ToolDefinition } from '../../../core/tool-definition.js';
import { fitState } from './fit-state.js';
import { needsVersion } from './list-guard.js';
import { assertDocuments, mountedState, type StateDocuments } from './mounted-state.js';
import { refusalFor, versionNeeded } from './state-refusal.js';
import { STATE_TOKENS } from './state-text.js';

/** Options of `stateTools`. */
export interface StateToolOptions {
  /** The author of the changes. Default `agent`. */
  readonly by?: string;
  /** Largest value that `read_state` gives at once, in tokens. Default 4,000. */
  readonly readTokens?: number;
}

const WHY_MAX = 500;

/**
 * Tool definitions for the agent loop and MCP: `read_state` and `update_state`. They reach the given documents only. A refused change
 * writes nothing, and its text tells the model the reason and the next step.
 *
 *     const board = await StateManager.open({ ...taskBoard, backend });
 *     const tools = stateTools({ task_board: board }, { by: 'builder' });
 * @throws INVALID_ARGUMENT without documents, and for the author `human`, who is a person
 */
export function stateTools(documents: StateDocuments, options: StateToolOptions = {}): ToolDefinition[] {
  assertDocuments(documents);
  const { by = 'agent', readTokens = STATE_TOKENS } = options;
  assertAuthor(by);
  const name: JsonObject = {
    type: 'string',
    enum: Object.keys(documents),
    description: 'The name of the document.',
  };
  return [readTool(documents, name, readTokens), updateTool(documents, name, by)];
}

/** Changes by `human` are not held off, and hold off others. */
function assertAuthor(by: string): void {
  if (by !== 'human' && by !== '') return;
  throw new RekindleError(
    'INVALID_ARGUMENT',
    'Tools change documents in the name of an agent: `by` is not "human" or empty.',
    {
      details: { argument: 'by' },
    },
  );
}

function readTool(documents: StateDocuments, name: JsonObject, tokens: number): ToolDefinition {
  return {
    name: 'read_state',
    description:
      'Reads the newest version of a document that you share with people and other agents, or one part of it. What is too long is left out and marked: read it with a pointer.',
    inputSchema: inputObject(
      {
        name,
        pointer: {
          type: 'string',
          description: 'JSON Pointer of a part, such as /tasks/3. Default: the whole document.',
        },
        schema: {
          type: 'boolean',
          description: 'Also gives the JSON Schema that every change must fit. Default false.',
        },
      },
      ['name'],
    ),
    idempotent: true,
    execute: async (args) => {
      const document = mountedState(documents, String(args['name']));
      const { version, value, at, by } = await document.load();
      const pointer = String(args['pointer'] ?? '');
      const part = valueAt(value as JsonValue, pointer);
      const about = { name: String(args['name']), version, updated_at: at, updated_by: by };
      const schema = args['schema'] === true ? { schema: document.schema } : {};
      if (part === undefined) return { ...about, found: false, pointer, ...schema };
      const fitted = await fitState(part, tokens);
      const cut =
        fitted.leftOut === 0
          ? {}
          : { left_out: fitted.leftOut, note: 'Not everything fits. Read a part of it with a pointer.' };
      return { ...about, ...(pointer === '' ? {} : { pointer }), value: fitted.value, ...cut, ...schema };
    },
  };
}

function updateTool(documents: StateDocuments, name: JsonObject, by: string): ToolDefinition {
  return {
    name: 'update_state',
    description:
      'Changes a document by a JSON Merge Patch (RFC 7396): give only the members that change; null removes one; a list is replaced as a whole. A change that does not fit the schema of the document is refused, and nothing is written.',
    inputSchema: inputObject(
      {
        name,
        patch: { description: 'The merge patch: an object, unless a pointer names another place.' },
        pointer: {
          type: 'string',
          description:
            'JSON Pointer of the place that the patch is for: /tasks/3 for one item of a list, /tasks/- for a new item at its end. Default: the whole document.',
        },
        version: {
          type: 'integer',
          minimum: 1,
          description:
            'The version that read_state gave: the change is made only while the document is still at it. Required to replace a list, or one of its items.',
        },
        why: { type: 'string', maxLength: WHY_MAX, description: 'The reason, for the history.' },
      },
      ['name', 'patch'],
    ),
    execute: async ({ name: given, patch: sent = null, pointer, version, why }) => {
      const named = String(given);
      const document = mountedState(documents, named);
      const place = String(pointer ?? '');
      const { patch, notes } = patchOf(sent, place);
      try {
        const { value } = await document.load();
        if (version === undefined && needsVersion(value as JsonValue, place, patch))
          throw versionNeeded(named);
        const changed = await document.patch(patch, {
          by,
          pointer: place,
          ...(typeof version === 'number' ? { ifVersion: version } : {}),
          ...(typeof why === 'string' ? { why } : {}),
        });
        return { name: named, version: changed.version, ...notes };
      } catch (thrown) {
        throw refusalFor(named, thrown);
      }
    },
  };
}

/** Models sometimes send the object as text. It is decoded once, and the answer says so, like in `state_append`. */
function patchOf(sent: JsonValue, pointer: string): { patch: JsonValue; notes: { notes?: string[] } } {
  const decoded = pointer === '' && typeof sent === 'string' ? tryParseJson(sent) : undefined;
  return isJsonObject(decoded)
    ? { patch: decoded, notes: { notes: ['decoded'] } }
    : { patch: sent, notes: {} };
}
