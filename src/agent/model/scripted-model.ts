import { setTimeout as sleep } from 'node:timers/promises';
import { RekindleError } from '../../core/errors.js';
import type { JsonValue } from '../../core/json.js';
import type { LanguageModel, ModelEvent, ModelRequest } from './language-model.js';

/** A tool call of a scripted answer. */
export interface ScriptedCall {
  readonly id?: string;
  readonly name: string;
  readonly arguments: JsonValue;
}

/** One scripted answer: text, reasoning, and tool calls. */
export interface ScriptedAnswer {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly ScriptedCall[];
  /** Thrown after the text, instead of the end of the answer. */
  readonly fails?: Error;
  /** Pause between words, in ms. Default 0. */
  readonly wordMs?: number;
}

/** An answer, or a function that makes it from the request. */
export type ScriptStep = ScriptedAnswer | ((request: ModelRequest) => ScriptedAnswer);

/**
 * A model that follows a script, for tests and offline demos. A request beyond the script throws
 * MODEL_SCRIPT_MISMATCH.
 *
 *     const model = new ScriptedModel([{ text: 'Hello' }]);
 */
export class ScriptedModel implements LanguageModel {
  readonly origin = { provider: 'scripted', model: 'scripted' } as const;
  readonly #steps: readonly ScriptStep[];
  /** All requests so far. */
  readonly requests: ModelRequest[] = [];

  constructor(steps: readonly ScriptStep[]) {
    this.#steps = steps;
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
    const index = this.requests.push(request) - 1;
    const step = this.#steps[index];
    if (step === undefined) {
      throw new RekindleError(
        'MODEL_SCRIPT_MISMATCH',
        `The script has ${this.#steps.length} answers; this was call ${index + 1}.`,
      );
    }
    yield* speak(typeof step === 'function' ? step(request) : step, request, index);
  }

  isRetryable(thrown: unknown): boolean {
    return !(thrown instanceof RekindleError);
  }

  /** @throws MODEL_SCRIPT_MISMATCH if answers are left */
  assertDone(): void {
    if (this.requests.length >= this.#steps.length) return;
    throw new RekindleError(
      'MODEL_SCRIPT_MISMATCH',
      `Of ${this.#steps.length} answers only ${this.requests.length} were asked for.`,
    );
  }
}

/** Streams one answer as a model would: word by word, then its calls. */
export async function* speak(
  answer: ScriptedAnswer,
  request: ModelRequest,
  index: number,
): AsyncGenerator<ModelEvent> {
  if (answer.reasoning) yield { type: 'reasoning', delta: answer.reasoning };
  for (const delta of (answer.text ?? '').match(/\S+\s*|\s+/g) ?? []) {
    request.signal.throwIfAborted();
    if (answer.wordMs) await sleep(answer.wordMs, undefined, { signal: request.signal });
    yield { type: 'text', delta };
  }
  if (answer.fails) throw answer.fails;
  for (const [at, call] of (answer.calls ?? []).entries()) {
    const id = call.id ?? `call_${index + 1}_${at + 1}`;
    yield { type: 'tool_call', call: { id, name: call.name, arguments: call.arguments } };
  }
  yield { type: 'finish', reason: answer.calls?.length ? 'tool-calls' : 'stop' };
}
