/** What the model sees of a tool's output if the tool has `toModelOutput`, as in the AI SDK. */
import { RekindleError } from '../../core/errors.js';
import type { JsonValue } from '../../core/json.js';
import { storeInlineMedia } from '../../memory/inline-media.js';
import type { MemoryManager } from '../../memory/memory-manager.js';
import { readMessages } from '../../messages/importers/read-messages.js';
import { type ContentPart, toolResultOf } from '../../messages/message.js';

export interface ShownOutput {
  readonly result: JsonValue;
  /** Media next to the result. */
  readonly parts: readonly ContentPart[] | undefined;
}

interface Run {
  readonly toolCallId: string;
  readonly input: unknown;
  readonly output: unknown;
}

type ToModelOutput = (given: unknown) => unknown;

/**
 * Null for a tool without `toModelOutput`. An error that it throws, and an output marked as an error, become
 * the call's error.
 */
export async function shownOutput(
  tool: object,
  run: Run,
  memory: MemoryManager,
): Promise<ShownOutput | null> {
  const { toModelOutput } = tool as { readonly toModelOutput?: unknown };
  if (typeof toModelOutput !== 'function') return null;
  const output = await modelOutput(toModelOutput.bind(tool) as ToModelOutput, run);
  const part = { type: 'tool-result', toolCallId: run.toolCallId, toolName: 'tool', output };
  const { messages } = readMessages([{ role: 'tool', content: [part] }], { format: 'ai-sdk-model' });
  const message = await storeInlineMedia(messages[0]!, memory.blobs);
  const { toolResult, toolError } = toolResultOf(message)!;
  if (toolError !== null) throw new RekindleError('TOOL_FAILED', toolError);
  return { result: toolResult, parts: message.parts };
}

/**
 * Version 5 of the SDK passes the output itself, later versions an object that contains it. The function
 * reveals which one it reads.
 */
async function modelOutput(toModelOutput: ToModelOutput, run: Run): Promise<unknown> {
  let isRead = false;
  const given = {
    toolCallId: run.toolCallId,
    input: run.input,
    get output() {
      isRead = true;
      return run.output;
    },
  };
  const first = await settled(() => toModelOutput(given));
  if (isRead) return first.get();
  const second = await settled(() => toModelOutput(run.output));
  return second.failed && !first.failed ? first.get() : second.get();
}

async function settled(run: () => unknown): Promise<{ readonly failed: boolean; get(): unknown }> {
  try {
    const value = await run();
    return { failed: false, get: () => value };
  } catch (thrown) {
    return {
      failed: true,
      get: () => {
        throw thrown;
      },
    };
  }
}
