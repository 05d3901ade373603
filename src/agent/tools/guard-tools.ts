/** Puts the ledger and the traces around the tools of a host's own loop. Knows the AI SDK's tool shape by structure only. */
import { RekindleError } from '../../core/errors.js';
import { toJsonValue } from '../../core/to-json-value.js';
import type { MemoryManager } from '../../memory/memory-manager.js';
import { runRecordedCall } from './recorded-call.js';

interface ExecuteOptions {
  readonly toolCallId: string;
  /** What the model was sent in this step. */
  readonly messages?: readonly unknown[];
  readonly abortSignal?: AbortSignal;
}

// The SDK's tools differ in their argument types, which this wrapper hands through unseen.
export type GuardableTools = { readonly [name: string]: object };

type Execute = (input: unknown, options: ExecuteOptions) => unknown;

/** The open turn of the host. */
export interface GuardedTurn {
  readonly turnId: string;
  /** The id under which the call is recorded. */
  callIdOf(step: string, toolName: string, given: string): string;
  isRecorded(callId: string): boolean;
  /** The same call, at once or later, gets what its one run gave. */
  once(callId: string, run: () => Promise<unknown>): Promise<unknown>;
}

/** Tools without `execute` (run by the host or the provider) are passed on as they are. A tool may say `idempotent: true`. */
export function guardTools<Tools extends GuardableTools>(
  tools: Tools,
  memory: MemoryManager,
  openTurn: () => GuardedTurn,
): Tools {
  const guarded = Object.entries(tools).map(([name, tool]) => {
    const execute = (tool as { readonly execute?: unknown }).execute;
    if (typeof execute !== 'function') return [name, tool];
    return [name, { ...tool, execute: guard(name, tool, execute.bind(tool) as Execute, memory, openTurn) }];
  });
  return Object.fromEntries(guarded) as Tools;
}

function guard(
  name: string,
  tool: object,
  execute: Execute,
  memory: MemoryManager,
  openTurn: () => GuardedTurn,
): Execute {
  const idempotent = (tool as { readonly idempotent?: unknown }).idempotent === true;
  return async (input, options) => {
    const turn = openTurn();
    // All calls of one step were made in answer to the same messages: they are one response.
    const step = `${turn.turnId}_step_${options.messages?.length ?? 0}`;
    const callId = turn.callIdOf(step, name, options.toolCallId);
    return turn.once(callId, async () => {
      if (!turn.isRecorded(callId)) {
        const call = { id: callId, name, arguments: toJsonValue(input).value };
        await memory.ingestToolIntents([call], turn.turnId, step);
      }
      return runGuarded(memory, { callId, turnId: turn.turnId, toolName: name }, idempotent, options, () =>
        finalOutput(execute(input, options)),
      );
    });
  };
}

/** The host gets what the tool gave, not its JSON. */
async function runGuarded(
  memory: MemoryManager,
  call: { readonly callId: string; readonly turnId: string; readonly toolName: string },
  idempotent: boolean,
  options: ExecuteOptions,
  execute: () => Promise<unknown>,
): Promise<unknown> {
  const signal = options.abortSignal ?? new AbortController().signal;
  let value: unknown;
  const outcome = await runRecordedCall(memory, call, { idempotent, signal }, async () => {
    value = await execute();
    return value;
  });
  if (outcome.error === null) return value;
  throw new RekindleError('TOOL_FAILED', outcome.error, {
    details: { toolName: call.toolName, callId: call.callId },
  });
}

/** A tool may stream its output, as the SDK has it: the last part is the result. */
async function finalOutput(output: unknown): Promise<unknown> {
  if (!isAsyncIterable(output)) return output;
  let last: unknown;
  for await (const part of output) last = part;
  return last;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
