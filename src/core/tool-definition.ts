/** A tool as the host declares it. */
import type { JsonObject } from './json.js';

export interface ToolContext {
  readonly callId: string;
  readonly turnId: string;
  /** The same for every attempt of one call: hand it to services that know idempotency keys. */
  readonly idempotencyKey: string;
  /** Aborted on cancellation and on time-out. A tool that ignores it runs on unseen. */
  readonly signal: AbortSignal;
}

export interface ToolDefinition<Args = JsonObject> {
  /** Letters, digits, `_` and `-`, at most 64: what every provider accepts. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema (2020-12) of an object. Arguments that do not fit are refused before the tool runs. */
  readonly inputSchema: JsonObject;
  /** Running it twice does no harm: a call whose end is unknown may be repeated. Default false. */
  readonly idempotent?: boolean;
  /** Ask the host before it runs. Default false. */
  readonly needsApproval?: boolean | ((args: Args) => boolean);
  /** What it returns is JSON already, and is handed on as it is. Default false: it is converted, and what JSON cannot hold is replaced. */
  readonly returnsJson?: boolean;
  /** Default: none. */
  readonly timeoutMs?: number;
  /** Anything it returns becomes JSON; what it throws becomes the call's error. */
  execute(args: Args, context: ToolContext): Promise<unknown> | unknown;
}

/** A tool as the model sees it. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** The schema of an object with these properties and no others. */
export function inputObject(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: 'object', additionalProperties: false, properties, required: [...required] };
}
