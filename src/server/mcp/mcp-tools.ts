/** Registers the library's tools with MCP: strict input, structured results, and errors with codes. */
import {
  type CallToolResult,
  fromJsonSchema,
  type jsonSchemaValidator,
  type McpServer,
  type StandardSchemaWithJSON,
} from '@modelcontextprotocol/server';
import { isRekindleError, messageOf, RekindleError } from '../../core/errors.js';
import { newId } from '../../core/ids.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import { compileSchema, type SchemaCheck } from '../../core/schema-check.js';
import { toJsonValue } from '../../core/to-json-value.js';
import type { ToolDefinition } from '../../core/tool-definition.js';
import { statusOf } from '../http/problem.js';

/**
 * Input is validated here instead of by the SDK, so that a refusal has a Rekindle error code. The SDK only
 * announces the schema.
 */
const takesAnything: jsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

/** A tool's compiled input check, shared by all connections. */
interface KnownTool {
  readonly check: SchemaCheck;
  readonly inputSchema: StandardSchemaWithJSON<JsonObject, JsonObject>;
}

/** Tools that replace or remove data. Clients may ask a person before they run them. */
const DESTRUCTIVE: ReadonlySet<string> = new Set(['state_set', 'state_delete', 'update_state']);

export class ToolRegistry {
  readonly #known = new Map<string, KnownTool>();
  readonly #running = new Set<Promise<CallToolResult>>();
  readonly #stopped = new AbortController();

  /** @param gone aborted when the client disconnects */
  register(server: McpServer, tool: ToolDefinition, gone?: AbortSignal): void {
    let known = this.#known.get(tool.name);
    if (!known) {
      const inputSchema = fromJsonSchema<JsonObject>(tool.inputSchema, takesAnything);
      this.#known.set(
        tool.name,
        (known = { check: compileSchema(tool.inputSchema, { firstOnly: true }), inputSchema }),
      );
    }
    const { check, inputSchema } = known;
    const isRead = tool.idempotent === true;
    const annotations = {
      readOnlyHint: isRead,
      destructiveHint: DESTRUCTIVE.has(tool.name),
      idempotentHint: isRead,
      openWorldHint: false,
    };
    const config = { description: tool.description, inputSchema, annotations };
    server.registerTool(tool.name, config, (args, context) => {
      const signals = [context.mcpReq.signal, this.#stopped.signal, ...(gone ? [gone] : [])];
      const running = run(tool, check, args, AbortSignal.any(signals));
      this.#running.add(running);
      return running.finally(() => this.#running.delete(running));
    });
  }

  /** Cancels running calls, if their tools support it. */
  stop(): void {
    this.#stopped.abort();
  }

  /** Resolves when no call is running. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}

async function run(
  tool: ToolDefinition,
  check: SchemaCheck,
  args: JsonObject,
  signal: AbortSignal,
): Promise<CallToolResult> {
  try {
    if (!check(args)) throw refusedInput(tool.name, check.violations());
    const callId = newId('call', Date.now());
    const returned = await tool.execute(args, { callId, turnId: 'mcp', idempotencyKey: callId, signal });
    return resultOf(tool.returnsJson ? (returned as JsonValue) : toJsonValue(returned).value);
  } catch (thrown) {
    return errorOf(thrown);
  }
}

function refusedInput(tool: string, violations: readonly { path: string; message: string }[]): RekindleError {
  const lines = violations
    .slice(0, 3)
    .map(({ path, message }) => `${path === '' ? 'the input' : path} ${message}`);
  return new RekindleError('INVALID_ARGUMENT', `${tool} refuses its input: ${lines.join('; ')}.`, {
    details: { tool, violations: violations.map(({ path, message }) => ({ path, message })) },
  });
}

/** The text contains the same JSON, for clients without structured results. */
function resultOf(value: JsonValue): CallToolResult {
  const structuredContent: JsonObject = isJsonObject(value) ? value : { result: value };
  return { content: [{ type: 'text', text: textOf(value) }], structuredContent };
}

function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function errorOf(thrown: unknown): CallToolResult {
  const error = isRekindleError(thrown)
    ? {
        code: thrown.code,
        status: statusOf(thrown.code),
        message: thrown.message,
        advice: thrown.advice,
        details: thrown.details,
      }
    : { code: 'UNEXPECTED', message: messageOf(thrown) };
  const text = `${error.code}: ${error.message}`;
  return { isError: true, content: [{ type: 'text', text }], structuredContent: { error } };
}
