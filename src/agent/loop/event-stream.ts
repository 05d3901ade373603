/** The events of one turn as an async iterable. */
import type { TypedEvents } from '../../core/events.js';
import type { AgentEvent, AgentEvents, TurnResult } from '../agent-events.js';

const STREAMED = [
  'turn_started',
  'text_delta',
  'reasoning_delta',
  'model_retry',
  'tool_call',
  'tool_approval_requested',
  'tool_started',
  'tool_result',
  'turn_ended',
] as const;

export class EventStream implements AsyncIterable<AgentEvent> {
  readonly #events: TypedEvents<AgentEvents>;
  readonly #run: (signal: AbortSignal) => Promise<TurnResult>;
  readonly #signal: AbortSignal | undefined;

  constructor(
    events: TypedEvents<AgentEvents>,
    run: (signal: AbortSignal) => Promise<TurnResult>,
    signal: AbortSignal | undefined,
  ) {
    this.#events = events;
    this.#run = run;
    this.#signal = signal;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<AgentEvent> {
    const left = new AbortController();
    const signal = this.#signal ? AbortSignal.any([this.#signal, left.signal]) : left.signal;
    const waiting: AgentEvent[] = [];
    let wake = () => {};
    let ended = false;
    const ends = STREAMED.map((name) =>
      this.#events.on(name, (event) => {
        waiting.push({ type: name, ...event } as AgentEvent);
        wake();
      }),
    );
    const turn = this.#run(signal).finally(() => {
      ended = true;
      wake();
    });
    turn.catch(() => {}); // thrown below, to the reader
    try {
      while (true) {
        const event = waiting.shift();
        if (event) yield event;
        else if (ended) break;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
      await turn;
    } finally {
      for (const end of ends) end();
      left.abort(new Error('The reader left.'));
      await turn.catch(() => {});
    }
  }
}
