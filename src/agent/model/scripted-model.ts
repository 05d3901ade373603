/**
 * A model that follows a script: for tests, and for the offline demo. Fails on a call that the script does not have, and `assertDone`
 * fails on one that was not made.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { RekindleError } from '../../core/errors.js';
import type { JsonValue } from '../../core/json.js';
import type { LanguageModel, ModelEvent, ModelRequest } from './language-model.js';

export interface ScriptedCall {
  readonly id?: string;
  readonly name: string;
  readonly arguments: JsonValue;
}

export interface ScriptedAnswer {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly ScriptedCall[];
  /** Thrown after the text, in place of the end. */
  readonly fails?: Error;
  /** Time between words. Default 0. */
  readonly wordMs?: number;
}

export type ScriptStep = ScriptedAnswer | ((request: ModelRequest) => ScriptedAnswer);

export class ScriptedModel implements LanguageModel {
  readonly origin = { provider: 'scripted', model: 'scripted' } as const;
  readonly #steps: readonly ScriptStep[];
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

  /** @throws MODEL_SCRIPT_MISMATCH when answers are left */
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
