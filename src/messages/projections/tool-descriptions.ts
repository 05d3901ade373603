/**
 * Reads the tools of a request in any form: ours, MCP's, the AI SDK's, OpenAI's (chat and Responses), Anthropic's and
 * Gemini's. A tool that cannot be read is rejected: with an empty schema, the model would call it with anything.
 */
import { RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import { toJsonValue } from '../../core/to-json-value.js';
import type { ToolDescription } from '../../core/tool-definition.js';

/** A list of tools or declarations, or an object of tools by name, as in the AI SDK. */
export type GivenTools = readonly object[] | { readonly [name: string]: object };

interface Fields {
  readonly [key: string]: unknown;
}

/** Each tool is read once: its schema may have to be generated. */
const READ = new WeakMap<object, ToolDescription>();

/** In the given order. @throws TOOL_INVALID with the tool and the problem */
export function toolDescriptionsOf(tools: GivenTools): ToolDescription[] {
  if (typeof tools !== 'object' || tools === null)
    throw invalid('tools', 'Pass a list of tools, or an object of tools by name.');
  if (!Array.isArray(tools)) return Object.entries(tools).map(([name, tool]) => descriptionOf(tool, name));
  return tools.flatMap(
    (tool: object) =>
      declarationsIn(tool)?.map((one) => descriptionOf(one, null)) ?? [descriptionOf(tool, null)],
  );
}

/** Gemini puts several declarations into one tool. */
function declarationsIn(tool: object): object[] | null {
  const { functionDeclarations, function_declarations: wire } = (tool ?? {}) as Fields;
  const list = functionDeclarations ?? wire;
  return Array.isArray(list) ? list : null;
}

function descriptionOf(tool: object, key: string | null): ToolDescription {
  if (typeof tool !== 'object' || tool === null) throw invalid(key ?? 'tools', 'It is not an object.');
  const known = READ.get(tool);
  if (known && (key === null || known.name === key)) return known;
  const fields = (isFunctionTool(tool) ? tool.function : tool) as Fields;
  const name = key ?? fields['name'];
  if (typeof name !== 'string' || name === '') {
    throw invalid(String(fields['type'] ?? Object.keys(fields)[0] ?? 'tool'), PROVIDERS_OWN);
  }
  const { description } = fields;
  const read = {
    name,
    description: typeof description === 'string' ? description : '',
    inputSchema: schemaOf(name, givenSchema(name, tool as Fields, fields)),
  };
  READ.set(tool, read);
  return read;
}

const PROVIDERS_OWN = 'It has no name and schema: its provider runs it. Add it to the request yourself.';

function isFunctionTool(tool: object): tool is { readonly function: object } {
  const { function: fn } = tool as Fields;
  return typeof fn === 'object' && fn !== null;
}

const SCHEMA_FIELDS = [
  'inputSchema',
  'input_schema',
  'parametersJsonSchema',
  'parameters_json_schema',
  'parameters',
];

/** OpenAI and Gemini allow a function without parameters to have no schema. */
function givenSchema(name: string, tool: Fields, fields: Fields): unknown {
  const field = SCHEMA_FIELDS.find(
    (candidate) => fields[candidate] !== undefined && fields[candidate] !== null,
  );
  if (field !== undefined) return fields[field];
  const isFunction = tool['type'] === 'function' || isFunctionTool(tool);
  const isDeclaration = tool['type'] === undefined && Object.keys(tool).every((key) => DECLARATION.has(key));
  if (isFunction || isDeclaration) return { type: 'object', properties: {} };
  throw invalid(name, tool['type'] === undefined ? 'It has no input schema.' : PROVIDERS_OWN);
}

const DECLARATION = new Set([
  'name',
  'description',
  'behavior',
  'response',
  'responseJsonSchema',
  'parameters',
]);

function schemaOf(name: string, given: unknown): JsonObject {
  const schema = jsonSchemaOf(name, typeof given === 'function' ? call(name, given as () => unknown) : given);
  if (!isPlainThroughout(schema) || !isSchema(schema as Fields)) throw invalid(name, UNREADABLE);
  const { value, changes } = toJsonValue(schema);
  if (!isJsonObject(value) || changes.some(({ kind }) => kind !== 'undefined'))
    throw invalid(name, UNREADABLE);
  const plain = hasUpperTypes(value) ? (withPlainTypes(value) as JsonObject) : value;
  if ((plain['type'] ?? 'object') !== 'object')
    throw invalid(name, 'Its input schema must describe an object.');
  return plain;
}

const UNREADABLE =
  'Its input schema is not JSON Schema, and its library gives none. Convert it first, for example with `z.toJSONSchema(schema)`.';

/** From the AI SDK's `jsonSchema()`, a library that follows Standard JSON Schema, or Zod; a plain schema is used unchanged. */
function jsonSchemaOf(name: string, given: unknown): unknown {
  if (typeof given !== 'object' || given === null) throw invalid(name, UNREADABLE);
  const fields = given as Fields;
  const standard = fields['~standard'] as
    | { jsonSchema?: { input?: (options: object) => unknown } }
    | undefined;
  const input = standard?.jsonSchema?.input;
  if (typeof input === 'function') return call(name, () => input({ target: 'draft-2020-12' }));
  if (typeof fields['toJSONSchema'] === 'function')
    return call(name, () => (given as { toJSONSchema(): unknown }).toJSONSchema());
  const isWrapped = 'jsonSchema' in fields && ('validate' in fields || '_type' in fields);
  if (!isWrapped) return given;
  const schema = fields['jsonSchema'];
  if (typeof (schema as PromiseLike<unknown> | null)?.then === 'function')
    throw invalid(name, 'Its input schema is a promise. Await it first.');
  return schema;
}

function call(name: string, make: () => unknown): unknown {
  try {
    return make();
  } catch (cause) {
    throw invalid(name, UNREADABLE, cause);
  }
}

const KEYWORDS = [
  'type',
  'properties',
  'additionalProperties',
  '$ref',
  '$defs',
  'anyOf',
  'oneOf',
  'allOf',
  'required',
];

/** An object with only other fields is not a schema. */
function isSchema(schema: Fields): boolean {
  return Object.keys(schema).length === 0 || KEYWORDS.some((keyword) => schema[keyword] !== undefined);
}

/** A schema that contains objects of a library is not JSON, whatever it looks like. */
function isPlainThroughout(schema: unknown): boolean {
  const waiting: unknown[] = [schema];
  const seen = new Set<unknown>();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== 'object' || next === null || seen.has(next)) continue;
    if (!Array.isArray(next) && !isPlain(next)) return false;
    seen.add(next);
    for (const member of Object.values(next)) waiting.push(member ?? null);
  }
  return isPlain(schema);
}

