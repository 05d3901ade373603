/**
 * Wraps the tools of a host's own loop with the ledger and the traces. Knows the AI SDK's tool shape by
 * structure only.
 */
import { RekindleError } from '../../core/errors.js';
import type { JsonValue } from '../../core/json.js';
import { toJsonValue } from '../../core/to-json-value.js';
import { ARGUMENTS_GONE } from '../../memory/store/given-arguments.js';
import { type CallTarget, runLoggedCall } from './logged-call.js';
import { type ShownOutput, shownOutput } from './model-output.js';

interface ExecuteOptions {
  readonly toolCallId: string;
  /** The messages that the model got in this step. */
  readonly messages?: readonly unknown[];
  readonly abortSignal?: AbortSignal;
}

// The SDK's tools differ in their argument types, which this wrapper passes through.
export type GuardableTools = { readonly [name: string]: object };

type Execute = (input: unknown, options: ExecuteOptions) => unknown;

/** The host's open turn. */
export interface GuardedTurn {
  readonly turnId: string;
  /** The id under which the calls of one response are recorded. */
  stepIdOf(messages: readonly unknown[] | undefined): string;
  /** The id under which the call is recorded. */
  callIdOf(step: string, toolName: string, given: string, args: JsonValue): string;
  isRecorded(callId: string): boolean;
  /** Runs the call once. A repeated request for the same call gets the same result. */
  once<T>(callId: string, run: () => Promise<T>): Promise<T>;
}

/**
 * Tools without `execute` (run by the client or the provider) are returned unchanged. A tool may set
 * `idempotent: true`.
 *
 * The model sees the recorded value: a guarded tool returns the JSON of its tool's output. If the tool has
 * `toModelOutput`, the result of that is recorded.
 */
export function guardTools<Tools extends GuardableTools>(
  tools: Tools,
  target: CallTarget,
  openTurn: () => GuardedTurn,
): Tools {
  const guarded = Object.entries(tools).map(([name, tool]) => {
    const execute = (tool as { readonly execute?: unknown }).execute;
    if (typeof execute !== 'function') return [name, tool];
    return [name, { ...tool, execute: guard(name, tool, execute.bind(tool) as Execute, target, openTurn) }];
  });
  return Object.fromEntries(guarded) as Tools;
}

function guard(
  name: string,
  tool: object,
  execute: Execute,
  target: CallTarget,
  openTurn: () => GuardedTurn,
): Execute {
  const { memory } = target;
  return async (input, options) => {
    const turn = openTurn();
    const args = toJsonValue(input).value;
    const step = turn.stepIdOf(options.messages);
    const callId = turn.callIdOf(step, name, options.toolCallId, args);
    return turn.once(callId, async () => {
      if (!turn.isRecorded(callId))
        await memory.ingestToolIntents([{ id: callId, name, arguments: args }], turn.turnId, step);
      const call = { callId, turnId: turn.turnId, toolName: name, input: args };
      return runGuarded(target, call, tool, input, options, async () => {
        const given = { id: callId, name, arguments: args };
        const whole = memory.store.given.inputOf(turn.turnId, given, input);
        if (whole === undefined) throw new RekindleError('TOOL_FAILED', ARGUMENTS_GONE); // the result of the call
        return finalOutput(execute(whole, options));
      });
    });
  };
}

async function runGuarded(
  target: CallTarget,
  call: Parameters<typeof runLoggedCall>[1],
  tool: object,
  input: unknown,
  options: ExecuteOptions,
  execute: () => Promise<unknown>,
): Promise<unknown> {
  const { memory } = target;
  const signal = options.abortSignal ?? new AbortController().signal;
  const idempotent = (tool as { readonly idempotent?: unknown }).idempotent === true;
  let output: unknown;
  let shown: ShownOutput | null = null;
  const parts = () => shown?.parts;
  const outcome = await runLoggedCall(target, call, { idempotent, signal, parts }, async () => {
    output = await execute();
    shown = await shownOutput(tool, { toolCallId: options.toolCallId, input, output }, memory);
    return shown ? shown.result : output;
  });
  if (outcome.error !== null) {
    const details = { toolName: call.toolName, callId: call.callId };
    throw new RekindleError('TOOL_FAILED', outcome.error, { details });
  }
  if (!shown) return outcome.result;
  // The SDK calls `toModelOutput` again, with the tool's output.
  return memory.store.backend.redactor?.json(output as JsonValue) ?? output;
}

/** A tool may stream its output, as the SDK allows: the last part is the result. */
async function finalOutput(output: unknown): Promise<unknown> {
  if (!isAsyncIterable(output)) return output;
  let last: unknown;
  for await (const part of output) last = part;
  return last;
}

export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
