/** The tools of an agent: definitions checked, schemas compiled once. */
import { messageOf, RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import { compileSchema, type SchemaCheck } from '../../core/schema-check.js';
import type { ToolDefinition, ToolDescription } from '../../core/tool-definition.js';

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
/** The longest delay of a timer in ms; a longer one would fire at once. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1;

interface Registered {
  readonly tool: ToolDefinition;
  readonly check: SchemaCheck;
}

export class ToolRegistry {
  readonly #tools = new Map<string, Registered>();
  #descriptions: readonly ToolDescription[] | null = null;

  /**
   * @throws TOOL_INVALID for an invalid or repeated name, an invalid timeout, or a schema that is not of an
   * object
   */
  constructor(tools: readonly ToolDefinition[] = []) {
    for (const tool of tools) this.#add(tool);
  }

  #add(tool: ToolDefinition): void {
    if (typeof tool?.name !== 'string' || !NAME.test(tool.name)) {
      throw invalid(tool, 'Its name must be 1 to 64 letters, digits, `_` or `-`.');
    }
    if (this.#tools.has(tool.name)) throw invalid(tool, 'Another tool has this name.');
    if (typeof tool.execute !== 'function') throw invalid(tool, 'It has no `execute` function.');
    if (!isTimeout(tool.timeoutMs)) {
      throw invalid(tool, `Its time-out must be 1 to ${TIMEOUT_MS_MAX} ms; leave it out for none.`);
    }
    if ((tool.inputSchema?.['type'] ?? 'object') !== 'object') {
      throw invalid(tool, 'Its input schema must describe an object.');
    }
    try {
      this.#tools.set(tool.name, { tool, check: checkFor(tool.inputSchema) });
    } catch (cause) {
      throw invalid(tool, `Its input schema is not a valid JSON Schema: ${messageOf(cause)}`, cause);
    }
  }

  get(name: string): ToolDefinition | undefined {
    return this.#tools.get(name)?.tool;
  }

  /** The same array each time. */
  descriptions(): readonly ToolDescription[] {
    this.#descriptions ??= [...this.#tools.values()].map(({ tool: { name, description, inputSchema } }) => ({
      name,
      description,
      inputSchema,
    }));
    return this.#descriptions;
  }

  /** Why the call is refused, for the model to read; null if it may run. */
  problemWith(name: string, args: JsonValue): string | null {
    const registered = this.#tools.get(name);
    if (!registered) {
      const known = [...this.#tools.keys()].join(', ') || 'none';
      return `There is no tool ${JSON.stringify(name)}. Known tools: ${known}.`;
    }
    if (!isJsonObject(args)) return 'The arguments must be a JSON object.';
    if (registered.check(args)) return null;
    const problems = registered.check
      .violations()
      .map(({ path, message }) => `${path || 'arguments'} ${message}`);
    return `The arguments do not fit the schema: ${problems.join('; ')}.`;
  }
}

/** Compiled once, even if many agents have the tool. */
const CHECKS = new WeakMap<JsonObject, SchemaCheck>();

/**
 * Schemas come from generators and other servers. Their `$schema` (often of an older draft) and `$id` (which
 * must be unique in a process) do not affect the check of the arguments.
 */
function checkFor(schema: JsonObject): SchemaCheck {
  if (!isJsonObject(schema)) return compileSchema(schema);
  let check = CHECKS.get(schema);
  if (!check) {
    const { $schema: _, $id: __, ...plain } = schema;
    CHECKS.set(schema, (check = compileSchema(plain)));
  }
  return check;
}

function isTimeout(ms: number | undefined): boolean {
  return ms === undefined || (ms >= 1 && ms <= TIMEOUT_MS_MAX);
}

function invalid(tool: ToolDefinition, problem: string, cause?: unknown): RekindleError {
  const details: JsonObject = { tool: String(tool?.name), problem };
  return new RekindleError('TOOL_INVALID', `The tool ${JSON.stringify(tool?.name)} is invalid. ${problem}`, {
    details,
    ...(cause === undefined ? {} : { cause }),
  });
}
