/** Tries a model call again when it fails, with growing pauses. What a failed try said is taken back by a `retry` event. */
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, RekindleError } from '../../core/errors.js';
import { lengthRefusalOf } from '../../memory/fit/provider-refusal.js';
import type { LanguageModel, ModelEvent, ModelRequest } from './language-model.js';

export interface RetryOptions {
  /** Tries after the first. Default 3. */
  readonly retriesMax?: number;
  /** Pause before the first retry; doubled each time, with up to a quarter of jitter. Default 500 ms. */
  readonly firstPauseMs?: number;
}

export type RetryingEvent =
  | ModelEvent
  | { readonly type: 'retry'; readonly attempt: number; readonly pauseMs: number; readonly reason: string };

/** @throws MODEL_FAILED after the last try; whatever the signal's abort made the model throw */
export async function* retryingStream(
  model: LanguageModel,
  request: ModelRequest,
  options: RetryOptions = {},
): AsyncGenerator<RetryingEvent> {
  const { retriesMax = 3, firstPauseMs = 500 } = options;
  for (let attempt = 1; ; attempt += 1) {
    try {
      yield* model.stream(request);
      return;
    } catch (thrown) {
      if (request.signal.aborted) throw thrown;
      const isFinal = model.isRetryable?.(thrown) === false || lengthRefusalOf(thrown) !== null;
      if (attempt > retriesMax || isFinal) throw failed(model, attempt, thrown);
      const pauseMs = Math.round(firstPauseMs * 2 ** (attempt - 1) * (1 + Math.random() / 4));
      yield { type: 'retry', attempt, pauseMs, reason: messageOf(thrown) };
      await sleep(pauseMs, undefined, { signal: request.signal });
    }
  }
}

function failed(model: LanguageModel, attempts: number, cause: unknown): RekindleError {
  const { provider, model: name } = model.origin;
  return new RekindleError(
    'MODEL_FAILED',
    `${provider}${name ? `/${name}` : ''} failed: ${messageOf(cause)}`,
    {
      details: { provider, model: name ?? null, attempts },
      cause,
    },
  );
}
