/**
 * The original arguments of open calls, on a store that redacts: a tool must run with the arguments that the model gave. They are in
 * the memory of this process only. A later process does not have them, and does not run such a call.
 */
import type { JsonValue } from '../../core/json.js';
import { MASK } from '../../core/redaction/redactor.js';
import type { ToolCallSpec } from '../../messages/message.js';
import type { StorageRedactor } from '../../storage/storage-redactor.js';
import type { Trace } from '../models/trace.js';
import { keyOf } from './tool-call-ledger.js';

export class GivenArguments {
  readonly #redactor: StorageRedactor | null;
  readonly #given = new Map<string, JsonValue>();

  constructor(redactor: StorageRedactor | null) {
    this.#redactor = redactor;
  }

  /** Takes a trace before it is redacted. */
  note(trace: Trace): void {
    if (!this.#redactor) return;
    if (trace.type === 'tool_call')
      this.#given.set(keyOf({ turnId: trace.turnId, callId: trace.call.id }), trace.call.arguments);
    if (trace.type === 'tool_result')
      this.#given.delete(keyOf({ turnId: trace.turnId, callId: trace.result.toolCallId }));
  }

  /** The arguments for running a recorded call; undefined if they were redacted and only an earlier process had the originals. */
  of(turnId: string, { id, arguments: stored }: ToolCallSpec): JsonValue | undefined {
    if (!this.#redactor) return stored;
    const given = this.#given.get(keyOf({ turnId, callId: id }));
    if (given !== undefined) return given;
    return hasMask(stored) ? undefined : stored;
  }

  /** The same for the input from a host's loop, which may have read it from the stored list. An input without masks is returned as it is. */
  inputOf(turnId: string, call: ToolCallSpec, input: unknown): unknown {
    return this.#redactor && hasMask(call.arguments) ? this.of(turnId, call) : input;
  }
}

function hasMask(value: JsonValue): boolean {
  return JSON.stringify(value).includes(MASK);
}

/** The result of such a call. */
export const ARGUMENTS_GONE =
  'The call was not run: its arguments held sensitive data, which is not stored, and the process that had them ended. Call the tool again with the whole arguments.';
