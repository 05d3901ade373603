/** Writes the calls of an agent to a tool-call log. A failing log does not fail the turn; it is reported. */
import { type Clock, systemClock } from '../../core/clock.js';
import { messageOf } from '../../core/errors.js';
import type { JsonValue } from '../../core/json.js';
import { toJsonValue } from '../../core/to-json-value.js';
import type { InterruptedCall } from '../../memory/restore/restore-report.js';
import { type Message, type ToolCallSpec, toolCallsOf } from '../../messages/message.js';
import type { ToolCallLog } from '../../workspace/tool-calls/tool-call-log.js';
import type { ToolOutcome } from './tool-runner.js';

/** Where an agent's tool calls are logged. */
export interface CallLogging {
  readonly log: ToolCallLog;
  /** The name to find the calls by. Default: the agent's id. */
  readonly agent?: string;
  readonly session?: string;
}

interface Started {
  readonly input: JsonValue;
  readonly startedMs: number;
  readonly since: number;
}

export class CallRecorder {
  readonly #logging: CallLogging;
  readonly #agentId: string;
  readonly #onFailed: (message: string) => void;
  readonly #clock: Clock;
  readonly #running = new Map<string, Started>();
  readonly #writing = new Set<Promise<void>>();

  constructor(
    logging: CallLogging,
    agentId: string,
    onFailed: (message: string) => void,
    clock: Clock = systemClock,
  ) {
    this.#logging = logging;
    this.#agentId = agentId;
    this.#onFailed = onFailed;
    this.#clock = clock;
  }

  /** A call was requested or started. The later time counts. */
  begun(call: ToolCallSpec): void {
    const input = toJsonValue(call.arguments).value; // a copy: the tool may change its arguments
    this.#running.set(call.id, { input, startedMs: this.#clock.nowMs(), since: performance.now() });
  }

  ended(outcome: ToolOutcome, turnId: string): void {
    const started = this.#running.get(outcome.callId);
    this.#running.delete(outcome.callId);
    const { log, agent = this.#agentId, session } = this.#logging;
    const writing = log
      .record({
        callId: outcome.callId,
        tool: outcome.toolName,
        agent,
        turnId,
        ...(session === undefined ? {} : { session }),
        input: started?.input ?? null,
        output: outcome.result,
        error: outcome.error,
        startedMs: started?.startedMs ?? this.#clock.nowMs(),
        durationMs: started ? performance.now() - started.since : 0,
      })
      .catch((thrown: unknown) => this.#onFailed(messageOf(thrown)))
      .finally(() => this.#writing.delete(writing));
    this.#writing.add(writing);
  }

  /** Calls that an earlier process left unfinished. This is the only place that logs them. */
  recordInterrupted(calls: readonly InterruptedCall[], messages: readonly Message[]): void {
    for (const call of calls) {
      const made = messages[call.messageIndex];
      const spec = made ? toolCallsOf(made).find(({ id }) => id === call.callId) : undefined;
      if (!call.leftOpen && call.verdict !== 'finished') this.#interrupted(call, spec?.arguments ?? null);
    }
  }

  #interrupted({ callId, toolName, turnId, verdict }: InterruptedCall, input: JsonValue): void {
    this.#running.set(callId, { input, startedMs: this.#clock.nowMs(), since: performance.now() });
    const error = `Interrupted by the end of its process: ${verdict}.`;
    this.ended({ callId, toolName, result: null, error }, turnId ?? '');
  }

  /** Resolves when all finished calls are in the log. */
  async flush(): Promise<void> {
    await Promise.all(this.#writing);
  }
}
