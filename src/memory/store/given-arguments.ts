/**
 * The arguments of open calls as the model gave them, where the store keeps them without what is sensitive: a tool runs with what it
 * was called with. They are in the memory of this process only. A later process does not have them, and does not run such a call.
 */
import type { JsonValue } from '../../core/json.js';
import { MASK } from '../../core/redaction/redactor.js';
import type { ToolCallSpec } from '../../messages/message.js';
import type { StorageRedactor } from '../../storage/storage-redactor.js';
import type { Trace } from '../models/trace.js';

export class GivenArguments {
  readonly #redactor: StorageRedactor | null;
  readonly #given = new Map<string, JsonValue>();

  constructor(redactor: StorageRedactor | null) {
    this.#redactor = redactor;
  }

  /** A trace before it is stored. */
  note(trace: Trace): void {
    if (!this.#redactor) return;
    if (trace.type === 'tool_call') this.#given.set(keyOf(trace.turnId, trace.call.id), trace.call.arguments);
    if (trace.type === 'tool_result') this.#given.delete(keyOf(trace.turnId, trace.result.toolCallId));
  }

  /** The arguments to run a recorded call with; undefined when an earlier process had them, and they were not stored whole. */
  of(turnId: string, { id, arguments: stored }: ToolCallSpec): JsonValue | undefined {
    if (!this.#redactor) return stored;
    const given = this.#given.get(keyOf(turnId, id));
    if (given !== undefined) return given;
    return hasMask(stored) ? undefined : stored;
  }

  /** The same for the input that a host's loop passes on: it may have read it from the stored list. An input without masks stays. */
  inputOf(turnId: string, call: ToolCallSpec, input: unknown): unknown {
    return this.#redactor && hasMask(call.arguments) ? this.of(turnId, call) : input;
  }
}

function hasMask(value: JsonValue): boolean {
  return JSON.stringify(value).includes(MASK);
}

/** What such a call gets for a result. */
export const ARGUMENTS_GONE =
  'The call was not run: its arguments held sensitive data, which is not stored, and the process that had them ended. Call the tool again with the whole arguments.';

function keyOf(turnId: string, callId: string): string {
  return `${turnId}\u0000${callId}`;
}
