/** A tool of this library in the shape of the AI SDK, for hosts that mount it next to their own tools. */
import type { JsonObject, JsonValue } from '../../core/json.js';
import type { ToolDefinition } from '../../core/tool-definition.js';

export interface HostTool {
  readonly description: string;
  // The SDK's schema type differs between its versions; each accepts an object with its marker.
  readonly inputSchema: never;
  readonly idempotent: boolean;
  readonly execute: (input: JsonObject, options?: { readonly toolCallId?: string }) => Promise<JsonValue>;
}

/** The markers by which the SDK recognises a JSON Schema; version 5 also checks the second one. */
const SCHEMA = Symbol.for('vercel.ai.schema');
const VALIDATOR = Symbol.for('vercel.ai.validator');

export function hostTool({
  description,
  inputSchema,
  idempotent = false,
  execute,
}: ToolDefinition): HostTool {
  const schema = {
    [SCHEMA]: true,
    [VALIDATOR]: true,
    _type: undefined,
    validate: undefined,
    jsonSchema: inputSchema,
  };
  return {
    description,
    inputSchema: schema as never,
    idempotent,
    execute: async (input, { toolCallId: callId = '' } = {}) => {
      const context = { callId, turnId: '', idempotencyKey: callId, signal: new AbortController().signal };
      return (await execute(input, context)) as JsonValue;
    },
  };
}
