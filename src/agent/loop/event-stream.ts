/** The events of one turn as an async iterable. */
import { AsyncQueue } from '../../core/async-queue.js';
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

/** Runs the turn. Calls `onTurn` with its id before the first event. */
type RunTurn = (signal: AbortSignal, onTurn: (turnId: string) => void) => Promise<TurnResult>;

export class EventStream implements AsyncIterable<AgentEvent> {
  readonly #events: TypedEvents<AgentEvents>;
  readonly #run: RunTurn;
  readonly #signal: AbortSignal | undefined;

  constructor(events: TypedEvents<AgentEvents>, run: RunTurn, signal: AbortSignal | undefined) {
    this.#events = events;
    this.#run = run;
    this.#signal = signal;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<AgentEvent> {
    const left = new AbortController();
    const signal = this.#signal ? AbortSignal.any([this.#signal, left.signal]) : left.signal;
    const waiting = new AsyncQueue<AgentEvent>();
    let ownTurn: string | null = null;
    const ends = STREAMED.map((name) =>
      this.#events.on(name, (event) => {
        if (event.turnId !== ownTurn) return; // turns run one after the other: this one belongs to another reader
        waiting.push({ type: name, ...event } as AgentEvent);
      }),
    );
    const onTurn = (turnId: string) => {
      ownTurn = turnId;
    };
    const turn = this.#run(signal, onTurn).finally(() => waiting.end());
    turn.catch(() => {}); // thrown to the reader below
    try {
      yield* waiting;
      await turn;
    } finally {
      for (const end of ends) end();
      left.abort(new Error('The reader left.'));
      await turn.catch(() => {});
    }
  }
}
