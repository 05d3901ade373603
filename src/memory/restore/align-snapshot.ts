/**
 * Determines which traces a plain snapshot covers, because it does not say so itself.
 *
 * Compares messages and traces in parallel, turn by turn. Texts and call ids repeat (`go on`, `call_0`). So each
 * message matches the earliest remaining trace, and any message except the user's matches only a trace of its own turn.
 * Within a turn the order does not matter: parallel results, and answers that are written after their calls.
 */
import { type Message, textOf, toolCallsOf, toolResultOf } from '../../messages/message.js';
import type { Trace } from '../models/trace.js';

/** Index of the newest trace that a message of the list matches; -1 if the list has no messages to match; null if unknown. */
export function lastCovered(messages: readonly Message[], traces: readonly Trace[]): number | null {
  if (messages.every(({ role }) => role === 'system')) return -1;
  const alignment = new Alignment(traces);
  for (const message of messages) alignment.take(message);
  return alignment.covered;
}

class Alignment {
  covered: number | null = null;
  readonly #places = new Map<string, number[]>();
  readonly #turnStarts: number[] = [];
  /** The turn of the last matched user message: its first trace, and the first trace of the next turn. */
  #turnStart = -1;
  #turnEnd = Number.POSITIVE_INFINITY;

  constructor(traces: readonly Trace[]) {
    for (const [index, trace] of traces.entries()) {
      if (trace.type === 'user') this.#turnStarts.push(index);
      for (const key of keysOfTrace(trace)) {
        const places = this.#places.get(key);
        if (places) places.push(index);
        else this.#places.set(key, [index]);
      }
    }
    for (const places of this.#places.values()) places.reverse(); // reversed, so that the earliest is popped from the end
    this.#turnStarts.reverse();
  }

  take(message: Message): void {
    const isUser = message.role === 'user';
    for (const key of keysOf(message)) {
      const index = this.#earliest(key, isUser ? Number.POSITIVE_INFINITY : this.#turnEnd);
      if (index === null) continue;
      this.covered = Math.max(this.covered ?? 0, index);
      if (isUser) this.#enterTurn(index);
    }
  }

  #earliest(key: string, before: number): number | null {
    const places = this.#places.get(key) ?? [];
    while (places.length > 0 && places.at(-1)! <= this.#turnStart) places.pop();
    const index = places.at(-1);
    if (index === undefined || index >= before) return null;
    places.pop();
    return index;
  }

  #enterTurn(start: number): void {
    while (this.#turnStarts.length > 0 && this.#turnStarts.at(-1)! <= start) this.#turnStarts.pop();
    this.#turnStart = start;
    this.#turnEnd = this.#turnStarts.at(-1) ?? Number.POSITIVE_INFINITY;
  }
}

function keysOfTrace(trace: Trace): string[] {
  switch (trace.type) {
    case 'user':
    case 'assistant':
      return keysOf(trace.message);
    case 'tool_call':
      return [`call ${trace.call.id}`];
    case 'tool_result':
      return [`result ${trace.result.toolCallId}`];
    default:
      return [];
  }
}

function keysOf(message: Message): string[] {
  const text = textOf(message);
  const result = toolResultOf(message);
  return [
    ...(text.trim() === '' ? [] : [`${message.role} ${text}`]),
    ...toolCallsOf(message).map((call) => `call ${call.id}`),
    ...(result ? [`result ${result.toolCallId}`] : []),
  ];
}