function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

/** Gemini's own schemas have types in capitals, numbers as texts, and `nullable`. */
function hasUpperTypes(schema: JsonObject): boolean {
  return schema['type'] === 'OBJECT';
}

const NUMBERS = /^(min|max)(Items|Length|Properties)$/;
/** Fields whose members are schemas, by name. */
const NAMED_SCHEMAS = new Set(['properties', '$defs', 'defs']);
/** Fields that hold values, not schemas. */
const VALUES = new Set(['enum', 'default', 'example', 'required', 'propertyOrdering']);

function withPlainTypes(schema: JsonValue): JsonValue {
  if (Array.isArray(schema)) return schema.map(withPlainTypes);
  if (!isJsonObject(schema)) return schema;
  const { nullable, ...fields } = schema;
  const plain: JsonObject = {};
  for (const [key, value] of Object.entries(fields)) {
    if (key === 'type' && typeof value === 'string')
      plain[key] = nullable === true ? [value.toLowerCase(), 'null'] : value.toLowerCase();
    else if (NUMBERS.test(key) && typeof value === 'string') plain[key] = Number(value);
    else if (NAMED_SCHEMAS.has(key) && isJsonObject(value))
      plain[key] = Object.fromEntries(
        Object.entries(value).map(([name, one]) => [name, withPlainTypes(one)]),
      );
    else plain[key] = VALUES.has(key) ? value : withPlainTypes(value);
  }
  return plain;
}

function invalid(tool: string, problem: string, cause?: unknown): RekindleError {
  return new RekindleError(
    'TOOL_INVALID',
    `The tool ${JSON.stringify(tool)} cannot be declared. ${problem}`,
    {
      details: { tool, problem },
      ...(cause === undefined ? {} : { cause }),
    },
  );
}
