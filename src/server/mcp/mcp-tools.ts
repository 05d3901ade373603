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
import type { CallLog } from './call-logging.js';

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
const DESTRUCTIVE: ReadonlySet<string> = new Set([
  'state_set',
  'state_delete',
  'state_patch',
  'update_state',
]);

export class ToolRegistry {
  readonly #known = new Map<string, KnownTool>();
  readonly #running = new Set<Promise<CallToolResult>>();
  readonly #stopped = new AbortController();

  /** @param log null: its calls are not logged @param gone aborted when the client disconnects */
  register(server: McpServer, tool: ToolDefinition, log: CallLog | null, gone?: AbortSignal): void {
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
      const running = run(tool, check, args, AbortSignal.any(signals), log);
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
  log: CallLog | null,
): Promise<CallToolResult> {
  const callId = newId('call', Date.now());
  const ended = (result: JsonValue, error: string | null) =>
    log?.ended({ callId, toolName: tool.name, result, error }, '');
  log?.begun({ id: callId, name: tool.name, arguments: args });
  try {
    if (!check(args)) throw refusedInput(tool.name, check.violations());
    const returned = await tool.execute(args, { callId, turnId: 'mcp', idempotencyKey: callId, signal });
    const result = tool.returnsJson ? (returned as JsonValue) : toJsonValue(returned).value;
    ended(result, null);
    return resultOf(result);
  } catch (thrown) {
    const problem = problemOf(thrown);
    ended(null, textOfProblem(problem));
    return errorResult(problem);
  } finally {
    await log?.flush(); // the client that has its answer finds the call in the log
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

interface ToolProblem {
  readonly code: string;
  readonly message: string;
  readonly [detail: string]: JsonValue;
}

function problemOf(thrown: unknown): ToolProblem {
  if (!isRekindleError(thrown)) return { code: 'UNEXPECTED', message: messageOf(thrown) };
  const { code, message, advice, details } = thrown;
  return { code, status: statusOf(code), message, advice, details };
}

/** As the client and the log have it. */
function textOfProblem({ code, message }: ToolProblem): string {
  return `${code}: ${message}`;
}

function errorResult(error: ToolProblem): CallToolResult {
  return {
    isError: true,
    content: [{ type: 'text', text: textOfProblem(error) }],
    structuredContent: { error },
  };
}
