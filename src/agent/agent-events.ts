/** Types of an agent's events and turn results. A restore emits no turn events. */
import type { RekindleError } from '../core/errors.js';
import type { JsonValue } from '../core/json.js';
import type { RestoreReport } from '../memory/restore/restore-report.js';
import type { InputMode } from './inputs/input-table.js';
import type { TokenUsage } from './model/language-model.js';

/**
 * Lifecycle of an agent. `lease_lost`: another process runs this agent now, so this one can no longer write.
 */
export type AgentStatus =
  | 'created'
  | 'starting'
  | 'idle'
  | 'running'
  | 'stopping'
  | 'stopped'
  | 'failed'
  | 'lease_lost';

/** The outcome of one turn, as `send` and `resume` resolve with it. */
export interface TurnResult {
  /** Also the id of the turn in the traces. */
  readonly turnId: string;
  /** The final answer. For an aborted turn, the text received before the abort. */
  readonly text: string;
  /** `steps_exceeded`: the model still asked for tools after `stepsMax` responses. */
  readonly status: 'completed' | 'aborted' | 'steps_exceeded';
  /** Model responses in this turn. */
  readonly steps: number;
  /** Tokens over all model responses of the turn. */
  readonly usage: TokenUsage;
}

/** Event names and their payloads, for `agent.events.on(name, listener)`. */
export type AgentEvents = {
  status_changed: { readonly from: AgentStatus; readonly to: AgentStatus };
  restored: { readonly report: RestoreReport };
  turn_started: { readonly turnId: string; readonly resumed: boolean };
  /** Durable before it is emitted. A listener that is added while an answer is written hears the next one. */
  text_delta: { readonly turnId: string; readonly delta: string };
  /** As `text_delta`. A restore does not bring back the reasoning of an answer that was cut off. */
  reasoning_delta: { readonly turnId: string; readonly delta: string };
  /** Discard the text of this response so far: the request is sent again after `pauseMs` milliseconds. */
  model_retry: {
    readonly turnId: string;
    readonly attempt: number;
    readonly pauseMs: number;
    readonly reason: string;
  };
  tool_call: {
    readonly turnId: string;
    readonly callId: string;
    readonly toolName: string;
    readonly arguments: JsonValue;
  };
  tool_approval_requested: {
    readonly turnId: string;
    readonly callId: string;
    readonly toolName: string;
    readonly arguments: JsonValue;
  };
  tool_started: { readonly turnId: string; readonly callId: string; readonly toolName: string };
  tool_result: {
    readonly turnId: string;
    readonly callId: string;
    readonly toolName: string;
    readonly result: JsonValue;
    readonly error: string | null;
  };
  /** A call could not be written to the tool-call log. The conversation itself is not affected. */
  tool_log_failed: { readonly message: string };
  turn_ended: TurnResult;
  /** An input is stored: it runs when its turn comes. */
  input_queued: { readonly inputId: string; readonly mode: InputMode };
  /** An input became a user message of this turn. Durable before it is emitted. */
  input_taken: { readonly inputId: string; readonly mode: InputMode; readonly turnId: string };
  /**
   * The turn of an input failed, or the queue could not be read (`inputId` null). Nothing more runs by itself before the next
   * `enqueue` or `runQueued`.
   */
  input_failed: { readonly inputId: string | null; readonly error: RekindleError };
};

/** One event with its name in `type`, as `agent.stream()` yields it. */
export type AgentEvent = {
  [Name in keyof AgentEvents]: { readonly type: Name } & AgentEvents[Name];
}[keyof AgentEvents];
