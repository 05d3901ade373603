/** A tool of ours in the shape of the AI SDK, for hosts that mount it beside their own. */
import type { JsonObject, JsonValue } from '../../core/json.js';
import type { ToolDefinition } from '../../core/tool-definition.js';

export interface HostTool {
  readonly description: string;
  // The SDK's type of schemas differs between its versions, and each takes what carries its mark.
  readonly inputSchema: never;
  readonly idempotent: boolean;
  readonly execute: (input: JsonObject, options?: { readonly toolCallId?: string }) => Promise<JsonValue>;
}

/** The marks by which the SDK knows a JSON Schema; version 5 looks for the second one, too. */
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
