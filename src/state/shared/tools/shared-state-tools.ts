/**
 * The tools with which agents use a shared state. State and acting session are fixed here; the model cannot
 * choose them.
 */
import { isJsonObject, type JsonObject, type JsonValue, tryParseJson } from '../../../core/json.js';
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

const patchSchema = {
  anyOf: [
    { type: 'object', additionalProperties: true },
    { type: 'string', description: 'The same object as a text in JSON.' },
  ],
  description:
    'Keys with what becomes of them: null deletes a key; an object is merged into an object that the key has; any other value replaces the value.',
};
const globalVersion = {
  type: 'integer',
  minimum: 0,
  description:
    'The global_version that state_get gave for all keys: the patch is made only while nothing at all has changed since. Else nothing is changed, and the error tells the current one. Without it, what others wrote meanwhile is overwritten.',
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
    patchTool(options),
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

function patchTool({ state, session }: SharedStateToolOptions): ToolDefinition {
  return {
    name: 'state_patch',
    description:
      'Merges a JSON Merge Patch (RFC 7396) into the shared state: several keys at once, all or none. Gives the new version of each; 0 is a key without a value.',
    inputSchema: inputObject({ patch: patchSchema, global_version: globalVersion }, ['patch']),
    execute: async (args) => {
      const { patch, notes } = patchOf(args['patch']);
      const wanted = args['global_version'];
      const condition = typeof wanted === 'number' ? { ifGlobalVersion: wanted } : {};
      const { globalVersion: at, results } = await state.patch(patch, { by: session, ...condition });
      return {
        global_version: at,
        keys: results.map(({ key: name, version: now }) => ({ key: name, version: now })),
        ...notes,
      };
    },
  };
}

interface Notes {
  readonly notes?: readonly string[];
}

/**
 * Models sometimes send a list or an object as text. It is decoded once, and the answer says so, like in
 * `write_to_workspace`. The place takes no text, so no value is changed by this.
 */
function decoded(given: JsonValue | undefined): { given: JsonValue | undefined; notes: Notes } {
  const value = typeof given === 'string' ? tryParseJson(given) : undefined;
  return value === undefined ? { given, notes: {} } : { given: value, notes: { notes: ['decoded'] } };
}

function patchOf(sent: JsonValue | undefined): { patch: JsonObject; notes: Notes } {
  const { given, notes } = decoded(sent);
  if (isJsonObject(given)) return { patch: given, notes };
  throw invalid('patch', 'it is an object (RFC 7396)');
}

function itemsOf(sent: JsonValue | undefined): { items: JsonValue[]; notes: Notes } {
  const { given, notes } = decoded(sent);
  if (Array.isArray(given) && given.length > 0) return { items: given, notes };
  throw invalid('items', 'it is a list of at least one JSON value');
}

function shown({ key: name, value, version: at, updatedAt, updatedBy }: StateKey) {
  return { key: name, value, version: at, updated_at: updatedAt, updated_by: updatedBy };
}

function optionsOf(args: JsonObject, by: string) {
  const ifVersion = args['version'];
  return { by, ...(typeof ifVersion === 'number' ? { ifVersion } : {}) };
}
