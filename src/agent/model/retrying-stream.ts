/**
 * Retries a failed model call with growing pauses. A `retry` event takes back what the failed attempt
 * streamed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, RekindleError } from '../../core/errors.js';
import { lengthRefusalOf } from '../../memory/fit/provider-refusal.js';
import type { LanguageModel, ModelEvent, ModelRequest } from './language-model.js';

/** How failed model calls are retried. */
export interface RetryOptions {
  /** Attempts after the first. Default 3. */
  readonly retriesMax?: number;
  /** Pause before the first retry. It doubles each time, with up to 25% jitter. Default 500 ms. */
  readonly firstPauseMs?: number;
}

export type RetryingEvent =
  | ModelEvent
  | { readonly type: 'retry'; readonly attempt: number; readonly pauseMs: number; readonly reason: string };

/** @throws MODEL_FAILED after the last attempt, or the model's own error after an abort */
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
