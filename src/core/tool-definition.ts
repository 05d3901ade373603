/** A tool as the host declares it. */
import type { JsonObject } from './json.js';

/** What a running tool knows about its call. */
export interface ToolContext {
  readonly callId: string;
  readonly turnId: string;
  /** The same for every attempt of one call. Pass it to services that support idempotency keys. */
  readonly idempotencyKey: string;
  /** Aborted on cancellation and on time-out. A tool that ignores it keeps running unobserved. */
  readonly signal: AbortSignal;
}

/**
 * A tool that the model may call.
 * ```ts
 * const weather: ToolDefinition<{ city: string }> = {
 *   name: 'weather',
 *   description: 'Current weather of a city',
 *   inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
 *   idempotent: true,
 *   execute: ({ city }, { signal }) => fetchWeather(city, signal),
 * };
 * ```
 */
export interface ToolDefinition<Args = JsonObject> {
  /** Letters, digits, `_` and `-`, at most 64 characters: every provider accepts these. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema (2020-12) of an object. Arguments that do not match are rejected before the tool runs. */
  readonly inputSchema: JsonObject;
  /** Running it twice does no harm, so a call with an unknown outcome may be repeated. Default false. */
  readonly idempotent?: boolean;
  /** Ask the host before the tool runs. Default false. */
  readonly needsApproval?: boolean | ApprovalRule<Args>;
  /**
   * The tool returns JSON that needs no conversion. Default false: the result is converted, and values that JSON cannot
   * hold are replaced.
   */
  readonly returnsJson?: boolean;
  /** Time-out in milliseconds. Default: none. */
  readonly timeoutMs?: number;
  /** The returned value becomes JSON; a thrown error becomes the error of the call. */
  execute(args: Args, context: ToolContext): Promise<unknown> | unknown;
}

/** Typed like a method, as `execute` is: a tool with arguments of its own fits into a list of tools. */
type ApprovalRule<Args> = { needs(args: Args): boolean }['needs'];

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
