/** Puts the ledger and the traces around the tools of a host's own loop. Knows the AI SDK's tool shape by structure only. */
import { RekindleError } from '../../core/errors.js';
import type { JsonValue } from '../../core/json.js';
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

/** Tools without `execute` (run by the host or the provider) are passed on as they are. A tool may say `idempotent: true`. */
export function guardTools<Tools extends GuardableTools>(
  tools: Tools,
  memory: MemoryManager,
  turnId: () => string,
): Tools {
  const guarded = Object.entries(tools).map(([name, tool]) => {
    const execute = (tool as { readonly execute?: unknown }).execute;
    if (typeof execute !== 'function') return [name, tool];
    return [name, { ...tool, execute: guard(name, tool, execute.bind(tool) as Execute, memory, turnId) }];
  });
  return Object.fromEntries(guarded) as Tools;
}

function guard(
  name: string,
  tool: object,
  execute: Execute,
  memory: MemoryManager,
  turnId: () => string,
): Execute {
  const idempotent = (tool as { readonly idempotent?: unknown }).idempotent === true;
  return async (input, options) => {
    const turn = turnId();
    const call = { callId: options.toolCallId, turnId: turn, toolName: name };
    // All calls of one step were made in answer to the same messages: they are one response.
    const messageId = `${turn}_step_${options.messages?.length ?? 0}`;
    const args: JsonValue = toJsonValue(input).value;
    if (!isOpen(memory, call.callId)) {
      await memory.ingestToolIntents([{ id: call.callId, name, arguments: args }], turn, messageId);
    }
    const signal = options.abortSignal ?? new AbortController().signal;
    let value: unknown;
    const outcome = await runRecordedCall(memory, call, { idempotent, signal }, async () => {
      value = await execute(input, options);
      return value;
    });
    if (outcome.error !== null) {
      throw new RekindleError('TOOL_FAILED', outcome.error, {
        details: { toolName: name, callId: call.callId },
      });
    }
    return value;
  };
}

function isOpen(memory: MemoryManager, callId: string): boolean {
  return memory.openCalls().some((open) => open.call.id === callId);
}
