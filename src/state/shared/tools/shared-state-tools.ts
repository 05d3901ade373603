/**
 * The tools with which agents use a shared state. State and acting session are fixed here; the model cannot
 * choose them.
 */
import { type JsonObject, type JsonValue, tryParseJson } from '../../../core/json.js';
import { inputObject, type ToolDefinition } from '../../../core/tool-definition.js';
import { invalid } from '../shared-limits.js';
import type { SharedState, StateKey } from '../shared-state.js';

/** Options of `sharedStateTools`. */
export interface SharedStateToolOptions {
  readonly state: SharedState;
  /** The session that uses the tools. Changes carry its id. */
  readonly session: string;
}

const key = { type: 'string', minLength: 1, description: 'The key.' };
const version = {
  type: 'integer',
  minimum: 0,
  description:
    'The version that state_get gave: the key is set only while it is still at it (0: only while it has no value). Else nothing is changed, and the error tells the current version and value. Without it, what others wrote meanwhile is overwritten.',
};

const itemsSchema = {
  anyOf: [
    { type: 'array', items: {}, minItems: 1 },
    { type: 'string', description: 'The same list as a text in JSON.' },
  ],
  description: 'Any JSON values.',
};

/**
 * Tool definitions for the agent loop and MCP: `state_get`, `state_set`, and others. The model cannot choose
 * the state or the session.
 */
export function sharedStateTools(options: SharedStateToolOptions): ToolDefinition[] {
  return [
    getTool(options),
    setTool(options),
    deleteTool(options),
    incrementTool(options),
    appendTool(options),
  ];
}

function getTool({ state }: SharedStateToolOptions): ToolDefinition {
  return {
    name: 'state_get',
    description:
      'Reads the state that you share with the other agents of this run: one key with its value and version, or all keys. `found` is false when the key has no value.',
    inputSchema: inputObject({ key: { ...key, description: 'One key. Default: all keys.' } }),
    idempotent: true,
    execute: async (args) => {
      if (args['key'] !== undefined) {
        const found = await state.get(String(args['key']));
        return found ? { found: true, ...shown(found) } : { found: false, key: args['key'] };
      }
      const { globalVersion, keys } = await state.getAll();
      return { global_version: globalVersion, keys: keys.map(shown) };
    },
  };
}

function setTool({ state, session }: SharedStateToolOptions): ToolDefinition {
  return {
    name: 'state_set',
    description:
      'Sets a key of the shared state. Others change it at the same time: give the version that you read, or use state_increment and state_append.',
    inputSchema: inputObject({ key, value: { description: 'Any JSON value.' }, version }, ['key', 'value']),
    execute: async (args) =>
      shown(await state.set(String(args['key']), args['value'], optionsOf(args, session))),
  };
}

function deleteTool({ state, session }: SharedStateToolOptions): ToolDefinition {
  return {
    name: 'state_delete',
    description: 'Deletes a key of the shared state. Its history stays.',
    inputSchema: inputObject({ key, version }, ['key']),
    execute: async (args) => ({
      key: String(args['key']),
      deleted: await state.delete(String(args['key']), optionsOf(args, session)),
    }),
  };
}

function incrementTool({ state, session }: SharedStateToolOptions): ToolDefinition {
  return {
    name: 'state_increment',
    description:
      'Adds to a whole number of the shared state, at once: no change of another is lost. A key without a value begins at 0.',
    inputSchema: inputObject(
      { key, delta: { type: 'integer', description: 'May be negative. Default 1.' } },
      ['key'],
    ),
    execute: async (args) => {
      const delta = typeof args['delta'] === 'number' ? args['delta'] : 1;
      return shown(await state.increment(String(args['key']), delta, { by: session }));
    },
  };
}

function appendTool({ state, session }: SharedStateToolOptions): ToolDefinition {
  return {
    name: 'state_append',
    description:
      'Adds items to the end of a list of the shared state, at once: no change of another is lost. A key without a value begins as an empty list.',
    inputSchema: inputObject({ key, items: itemsSchema }, ['key', 'items']),
    execute: async (args) => {
      const { items, notes } = itemsOf(args['items']);
      const { value, ...rest } = shown(await state.append(String(args['key']), items, { by: session }));
      return { ...rest, length: (value as JsonValue[]).length, ...notes };
    },
  };
}

/**
 * Models sometimes send a list as text. It is decoded once, and the answer says so, like in
 * `write_to_workspace`.
 */
function itemsOf(given: JsonValue | undefined): { items: JsonValue[]; notes: { notes?: string[] } } {
  if (Array.isArray(given)) return { items: given, notes: {} };
  const decoded = typeof given === 'string' ? tryParseJson(given) : undefined;
  if (Array.isArray(decoded) && decoded.length > 0) return { items: decoded, notes: { notes: ['decoded'] } };
  throw invalid('items', 'it is a list of at least one JSON value');
}

function shown({ key: name, value, version: at, updatedAt, updatedBy }: StateKey) {
  return { key: name, value, version: at, updated_at: updatedAt, updated_by: updatedBy };
}

function optionsOf(args: JsonObject, by: string) {
  const ifVersion = args['version'];
  return { by, ...(typeof ifVersion === 'number' ? { ifVersion } : {}) };
}
