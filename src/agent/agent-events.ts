/** What an agent tells while it works. Restoring emits none of the turn's events. */
import type { JsonValue } from '../core/json.js';
import type { RestoreReport } from '../memory/restore/restore-report.js';
import type { TokenUsage } from './model/language-model.js';

/** `lease_lost`: another process runs this agent now; nothing can be written here any more. */
export type AgentStatus =
  | 'created'
  | 'starting'
  | 'idle'
  | 'running'
  | 'stopping'
  | 'stopped'
  | 'failed'
  | 'lease_lost';

export interface TurnResult {
  readonly turnId: string;
  /** The final answer; what was said until then when the turn was aborted. */
  readonly text: string;
  readonly status: 'completed' | 'aborted' | 'steps_exceeded';
  /** Model responses in this turn. */
  readonly steps: number;
  readonly usage: TokenUsage;
}

export type AgentEvents = {
  status_changed: { readonly from: AgentStatus; readonly to: AgentStatus };
  restored: { readonly report: RestoreReport };
  turn_started: { readonly turnId: string; readonly resumed: boolean };
  text_delta: { readonly turnId: string; readonly delta: string };
  reasoning_delta: { readonly turnId: string; readonly delta: string };
  /** What this response said so far does not count: the model is asked again. */
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
  /** A call could not be written to the tool-call log; the conversation is safe. */
  tool_log_failed: { readonly message: string };
  turn_ended: TurnResult;
};

/** An event with its name: the items of `agent.stream()`. */
export type AgentEvent = {
  [Name in keyof AgentEvents]: { readonly type: Name } & AgentEvents[Name];
}[keyof AgentEvents];
